"""CommandExecutor: programs in one workspace, each ended with all that it started."""

import asyncio
import os
import shutil
import signal
import stat
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Self

from handrail.core.errors import CommandExecutionError, PathValidationError
from handrail.core.hands import CommandOutcome, Ending
from handrail.policy.validators.sizes import MEGABYTE

SEARCH_PATH = ("/usr/local/bin", "/usr/bin", "/bin")

_READ_BYTES = 1 << 16
# How long what a command has left in the background may go on writing after its end.
_LINGER_SECONDS = 0.5
_POLL_SECONDS = 0.02
_MOST_SWEEPS = 50
_HAS_PROC = os.path.isdir("/proc/self")
# In the environment of what is started: for whom it runs.
_KEEPER = "HANDRAIL_KEEPER"


class CommandExecutor:
    """Starts argv lists, never a shell, with an environment made from nothing.

    What runs carries the name of its `keeper`, so that the next life of it can find what is left.
    """

    def __init__(
        self,
        root: str | Path,
        *,
        search_path: Sequence[str] = SEARCH_PATH,
        grace_seconds: float = 5.0,
        max_stream_bytes: int = MEGABYTE,
        keeper: str = "",
    ):
        self.root = os.path.realpath(root)
        self._search_path = [path for path in search_path if not self._is_inside(path)]
        self._grace_seconds = grace_seconds
        self._max_stream_bytes = max_stream_bytes
        self._keeper = keeper

    async def run(self, argv: Sequence[str], *, timeout_seconds: float) -> CommandOutcome:
        """Run to the end, or to the limit; nothing that was started is left running."""
        if any("\0" in word for word in argv):
            raise CommandExecutionError("no argument can hold a zero byte")
        program = self._find(argv[0])
        home = tempfile.mkdtemp(prefix="handrail-")
        try:
            with _Stream(self._max_stream_bytes) as out, _Stream(self._max_stream_bytes) as err:
                return await self._run([program, *argv[1:]], home, out, err, timeout_seconds)
        finally:
            await asyncio.to_thread(_remove, home)

    async def _run(
        self, argv: list[str], home: str, out: "_Stream", err: "_Stream", timeout_seconds: float
    ) -> CommandOutcome:
        began = time.perf_counter()
        session: int | None = None
        try:
            process = await self._start(argv, home, out, err)
            session = process.pid
            in_time = await self._watch(_Tree(process, home), out, err, timeout_seconds)
        finally:
            await asyncio.to_thread(_end_strays, f"HOME={home}", session)
        seconds = time.perf_counter() - began
        await _wait_for_both(out, err)
        ending, code = _how_it_ended(process, in_time=in_time)
        return CommandOutcome(
            bytes(out.kept), bytes(err.kept), ending, code, seconds, out.lost, err.lost
        )

    async def _watch(
        self, tree: "_Tree", out: "_Stream", err: "_Stream", timeout_seconds: float
    ) -> bool:
        """Wait for the end, or bring it about. Whether it came in time."""
        try:
            async with asyncio.timeout(timeout_seconds):
                await tree.process.wait()
        except TimeoutError:
            return False
        else:
            await _wait_for_both(out, err)
            return True
        finally:
            await tree.end(self._grace_seconds)

    async def _start(
        self, argv: list[str], home: str, out: "_Stream", err: "_Stream"
    ) -> asyncio.subprocess.Process:
        try:
            return await asyncio.create_subprocess_exec(
                *argv,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=out.writer,
                stderr=err.writer,
                cwd=self.root,
                env=self._environment(home),
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
            raise CommandExecutionError(f"{argv[0]} could not be started: {reason}") from error
        finally:
            out.close_writer()
            err.close_writer()

    def end_what_was_left(self) -> None:
        """End what an earlier life of this machine has left running."""
        if self._keeper:
            _end_strays(f"{_KEEPER}={self._keeper}", None)

    def _environment(self, home: str) -> dict[str, str]:
        return {
            **({_KEEPER: self._keeper} if self._keeper else {}),
            "PATH": ":".join(self._search_path),
            "HOME": home,
            "TMPDIR": home,
            "LANG": "C.UTF-8",
            "TERM": "dumb",
            "NO_COLOR": "1",
            "PAGER": "cat",
            "GIT_TERMINAL_PROMPT": "0",
        }

    def _find(self, name: str) -> str:
        """The file a name stands for. A bare name never means a file of the workspace."""
        if "/" in name:
            return self._find_own(name)
        for folder in self._search_path:
            path = os.path.join(folder, name)
            if _is_program(path) and not self._is_inside(path):
                return path
        raise CommandExecutionError(f"{name} is not installed here")

    def _find_own(self, name: str) -> str:
        path = os.path.realpath(os.path.join(self.root, name))
        if not self._is_inside(path):
            raise PathValidationError(f"{name} leads out of the workspace")
        if not _is_program(path):
            raise CommandExecutionError(f"{name} does not exist, or is no program")
        return path

    def _is_inside(self, path: str) -> bool:
        true_path = os.path.realpath(path)
        return true_path == self.root or true_path.startswith(f"{self.root.rstrip('/')}/")


class _Stream:
    """One stream of a command: its beginning is kept, the rest is read, counted and dropped.

    A pipe of our own, so that whoever still holds its other end cannot keep us from going on.
    """

    def __init__(self, max_bytes: int):
        self.kept = bytearray()
        self.lost = 0
        self.ended = asyncio.Event()
        self._max_bytes = max_bytes
        self._reader, self.writer = os.pipe()
        os.set_blocking(self._reader, False)

    def __enter__(self) -> Self:
        asyncio.get_running_loop().add_reader(self._reader, self._take)
        return self

    def __exit__(self, *exc_info: object) -> None:
        asyncio.get_running_loop().remove_reader(self._reader)
        os.close(self._reader)
        self.close_writer()

    def close_writer(self) -> None:
        if self.writer >= 0:
            os.close(self.writer)
            self.writer = -1

    def _take(self) -> None:
        try:
            data = os.read(self._reader, _READ_BYTES)
        except BlockingIOError:
            return
        if not data:
            asyncio.get_running_loop().remove_reader(self._reader)
            self.ended.set()
        room = self._max_bytes - len(self.kept)
        self.kept += data[:room]
        self.lost += max(0, len(data) - room)


class _Tree:
    """A process with its group and, where the system tells, those who have left the group.

    They are known by the session, which nobody can join, or by the home in their environment. Who
    has shed both cannot be told from a child that somebody else has started.
    """

    def __init__(self, process: asyncio.subprocess.Process, home: str):
        self.process = process
        self._home = home

    async def end(self, grace_seconds: float) -> None:
        """Ask all to end, and make them after the grace; what the process left has had its time."""
        try:
            if self.process.returncode is None:
                self._signal(signal.SIGTERM)
                await self._wait_until_gone(grace_seconds)
        finally:
            self._signal_group(signal.SIGKILL)
        await self.process.wait()

    async def _wait_until_gone(self, seconds: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                # Nobody tells of the end of a group, nor of strangers' children.
                while not self._is_gone():  # noqa: ASYNC110
                    await asyncio.sleep(_POLL_SECONDS)

    def _is_gone(self) -> bool:
        if self.process.returncode is None:
            return False
        # A group counts its dead until somebody has buried them.
        return not (self._members() if _HAS_PROC else self._signal_group(0))

    def _members(self) -> list[int]:
        return _alive_with(f"HOME={self._home}", self.process.pid)

    def _signal(self, number: int) -> None:
        self._signal_group(number)
        _signal_each(self._members(), number)

    def _signal_group(self, number: int) -> bool:
        try:
            os.killpg(self.process.pid, number)
        except (ProcessLookupError, PermissionError):
            return False
        return True


async def _wait_for_both(out: _Stream, err: _Stream) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(_LINGER_SECONDS):
            await out.ended.wait()
            await err.ended.wait()


def _how_it_ended(
    process: asyncio.subprocess.Process, *, in_time: bool
) -> tuple[Ending, int | None]:
    if not in_time:
        return Ending.TIMED_OUT, None
    code = process.returncode
    return (Ending.KILLED if code is not None and code < 0 else Ending.EXITED), code


def _alive_with(mark: str, session: int | None) -> list[int]:
    """Everybody in a session, or whose environment holds a mark of ours alone. Linux only."""
    found: list[int] = []
    for name in filter(str.isdecimal, os.listdir("/proc") if _HAS_PROC else ()):
        with suppress(OSError):
            if _is_alive_in(session, name) or mark.encode() in _environment_of(name):
                found.append(int(name))
    return [pid for pid in found if pid != os.getpid()]


def _environment_of(pid: str) -> list[bytes]:
    return _read(f"/proc/{pid}/environ").split(b"\0")


def _is_alive_in(session: int | None, pid: str) -> bool:
    state, _, _, its_session = _read(f"/proc/{pid}/stat").rpartition(b")")[2].split()[:4]
    return int(its_session) == session and state not in (b"Z", b"X")


def _read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def _signal_each(pids: list[int], number: int) -> None:
    for pid in pids:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def _end_strays(mark: str, session: int | None) -> None:
    """Whoever left the group, and whoever they start while we look."""
    for _ in range(_MOST_SWEEPS):
        left = _alive_with(mark, session)
        if not left:
            return
        _signal_each(left, signal.SIGKILL)
        time.sleep(_POLL_SECONDS)


def _remove(home: str) -> None:
    """Some tools leave folders that may not be changed, and so could not be removed."""
    for folder, names, _ in os.walk(home):
        for path in (os.path.join(folder, name) for name in names):
            if not os.path.islink(path):
                os.chmod(path, stat.S_IRWXU)
    shutil.rmtree(home, ignore_errors=True)


def _is_program(path: str) -> bool:
    return os.path.isfile(path) and os.access(path, os.X_OK)
