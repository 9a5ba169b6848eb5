"""One connection to one SQLite file, set up the way Handrail wants it."""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

import apsw

from handrail.core.errors import StoreLocked, StoreUnavailable
from handrail.core.retention import FileSpace
from handrail.store.faults import fault_of
from handrail.store.rows import Row

SqliteError = apsw.Error
ConstraintError = apsw.ConstraintError

_BUSY_MILLISECONDS = 10_000
_SHRINKABLE = "PRAGMA auto_vacuum = INCREMENTAL"
_INCREMENTAL = 2
_PAGES_PER_STEP = 1_000


class SqliteFile:
    """`waits_ms` is how long a statement blocks while another process holds the lock.

    Every method raises StoreUnavailable, or a kind of it, for a fault of the disk or the file.
    """

    def __init__(self, path: Path, *, read_only: bool = False, waits_ms: int = _BUSY_MILLISECONDS):
        self._path = path
        try:
            _make(path)
            # Typed here as far as we use it: apsw's own hints need Python 3.12.
            self._connection = cast(Any, apsw.Connection(str(path)))
        except (apsw.Error, OSError) as error:
            self._raise_fault(error)
            raise
        try:
            self._set_up(read_only=read_only, waits_ms=waits_ms)
        except BaseException:
            self._connection.close()
            raise

    def _raise_fault(self, error: Exception) -> None:
        if (fault := fault_of(error, self._path)) is not None:
            raise fault from error

    def _set_up(self, *, read_only: bool, waits_ms: int) -> None:
        self._connection.set_busy_timeout(waits_ms)
        # Plan a statement once, not anew for each value bound to it.
        self._connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
        if self.run("PRAGMA page_count")[0][0] == 0:
            # Before the write-ahead log, which writes the first page: after that it is too late.
            self.run(_SHRINKABLE)
        self._log_ahead()
        # FULL: what somebody was told must still be there after a power cut.
        self.run("PRAGMA synchronous = FULL")
        # Erased parameters are overwritten, not just forgotten.
        self.run("PRAGMA secure_delete = ON")
        if read_only:
            self.run("PRAGMA query_only = ON")
        self.log_pages = 0
        # In place of SQLite's own, which would fold the log within a commit.
        self._connection.set_wal_hook(self._on_commit)

    def _on_commit(self, connection: Any, database: str, log_pages: int) -> int:
        self.log_pages = log_pages
        return apsw.SQLITE_OK

    def fold_log(self) -> None:
        """Carry the log over into the database, as far as no reader needs it; then it begins anew.

        That much was durable before, so a fold that fails is no loss: the next one does it.
        """
        with suppress(apsw.Error):
            self._connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
        self.log_pages = 0

    def rewrite_header(self) -> None:
        """Write a page that stays as it is, to find out whether the disk takes writes."""
        version = self.run("PRAGMA user_version")[0][0]
        self.run(f"PRAGMA user_version = {version}")

    def _log_ahead(self) -> None:
        """Switch to the write-ahead log. SQLite does not wait its turn for this, so we do."""
        for pause_seconds in (0.01, 0.05, 0.2, 1.0):
            try:
                self.run("PRAGMA journal_mode = WAL")
            except StoreLocked:
                time.sleep(pause_seconds)
            else:
                return
        self.run("PRAGMA journal_mode = WAL")

    def run(self, sql: str, values: Sequence[Any] = ()) -> list[Row]:
        try:
            return self._connection.execute(sql, values).fetchall()
        except apsw.Error as error:
            self._raise_fault(error)
            raise

    def walk(self, sql: str, values: Sequence[Any] = ()) -> Iterator[Row]:
        """Row by row, as they are asked for."""
        try:
            yield from self._connection.execute(sql, values)
        except apsw.Error as error:
            self._raise_fault(error)
            raise

    def run_many(self, sql: str, rows: Sequence[Row]) -> None:
        """Run a statement that gives nothing back, once for each row of values."""
        try:
            self._connection.executemany(sql, rows)
        except apsw.Error as error:
            self._raise_fault(error)
            raise

    def copy_to(self, path: Path, on_progress: Callable[[int, int], None]) -> None:
        """Copy the database as it is now into one new file, while others go on writing.

        `on_progress` is called with the pages that are copied, and with all.
        """
        _make(path)
        copy = cast(Any, apsw.Connection(str(path)))
        # Without an open transaction, SQLite begins again whenever another process has written.
        self.run("BEGIN")
        try:
            self.run("SELECT 1 FROM sqlite_master")
            with copy.backup("main", self._connection, "main") as backup:
                while not backup.done:
                    backup.step(_PAGES_PER_STEP)
                    on_progress(backup.page_count - backup.remaining, backup.page_count)
            copy.execute("PRAGMA journal_mode = DELETE").fetchall()
        finally:
            self.run("ROLLBACK")
            copy.close()

    @property
    def changes(self) -> int:
        """How many rows the last statement touched."""
        return self._connection.changes()

    @property
    def data_version(self) -> int:
        """Changes whenever somebody else has written to the file."""
        return self.run("PRAGMA data_version")[0][0]

    def measure(self) -> FileSpace:
        size, pages, free, vacuum = (
            self.run(f"PRAGMA {name}")[0][0]
            for name in ("page_size", "page_count", "freelist_count", "auto_vacuum")
        )
        return FileSpace(size * pages, size * free, can_shrink=vacuum == _INCREMENTAL)

    def vacuum(self) -> None:
        """Write the whole file anew without its free pages, and able to shrink from then on."""
        self.run(_SHRINKABLE)
        self.run("VACUUM")
        self._connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)

    @property
    def in_transaction(self) -> bool:
        return self._connection.in_transaction

    def roll_back(self) -> None:
        """Roll back the transaction, unless SQLite has already done so, as on a full disk."""
        if self.in_transaction:
            # On a disk that fails this fails too; nothing was committed, and that is what counts.
            with suppress(StoreUnavailable):
                self.run("ROLLBACK")

    def interrupt(self) -> None:
        """End the statement that another thread is running."""
        self._connection.interrupt()

    def close(self) -> None:
        self._connection.close()


def _make(path: Path) -> None:
    """Make the file before SQLite would: what it holds is for nobody else to read.

    One that is there is not opened: closing any descriptor of a file drops all the locks this
    process has on it, also those of other connections, and SQLite lives by its locks.
    """
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
