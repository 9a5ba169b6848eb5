"""A process of a measurement: it says when it is ready, then answers line by line, in JSON."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

READY = "ready"
_END_SECONDS = 10
_ROOT = Path(__file__).parent.parent

Answer = Callable[..., Awaitable[Any]]


class Worker:
    """The process as seen from outside."""

    def __init__(self, process: subprocess.Popen[str]):
        self._process = process
        self.greeting: Any = self._hear()

    @property
    def pid(self) -> int:
        return self._process.pid

    def ask(self, **question: Any) -> Any:
        assert self._process.stdin is not None
        print(json.dumps(question), file=self._process.stdin, flush=True)
        return self._hear()

    def _hear(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self._process.args} has ended with {self._process.wait()}")
        return json.loads(line)


@contextmanager
def worker(module: str, *arguments: str | Path) -> Generator[Worker]:
    """Run one of `benchmarks.workers` until the block ends."""
    command = [sys.executable, "-m", f"benchmarks.workers.{module}", *map(str, arguments)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=_ROOT
    ) as process:
        try:
            yield Worker(process)
        finally:
            process.terminate()
            try:
                process.wait(_END_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()


def say(words: Any) -> None:
    print(json.dumps(words), flush=True)


async def answer_forever(answer: Answer) -> None:
    """The worker's own side: take question after question until nobody asks any more."""
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        say(await answer(**json.loads(line)))
