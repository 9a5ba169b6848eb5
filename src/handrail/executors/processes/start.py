"""Starting subprocesses that get the file descriptors they are given, and no others.

`subprocess` closes all other descriptors in the child, after the fork. The subprocesses of uvloop
keep whatever is inheritable at that moment, whichever thread or library has opened it. A directory
descriptor leads out of every box, so no process is started through the event loop.
"""

import asyncio
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from threading import Thread
from typing import Protocol

from handrail.core.errors import CommandExecutionError
from handrail.executors.processes.pipes import Streams


class Started(Protocol):
    """A process, whether it is our child or that of a helper."""

    @property
    def returncode(self) -> int | None:
        """The exit code, or a signal's number below zero; None while the process runs."""
        ...

    async def wait(self) -> None: ...

    def kill(self) -> None: ...


class Process:
    """A running subprocess; a thread waits for its end."""

    def __init__(self, popen: subprocess.Popen[bytes]):
        self.pid = popen.pid
        self._popen = popen
        self._ended = asyncio.Event()
        loop = asyncio.get_running_loop()
        Thread(target=self._reap, args=(loop,), name=f"wait-{self.pid}", daemon=True).start()

    @property
    def returncode(self) -> int | None:
        """The exit code, or a signal's number below zero; None while the process runs."""
        return self._popen.returncode

    async def wait(self) -> None:
        await self._ended.wait()

    def kill(self) -> None:
        self._popen.kill()

    def _reap(self, loop: asyncio.AbstractEventLoop) -> None:
        self._popen.wait()
        # The loop may be closed by now.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(self._ended.set)


def start_process(
    argv: Sequence[str],
    streams: Streams,
    cwd: str,
    env: Mapping[str, str],
    fds: Sequence[int] = (),
    preexec_fn: Callable[[], None] | None = None,
) -> Process:
    """Start a program in a session of its own, with its streams and `fds` as its descriptors.

    Call it in the thread of the event loop: some programs end with the thread that started them.

    Raises:
        CommandExecutionError: It could not be started.
    """
    try:
        popen = open_process(argv, streams, cwd, env, fds, preexec_fn)
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise CommandExecutionError(f"{argv[0]} could not be started: {reason}") from error
    try:
        return Process(popen)
    except RuntimeError as error:
        popen.kill()
        popen.wait()
        raise CommandExecutionError(f"{argv[0]} could not be started: {error}") from error


def open_process(
    argv: Sequence[str],
    streams: Streams,
    cwd: str,
    env: Mapping[str, str],
    fds: Sequence[int] = (),
    preexec_fn: Callable[[], None] | None = None,
) -> subprocess.Popen[bytes]:
    """Start a program as `start_process` does, where no event loop runs."""
    return subprocess.Popen(
        argv,
        stdin=streams.stdin,
        stdout=streams.stdout,
        stderr=streams.stderr,
        cwd=cwd,
        env=env,
        close_fds=True,
        pass_fds=fds,
        start_new_session=True,
        preexec_fn=preexec_fn,
    )
