"""Long looks at a database, beside those who cannot wait."""

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from handrail.store.rows import Row
from handrail.store.sqlite_file import SqliteFile


class Aside:
    """A connection and a thread of its own, one look after the other."""

    def __init__(self, path: Path):
        self._file = SqliteFile(path, read_only=True)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="handrail-aside")

    async def run(self, sql: str, values: Sequence[Any]) -> list[Row]:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, self._file.run, sql, values)

    def close(self) -> None:
        """Once the look that is being taken has ended."""
        self._thread.shutdown()
        self._file.close()
