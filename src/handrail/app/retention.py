"""Pruning the database from the command line, also while a server runs on it.

The store takes its turn with the server's for every step, as all writers do.
"""

from dataclasses import dataclass, replace
from datetime import timedelta

from handrail.app.clock import SystemClock
from handrail.app.config import Config
from handrail.app.home import Home
from handrail.app.storage import open_store
from handrail.bus.local import LocalBus
from handrail.core.errors import SetupError, StoreUnavailable
from handrail.core.ports import Clock
from handrail.core.retention import Amount, FileSpace, Retention
from handrail.plane.blobs import BlobKeeper
from handrail.plane.retention import Pruner
from handrail.store.sqlite_file import SqliteError, SqliteFile


@dataclass(frozen=True, slots=True)
class Pruned:
    """Counts of removed records, or of those a dry run finds, and the size of the file."""

    removed: Amount
    space: FileSpace
    max_bytes: int


def find_retention(home: Home, older_than: timedelta | None) -> Retention:
    """The settings; with an age, that one for both results and calls."""
    wanted = Config(home).retention()
    if older_than is None:
        return wanted
    return replace(wanted, results=older_than, calls=older_than)


async def prune(
    home: Home, retention: Retention, *, dry_run: bool = False, clock: Clock | None = None
) -> Pruned:
    """Remove what is too old or too much, or only count it.

    Raises:
        SetupError: There is no database here.
    """
    _check_database(home)
    clock = clock or SystemClock()
    async with open_store(home, LocalBus()) as store:
        pruner, removed = Pruner(store, clock, lambda: retention), Amount()
        if dry_run:
            removed = await pruner.weigh()
        else:
            while (step := await pruner.take_step()) is not None:
                removed += step
            if not home.is_served():
                # A server knows which blobs are being uploaded; it removes them itself.
                await BlobKeeper(store, clock).tidy_up()
        return Pruned(removed, await store.measure_file(), retention.max_bytes)


def vacuum(home: Home) -> tuple[int, int]:
    """Rewrite the database file so that it can shrink; returns its size before and after.

    Raises:
        SetupError: A server or a client is running, or there is not enough room on the disk.
    """
    _check_database(home)
    with home.at_rest():
        before = home.database.stat().st_size
        try:
            file = SqliteFile(home.database)
            try:
                file.vacuum()
            finally:
                file.close()
        except (SqliteError, StoreUnavailable) as error:
            raise SetupError(f"{home.database} cannot be rewritten: {error}") from error
        return before, home.database.stat().st_size


def _check_database(home: Home) -> None:
    if not home.database.exists():
        raise SetupError(f"there is no database in {home.path}; run this where the server runs")
