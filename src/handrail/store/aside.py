"""Long looks at a database, beside those who cannot wait."""

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from handrail.store.rows import Row
from handrail.store.sqlite_file import SqliteFile


class Aside:
    """A connection and a thread of its own, one look after the other; opened by the first."""

    def __init__(self, path: Path):
        self._path = path
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="handrail-aside")
        self._file: SqliteFile | None = None

    async def run(self, sql: str, values: Sequence[Any]) -> list[Row]:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, self._run, sql, values)

    def _run(self, sql: str, values: Sequence[Any]) -> list[Row]:
        if self._file is None:
            self._file = SqliteFile(self._path, read_only=True)
        return self._file.run(sql, values)

    def close(self) -> None:
        """Once the look that is being taken has ended."""
        self._thread.shutdown()
        if self._file is not None:
            self._file.close()
