"""SearchExecutor: ripgrep looks, and nothing is believed of it that we have not seen ourselves.

Ripgrep goes by names, and somebody may exchange a folder for a link while it does. So of every
line it claims to have found, the same bytes must stand at the same place of a file that is opened
beneath the root, and that may be read.
"""

import asyncio
import functools
import os
import signal
import stat
import subprocess
from collections.abc import AsyncGenerator, Sequence
from contextlib import ExitStack, aclosing, asynccontextmanager, suppress
from typing import Any

from handrail.core.errors import BadInput, CommandExecutionError, ToolError
from handrail.core.pattern import NamePattern
from handrail.core.search import Found, Match, Query
from handrail.executors.files.filesystem import FileSystemExecutor
from handrail.executors.files.ripgrep import Ripgrep
from handrail.executors.files.ripgrep_output import Claim, Claims, name_of, read_messages
from handrail.executors.processes.output import Output
from handrail.executors.processes.pipes import Streams
from handrail.executors.processes.start import Process, start_process
from handrail.policy.rulebook.paths import Access

SEARCH_SECONDS = 30.0
MOST_COUNTED = 10_000
SHOWN_CHARS = 500
# How much of a long line is shown before the match.
_SHOWN_BEFORE = 100

_TROUBLE = 2
_MOST_COMPLAINT_BYTES = 10_000
_HAS_PROC = os.path.isdir("/proc/self/fd")
_ENVIRONMENT = {"LANG": "C.UTF-8"}
_ALWAYS = (
    "--no-config", "--json", "--engine=default", "--no-follow", "--no-pre", "--no-search-zip",
    "--no-messages", "--no-ignore-messages", "--no-ignore-global", "--no-require-git", "--no-mmap",
    "--encoding=none", "--max-filesize=100M", "--regex-size-limit=10M", "--sort=path",
)  # fmt: skip


class SearchExecutor:
    """Searches below one workspace root."""

    def __init__(
        self, files: FileSystemExecutor, ripgrep: Ripgrep, *, max_seconds: float = SEARCH_SECONDS
    ):
        self._files = files
        self._ripgrep = ripgrep
        self._max_seconds = max_seconds

    async def search(self, query: Query, path: str, *, most: int) -> Found:
        program = self._ripgrep.program
        fd = await self._files.open_readable(path, folders=True)
        try:
            is_folder = stat.S_ISDIR(os.fstat(fd).st_mode)
            words = [*_ALWAYS, *_choice(query), *self._protections(), f"--regexp={query.pattern}"]
            folder = _name_in_ripgrep(fd)
            argv = [program, *words, "--", folder if is_folder else "-"]
            sieve = _Sieve(
                self._files, path, folder, query.file_pattern if is_folder else None, most
            )
            async with _running(argv, fd, is_folder=is_folder) as run:
                stopped = await self._follow(run, sieve) or await run.verdict(whole=sieve.whole)
        finally:
            os.close(fd)
        return Found(tuple(sieve.matches), sieve.total, stopped or sieve.loss)

    async def _follow(self, run: "_Run", sieve: "_Sieve") -> str | None:
        """Take in what is found, until the end; or why we did not wait for it."""
        try:
            async with (
                asyncio.timeout(self._max_seconds),
                aclosing(read_messages(run.stdout)) as messages,
            ):
                async for message in messages:
                    if message is None:
                        sieve.lose_line()
                    elif not await sieve.take(message):
                        return f"counting stopped at {MOST_COUNTED:,}"
                await run.wait()
        except TimeoutError:
            return f"the search was ended after {self._max_seconds:g} s"
        except EOFError:
            return "there was too much to search all of it"
        else:
            return None
        finally:
            await run.end()

    def _protections(self) -> list[str]:
        """Have ripgrep pass by what may not be read; what slips through is sorted out later."""
        rules = (rule for rule in self._files.rules.paths if rule.access is Access.ANY)
        return [f"--iglob=!**/{pattern}" for rule in rules for pattern in rule.patterns]


class _Sieve:
    """Lets through what ripgrep found in files that may be read, and that we find there too."""

    def __init__(
        self,
        files: FileSystemExecutor,
        path: str,
        folder: str,
        file_pattern: str | None,
        most: int,
    ):
        self.matches: list[Match] = []
        self.total = 0
        self.whole = False
        self._lost_lines = 0
        self._files = files
        self._path = path
        self._folder = folder
        self._pattern = NamePattern.read(file_pattern or "*", recursive=True)
        self._any_name = file_pattern is None
        self._most = most
        self._claims = Claims(None)

    @property
    def loss(self) -> str | None:
        if not self._lost_lines:
            return None
        return f"{self._lost_lines:,} matching lines were too long to be checked"

    def lose_line(self) -> None:
        self._lost_lines += 1

    async def take(self, message: dict[str, Any]) -> bool:
        """Take in one message; False when there is enough."""
        data = message["data"]
        match message["type"]:
            case "begin":
                self._claims = Claims(name_of(data["path"], self._folder))
            case "match":
                self._claims.add(data)
                if self.total + len(self._claims.lines) >= MOST_COUNTED:
                    await self._sift()
                    return self.total < MOST_COUNTED
            case "end" if data["binary_offset"] is None:
                await self._sift()
            case "summary":
                self.whole = True
            case _:
                pass
        return True

    async def _sift(self) -> None:
        name, lines = self._claims.name, self._claims.lines
        self._claims = Claims(name)
        path = self._path if name is None else _join(self._path, name)
        if not lines or not self._is_wanted(name) or self._files.is_protected(path):
            return
        try:
            fd = await self._files.open_readable(path)
        except ToolError:
            return
        try:
            for claim in lines:
                if os.pread(fd, len(claim.data), claim.offset) == claim.data:
                    self._count(path, claim)
        except OSError:
            return
        finally:
            os.close(fd)

    def _is_wanted(self, name: str | None) -> bool:
        return name is None or self._any_name or self._pattern.matches(name)

    def _count(self, path: str, claim: Claim) -> None:
        self.total += 1
        if len(self.matches) < self._most:
            column, text = _shown(claim.data, claim.start)
            self.matches.append(Match(path, claim.line, column, text))


def _choice(query: Query) -> list[str]:
    """How ripgrep is told what to look for, and which files it need not open."""
    words = ["--case-sensitive" if query.case_sensitive else "--ignore-case"]
    last = (query.file_pattern or "*").rpartition("/")[2]
    if last.startswith("."):
        # Hidden files, but not what is in hidden folders.
        words += ["--hidden", "--glob=!.*/"]
    # Only what ripgrep and we surely understand alike; the rest is sorted out later.
    if last.strip("*") and all(char.isalnum() or char in "._-*" for char in last):
        words += [f"--type-add=wanted:{last}", "--type=wanted"]
    return words


class _Run:
    """One run of ripgrep, in a group of its own."""

    def __init__(self, process: Process, stdout: asyncio.StreamReader, stderr: Output):
        self._process = process
        self.stdout = stdout
        self._stderr = stderr

    async def wait(self) -> None:
        await self._process.wait()

    def kill(self) -> None:
        if self._process.returncode is None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)

    async def end(self) -> None:
        """Make an end, where there is none yet."""
        self.kill()
        # What is still in the pipe could keep us from hearing of the end.
        while await self.stdout.read(1 << 16):
            pass
        await self.wait()

    async def verdict(self, *, whole: bool) -> str | None:
        """What the way in which it ended says about what it found."""
        await self._process.wait()
        code = self._process.returncode
        if whole:
            return "some files could not be read" if code == _TROUBLE else None
        await self._stderr.ended.wait()
        said = bytes(self._stderr.kept).decode(errors="replace").strip()
        if code != _TROUBLE or not said:
            raise CommandExecutionError(f"ripgrep failed (exit code {code})")
        reason = said.rpartition("error: ")[2].removeprefix("rg: ")
        raise BadInput(f"pattern: {' '.join(reason.split())}")


@asynccontextmanager
async def _running(argv: Sequence[str], fd: int, *, is_folder: bool) -> AsyncGenerator[_Run]:
    """In the folder that is open, whatever its name leads to now; or on a file that is."""
    fds = [fd] if is_folder and _HAS_PROC else []
    enter = functools.partial(os.fchdir, fd) if is_folder and not _HAS_PROC else None
    stdout = asyncio.StreamReader()
    protocol = asyncio.StreamReaderProtocol(stdout)
    loop = asyncio.get_running_loop()
    reading, writing = os.pipe()
    with Output(_MOST_COMPLAINT_BYTES) as stderr, ExitStack() as stack:
        try:
            pipe = os.fdopen(reading, "rb", 0)
            transport, _ = await loop.connect_read_pipe(lambda: protocol, pipe)
            stack.callback(transport.close)
            streams = Streams(subprocess.DEVNULL if is_folder else fd, writing, stderr.writer)
            process = start_process(argv, streams, "/", _ENVIRONMENT, fds, preexec_fn=enter)
        finally:
            os.close(writing)
            stderr.close_writer()
        run = _Run(process, stdout, stderr)
        try:
            yield run
        finally:
            run.kill()
            await run.wait()


def _name_in_ripgrep(fd: int) -> str:
    """A folder that is open here, as ripgrep can name it.

    It cannot have a folder of an overlay as its working directory, which has no path for it.
    """
    return f"/proc/self/fd/{fd}/" if _HAS_PROC else "./"


def _shown(line: bytes, start: int) -> tuple[int, str]:
    """The column of a match, and its line, or of a long one the part around the match."""
    before = len(line[:start].decode(errors="replace"))
    text = line.rstrip(b"\r\n").decode(errors="replace")
    if len(text) <= SHOWN_CHARS:
        return before + 1, text
    first = max(0, min(before - _SHOWN_BEFORE, len(text) - SHOWN_CHARS))
    piece = text[first : first + SHOWN_CHARS]
    more = "…" if first + SHOWN_CHARS < len(text) else ""
    return before + 1, f"{'…' if first else ''}{piece}{more}"


def _join(path: str, name: str) -> str:
    return name if path == "." else f"{path}/{name}"
