"""Whoever calls that tool, with the official SDK's own client."""

import sys
from typing import Any

import uvloop
from mcp import Client
from mcp_types import TextContent

from benchmarks.load import load
from benchmarks.task import FILE_NAME, check_output
from benchmarks.worker import READY, answer_forever, say


async def main(address: str) -> None:
    async with Client(address) as client:

        async def call() -> None:
            answer = await client.call_tool("read_file", {"path": FILE_NAME})
            (content,) = answer.content
            check_output(content.text if isinstance(content, TextContent) else None)

        async def answer(**how: Any) -> Any:
            return await load(call, **how)

        await call()
        say(READY)
        await answer_forever(answer)


if __name__ == "__main__":
    uvloop.run(main(sys.argv[1]))
