"""Judging long texts in processes of their own, with a deadline, one agent after the other.

Why processes: judging is pure Python, about 10 µs per character of a bash line. In a thread it
holds the GIL. The event loop then waits for up to one switch interval each time that it has let go
of the GIL; 20 socket reads and SQL statements, 0.7 ms otherwise, took 310 ms beside one such thread
with the default interval of 5 ms, 60 ms with 1 ms and 11 ms with 0.1 ms. A thread also cannot be
ended at a deadline, and a regular expression holds the GIL until it has matched.

Protocol: the parent writes the module search path, then one pickled `bytes` per task; the child
answers each with a pickled pair. The child has no other file descriptors, an empty environment,
and ends when its standard input is closed, so also when the parent is killed.
"""

import asyncio
import operator
import pickle
import subprocess
import sys
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, TypeVar

import structlog

from handrail.core.errors import Conflict, NotJudged
from handrail.executors.processes.pipes import Streams
from handrail.executors.processes.start import open_process

T = TypeVar("T")

# The longest bash line takes 1 s on a slow machine.
_MOST_SECONDS = 10.0
_MOST_START_SECONDS = 60.0
_MOST_WAITING = 100
_MOST_SHARED = 8
# Two, so that one agent cannot make all others wait for its slow texts.
_WORKERS = 2
_PROGRAM = Path(__file__).with_name("worker.py")

log = structlog.get_logger(__name__)


class _Died(Exception):
    """The process ended before it had answered."""


class _NotPortable(Exception):
    """The task cannot be sent to another process, such as a tool made from a local function."""


class _Worker:
    """One process, started by its first task and again after it has ended.

    `start` and `ask` block and are called in threads; `kill` ends their wait.
    """

    def __init__(self, seconds: float) -> None:
        # Longer than our own deadlines: the child ends itself only when the parent is gone.
        self._child_seconds = int(_MOST_START_SECONDS + seconds)
        self._process: subprocess.Popen[bytes] | None = None
        self._shared: dict[int, object] = {}

    @property
    def pid(self) -> int | None:
        return None if self._process is None else self._process.pid

    def start(self, function: Callable[..., object]) -> None:
        """Start the process if none runs, and have it import what the function needs."""
        if self._process is not None:
            return
        # It only compares them: a task that costs nothing but the imports.
        task = _as_task(0, False, None, operator.is_, (function,))
        self._shared.clear()
        argv = [sys.executable, "-I", str(_PROGRAM), str(self._child_seconds)]
        streams = Streams(subprocess.PIPE, subprocess.PIPE, subprocess.DEVNULL)
        try:
            self._process = open_process(argv, streams, cwd="/", env={})
        except OSError as error:
            raise _Died from error
        _exchange(self._process, pickle.dumps(sys.path) + task)

    def ask(
        self, function: Callable[..., object], shared: object, arguments: tuple[object, ...]
    ) -> Any:
        if (process := self._process) is None:
            raise _Died
        number, forget = id(shared), len(self._shared) >= _MOST_SHARED
        if forget:
            self._shared.clear()
        new = None if number in self._shared else shared
        kind, answer = _exchange(process, _as_task(number, forget, new, function, arguments))
        if kind == "unreadable":
            raise _NotPortable(answer)
        # Held here, so that no other object is given its id.
        self._shared[number] = shared
        if kind == "raised":
            raise answer
        return answer

    def kill(self) -> None:
        if (process := self._process) is not None:
            self._process = None
            process.kill()
            process.wait()
            _close(process.stdin)
            _close(process.stdout)


class JudgingPool:
    """Runs pure functions for agents; an agent has one running at a time, the others in turn."""

    def __init__(self, seconds: float = _MOST_SECONDS, most_waiting: int = _MOST_WAITING) -> None:
        self._seconds = seconds
        self._most_waiting = most_waiting
        # By agent; the agent whose turn is next comes first.
        self._waiting: dict[str, deque[asyncio.Future[_Worker]]] = {}
        self._running: set[str] = set()
        self._workers = [_Worker(seconds) for _ in range(_WORKERS)]
        self._idle = list(self._workers)
        self._threads = ThreadPoolExecutor(_WORKERS, "judge")
        self._threads_here = ThreadPoolExecutor(_WORKERS, "judge-here")

    @property
    def pids(self) -> list[int]:
        """The processes that run now."""
        return [worker.pid for worker in self._workers if worker.pid is not None]

    async def run(
        self, agent: str, function: Callable[..., T], shared: object, /, *arguments: object
    ) -> T:
        """Call a module's function in another process.

        `shared` is its first argument; a process keeps it for later calls with the same object.
        What cannot be sent to another process is called in a thread.

        Raises:
            NotJudged: It took too long, or the process has died twice.
            Conflict: Too many calls of this agent are waiting.
        """
        worker = await self._take_turn(agent)
        try:
            return await self._run(worker, function, shared, arguments)
        except TimeoutError:
            worker.kill()
            log.warning("judging.took_too_long", agent=agent, seconds=self._seconds)
            raise NotJudged(
                f"judging it took longer than {self._seconds:g} s, so it was refused; "
                "make it shorter"
            ) from None
        except asyncio.CancelledError:
            worker.kill()
            raise
        finally:
            self._running.discard(agent)
            self._idle.append(worker)
            self._deal()

    def close(self) -> None:
        """End the processes; calls that wait for them are to be cancelled before."""
        for worker in self._workers:
            worker.kill()
        self._threads.shutdown()
        self._threads_here.shutdown(wait=False)

    async def _take_turn(self, agent: str) -> _Worker:
        queue = self._waiting.setdefault(agent, deque())
        if len(queue) >= self._most_waiting:
            raise Conflict(
                f"{len(queue):,} calls of this agent are waiting to be judged; "
                "ask again when some of them have ended"
            )
        turn: asyncio.Future[_Worker] = asyncio.get_running_loop().create_future()
        queue.append(turn)
        self._deal()
        try:
            return await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._running.discard(agent)
                self._idle.append(turn.result())
                self._deal()
            raise

    def _deal(self) -> None:
        """Give idle workers to the agents in turn; one that has its turn goes to the end."""
        for agent, queue in list(self._waiting.items()):
            while queue and queue[0].cancelled():
                queue.popleft()
            if queue and (not self._idle or agent in self._running):
                continue
            del self._waiting[agent]
            if queue:
                self._running.add(agent)
                queue.popleft().set_result(self._idle.pop())
                self._waiting[agent] = queue

    async def _run(
        self,
        worker: _Worker,
        function: Callable[..., T],
        shared: object,
        arguments: tuple[object, ...],
    ) -> T:
        for _ in range(2):
            try:
                async with asyncio.timeout(_MOST_START_SECONDS):
                    await _in_thread(self._threads, worker.start, function)
                async with asyncio.timeout(self._seconds):
                    return await _in_thread(self._threads, worker.ask, function, shared, arguments)
            except _NotPortable:
                async with asyncio.timeout(self._seconds):
                    return await _in_thread(self._threads_here, function, shared, *arguments)
            except _Died as error:
                worker.kill()
                log.warning("judging.process_ended", error=repr(error.__cause__))
        raise NotJudged("the process that judged it ended twice, so it was refused")


def _in_thread(
    threads: ThreadPoolExecutor, function: Callable[..., T], *arguments: object
) -> asyncio.Future[T]:
    return asyncio.get_running_loop().run_in_executor(threads, function, *arguments)


def _as_task(
    number: int,
    forget: bool,
    new: object,
    function: Callable[..., object],
    arguments: tuple[object, ...],
) -> bytes:
    try:
        return pickle.dumps(pickle.dumps((number, forget, new, function, arguments)))
    except Exception as error:
        raise _NotPortable from error


def _exchange(process: subprocess.Popen[bytes], data: bytes) -> tuple[str, Any]:
    if process.stdin is None or process.stdout is None:
        raise _Died
    try:
        process.stdin.write(data)
        process.stdin.flush()
        return pickle.load(process.stdout)  # noqa: S301  a process of our own, with our own code
    except (OSError, EOFError, ValueError, pickle.UnpicklingError) as error:
        raise _Died from error


def _close(pipe: IO[bytes] | None) -> None:
    if pipe is not None:
        with suppress(OSError):
            pipe.close()
