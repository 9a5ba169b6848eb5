"""Looking at a database without touching it: neither its content nor the files beside it."""

import time
from pathlib import Path
from typing import Any, NamedTuple, cast

import apsw

from handrail.store.migrate import HEAD

_READ_ONLY = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
_BUSY_MILLISECONDS = 2_000
_STEPS_BETWEEN_LOOKS_AT_THE_CLOCK = 100_000


class Look(NamedTuple):
    """`version` is None for a database that is not Handrail's, `sound` if the check timed out."""

    version: str | None
    sound: bool | None
    trouble: str | None = None
    is_empty: bool = False

    @property
    def is_current(self) -> bool:
        return self.version == HEAD


def open_to_look(path: Path) -> Any:
    """A connection that writes nothing, also no file beside the database."""
    connection = cast(Any, apsw.Connection(_address(path), flags=_READ_ONLY))
    # The last process that closes the database holds it locked while it folds the log into it.
    connection.set_busy_timeout(_BUSY_MILLISECONDS)
    return connection


def look_into(path: Path, most_seconds: float) -> Look:
    """Raises OSError when it cannot be opened."""
    try:
        connection = open_to_look(path)
    except apsw.Error as error:
        raise OSError(str(error)) from error
    try:
        return _look(connection, most_seconds)
    finally:
        connection.close()


def _address(path: Path) -> str:
    # Where nobody writes there is no log to read, and none shall be left behind by reading.
    log = path.with_name(f"{path.name}-wal")
    return f"{path.absolute().as_uri()}?mode=ro{'' if log.exists() else '&immutable=1'}"


def _look(connection: Any, most_seconds: float) -> Look:
    deadline = time.monotonic() + most_seconds
    version: str | None = None
    is_empty = False
    try:
        is_empty = connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").get is None
        if connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'alembic_version'").get:
            version = connection.execute("SELECT version_num FROM alembic_version").get
        connection.set_progress_handler(
            lambda: time.monotonic() > deadline, _STEPS_BETWEEN_LOOKS_AT_THE_CLOCK
        )
        found = str(connection.execute("PRAGMA quick_check(1)").get)
    except apsw.InterruptError:
        return Look(version, None)
    except apsw.Error as error:
        return Look(version, sound=False, trouble=str(error))
    sound = found == "ok"
    return Look(version, sound, None if sound else found, is_empty)
