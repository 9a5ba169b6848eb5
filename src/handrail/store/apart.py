"""A second way to read the file, for questions that take their time."""

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from handrail.store.rows import Row
from handrail.store.sqlite_file import SqliteFile


class ApartReader:
    """Reads in a thread of its own, one question after the other."""

    def __init__(self, file: SqliteFile):
        self._file = file
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="handrail-look-back")

    async def run(self, sql: str, values: Sequence[Any]) -> list[Row]:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, self._file.run, sql, values)

    def close(self) -> None:
        """Wait for the answer that somebody waits for, then let go of the file."""
        self._thread.shutdown()
        self._file.close()
