"""A credential, handed into a box when git asks for it there, once, and to nobody else.

The box gets the name of a pipe, in which there is nothing; all that git starts has that name. Who
opens it waits, and we look who that is: the helper of the program by which git talks to remotes,
on its way to the address that was approved, with nobody but git between it and the command, and git
does there what the command needs. Only then the credential goes into the pipe. Whoever else opens
it ends the matter, and nobody gets anything any more.
"""

import functools
import os
import select
import subprocess
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from itertools import takewhile
from typing import NamedTuple

from handrail.core.errors import CommandExecutionError
from handrail.executors.git.credentials import Credential, Remote
from handrail.executors.processes.programs import SEARCH_PATH
from handrail.executors.processes.tree import descendants, parent_of

_MOMENT_SECONDS = 0.005
_EXEC_PATH_SECONDS = 5.0
_MOST_BETWEEN = 16
_CARRIERS = ("env", "nice", "timeout")
_TRANSPORTS = ("git-remote-http", "git-remote-https")
_MOST_BYTES_OF_WORDS = 1 << 17
# What one git has another do, on the way to a remote; all else it does by itself.
_ON_THE_WAY = {"pull": ("fetch", "pull")}

Identity = tuple[int, int]


class HandIn(NamedTuple):
    """Settings for git, to come behind all others, and descriptors that it is to be given.

    While `answering`, by the number of the first process in a box, the command there is answered.
    """

    settings: list[tuple[str, str]]
    fds: tuple[int, ...]
    answering: Callable[[int], AbstractContextManager[None]]


def _nothing(_: int) -> AbstractContextManager[None]:
    return nullcontext()


NO_CREDENTIAL = HandIn([], (), _nothing)


@contextmanager
def handed_in(credential: Credential, remote: Remote, action: str) -> Generator[HandIn]:
    """Have git find it, once, while it does what it is for, for this address alone."""
    reading, writing = os.pipe2(os.O_CLOEXEC)
    try:
        # It can be opened by this, and not read: as yet there is no reader.
        name = os.open(f"/proc/self/fd/{reading}", os.O_PATH | os.O_CLOEXEC)
    finally:
        os.close(reading)
    counter = _Counter(credential.lines, writing, _Errand(remote, action))
    try:
        helper = f'!f() {{ test "$1" = get && cat /dev/fd/{name}; }}; f'
        settings = [(f"credential.{remote.url}.helper", helper)]
        yield HandIn(settings, (name,), counter.answering)
    finally:
        counter.close()
        os.close(name)


class _Errand(NamedTuple):
    """What git is to do, and where."""

    remote: Remote
    action: str

    def is_told(self, words: Sequence[Sequence[str]]) -> bool:
        """Whether these are the words of processes, from git's transport up, that are on it."""
        transport, *above = words
        names = [_action(one) for one in above]
        # By git, the transport is started as one of its commands, with the same words.
        if names and f"git-{names[0]}" in _TRANSPORTS and above[0][2:] == transport[1:]:
            names = names[1:]
        wanted = _ON_THE_WAY.get(self.action, (self.action,))
        return self._leads_there(transport) and tuple(names) == wanted

    def _leads_there(self, transport: Sequence[str]) -> bool:
        try:
            there = Remote.of(transport[2]) if len(transport) == 3 else None
        except CommandExecutionError:
            return False
        return there is not None and (there.url, there.path) == (self.remote.url, self.remote.path)


class _Counter:
    """Where it is handed out; it closes with the first who comes, whoever that is."""

    def __init__(self, lines: bytes, writing: int, errand: _Errand):
        self._errand = errand
        self._lines = lines
        self._writing = writing
        self._over = threading.Event()

    def close(self) -> None:
        if self._writing >= 0:
            os.close(self._writing)
            self._writing = -1

    @contextmanager
    def answering(self, first: int) -> Generator[None]:
        if self._writing < 0:
            yield
            return
        thread = threading.Thread(target=self._answer, args=(first,), daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._over.set()
            thread.join()
            self.close()

    def _answer(self, first: int) -> None:
        nobody = select.poll()
        nobody.register(self._writing, 0)
        while nobody.poll(0):
            if self._over.wait(_MOMENT_SECONDS):
                return
        # Who has ended meanwhile, or cannot be looked at, gets nothing.
        with suppress(OSError, ValueError, LookupError, subprocess.SubprocessError):
            if _is_git_alone(first, _identity(f"/proc/self/fd/{self._writing}"), self._errand):
                os.write(self._writing, self._lines)
        self.close()


def _is_git_alone(first: int, pipe: Identity, errand: _Errand) -> bool:
    """Whether all who have opened a pipe were sent by the command of a box, for its errand.

    Raises:
        OSError: Nobody can tell.
    """
    inside = [pid for pid in descendants(first) if pid != first]
    readers = [pid for pid in inside if _has_opened(pid, pipe)]
    return bool(readers) and all(_is_sent_by_git(pid, first, errand) for pid in readers)


def _has_opened(pid: int, pipe: Identity) -> bool:
    """Whether it could read from there; the name of it everybody has.

    Raises:
        PermissionError: It hides what it has opened.
    """
    with suppress(FileNotFoundError, ProcessLookupError):
        for fd in os.listdir(f"/proc/{pid}/fd"):
            with suppress(FileNotFoundError, ProcessLookupError):
                if _identity(f"/proc/{pid}/fd/{fd}") == pipe and not _is_name(pid, fd):
                    return True
    return False


def _is_name(pid: int, fd: str) -> bool:
    with open(f"/proc/{pid}/fdinfo/{fd}", encoding="ascii") as file:
        rows = dict(row.split(":", 1) for row in file if ":" in row)
    return bool(int(rows["flags"], 8) & os.O_PATH)


def _is_sent_by_git(reader: int, first: int, errand: _Errand) -> bool:
    """Whether it is the helper of git's transport, which the command itself has led to."""
    above = [*_up_to(reader, first)]
    if len(above) < 4 or parent_of(str(above[-1])) != first or above[-1] != _command(first):
        return False
    kinds = _programs()
    programs = [_identity(f"/proc/{pid}/exe") for pid in above]
    wanted = (kinds.readers, kinds.shells, kinds.transports)
    if not all(one in kind for one, kind in zip(programs, wanted, strict=False)):
        return False
    further = programs[len(wanted) :]
    gits = [*takewhile(kinds.gits.__contains__, further)]
    # Only what was approved can start git by another program; below it git is alone.
    if not gits or not kinds.carriers.issuperset(further[len(gits) :]):
        return False
    told = above[len(wanted) - 1 : len(wanted) + len(gits)]
    return errand.is_told([_words(pid) for pid in told])


def _words(pid: int) -> list[str]:
    """By which a process was started; those of git's own programs are what they do.

    Raises:
        ValueError: They are too many to be looked at.
    """
    with open(f"/proc/{pid}/cmdline", "rb") as file:
        content = file.read(_MOST_BYTES_OF_WORDS + 1)
    if len(content) > _MOST_BYTES_OF_WORDS:
        raise ValueError
    return [os.fsdecode(word) for word in content.split(b"\0")[:-1]]


def _action(words: Sequence[str]) -> str:
    """None of the flags that are let stand in front of it has a value."""
    return next((word for word in words[1:] if not word.startswith("-")), "")


def _up_to(pid: int, first: int) -> Iterator[int]:
    for _ in range(_MOST_BETWEEN):
        if pid in (first, 0):
            return
        yield pid
        pid = parent_of(str(pid))


def _command(first: int) -> int:
    """What was started there before all others; orphans of it come to the same parent."""
    children = [pid for pid in descendants(first) if parent_of(str(pid)) == first]
    return min(children, key=_number_within)


def _number_within(pid: int) -> int:
    with open(f"/proc/{pid}/status", encoding="utf-8", errors="replace") as file:
        rows = [row.split() for row in file if row.startswith("NSpid:")]
    return int(rows[0][-1])


class _Programs(NamedTuple):
    readers: frozenset[Identity]
    shells: frozenset[Identity]
    transports: frozenset[Identity]
    gits: frozenset[Identity]
    carriers: frozenset[Identity]


@functools.cache
def _programs() -> _Programs:
    """The system's own, by what they are: a name says nothing."""
    told = subprocess.run(
        ["git", "--exec-path"],
        cwd="/",
        env={"PATH": ":".join(SEARCH_PATH)},
        capture_output=True,
        text=True,
        timeout=_EXEC_PATH_SECONDS,
        check=False,
    )
    inner = told.stdout.strip()
    return _Programs(
        frozenset(_named(SEARCH_PATH, ["cat"])),
        frozenset(_named(SEARCH_PATH, ["sh"])),
        frozenset(_named([inner], _TRANSPORTS)),
        frozenset(_named([*SEARCH_PATH, inner], ["git", *_TRANSPORTS])),
        frozenset(_named(SEARCH_PATH, _CARRIERS)),
    )


def _named(folders: Sequence[str], names: Sequence[str]) -> Iterator[Identity]:
    for folder in folders:
        for name in names:
            with suppress(OSError):
                yield _identity(os.path.join(folder, name))


def _identity(path: str) -> Identity:
    found = os.stat(path)
    return found.st_dev, found.st_ino
