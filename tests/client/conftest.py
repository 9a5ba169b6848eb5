"""Signals as a server would send them, and a machine that can be made to wait."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from handrail.client.handler import Signal
from handrail.core.audit import canonical
from handrail.core.digest import digest_call
from handrail.core.errors import FileOperationError
from handrail.core.hands import FileContent
from handrail.core.verdict import Plan

SALT = "salt"


class SlowFiles:
    """Files that take until `let_go` is set to be read; counts reads, and how many at once."""

    def __init__(self, files: Mapping[str, bytes], *, slow: bool = True):
        self.files = files
        self.let_go = asyncio.Event()
        if not slow:
            self.let_go.set()
        self.read_paths: list[str] = []
        self.at_once = 0
        self.most_at_once = 0

    async def read(self, path: str, *, max_bytes: int) -> FileContent:
        self.read_paths.append(path)
        self.at_once += 1
        self.most_at_once = max(self.at_once, self.most_at_once)
        try:
            await self.let_go.wait()
        finally:
            self.at_once -= 1
        if path not in self.files:
            raise FileOperationError(f"{path} does not exist")
        return FileContent(self.files[path], len(self.files[path]))


def a_signal(tool_id: str = "exe_1", path: str = "README.md", **fields: Any) -> Signal:
    """A good signal to read a file."""
    params: dict[str, Any] = {"path": path}
    digest = digest_call(SALT, "read_file", canonical(params), Plan(paths=(path,)))
    values: dict[str, Any] = {
        "tool_id": tool_id,
        "tool_name": "read_file",
        "tool_params": params,
        "digest": digest,
        "salt": SALT,
        "epoch": 1,
        **fields,
    }
    return Signal(**values)


async def until(reached: Callable[[], Awaitable[bool] | bool]) -> None:
    """Wait for what happens in its own time."""
    async with asyncio.timeout(10):
        while True:
            answer = reached()
            if answer if isinstance(answer, bool) else await answer:
                return
            await asyncio.sleep(0.002)
