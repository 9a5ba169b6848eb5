"""A check of all pages of the database, beside everything else that uses it."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from handrail.core.errors import StoreUnavailable
from handrail.store.faults import damaged
from handrail.store.sqlite_file import SqliteFile


class PageCheck:
    """Runs in a thread of its own from the moment it is made.

    `fault` waits for the end and gives what was found; None if all pages are whole.
    """

    def __init__(self, path: Path):
        self._file = SqliteFile(path, read_only=True)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="handrail-page-check")
        loop = asyncio.get_running_loop()
        self.fault: asyncio.Future[StoreUnavailable | None]
        self.fault = loop.run_in_executor(self._thread, self._run)

    def _run(self) -> StoreUnavailable | None:
        try:
            rows = self._file.run("PRAGMA quick_check(1)")
        except StoreUnavailable as fault:
            return fault
        return None if rows == [("ok",)] else damaged(str(rows[0][0]))

    def close(self) -> None:
        """End it, also if it has not come to its end."""
        self.fault.cancel()
        self._file.interrupt()
        self._thread.shutdown()
        self._file.close()
