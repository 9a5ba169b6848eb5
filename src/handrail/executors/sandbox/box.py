"""Box: how a command is started in one, for one workspace."""

import asyncio
import os
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

from handrail.core.box import Isolation, Profile
from handrail.core.stage import Stage
from handrail.executors.sandbox.bubblewrap import HOME, TEMPORARY, View, arguments
from handrail.executors.sandbox.limits import limited
from handrail.executors.sandbox.seccomp import filter_for

SEARCH_PATH = ("/usr/local/bin", "/usr/bin", "/bin")


class Lines(NamedTuple):
    """Descriptors that bubblewrap holds: it writes `status`, and `alive` closes with the box."""

    status: int
    alive: int


class Launch(NamedTuple):
    """What is really started: nothing of our environment, and only these descriptors."""

    argv: list[str]
    fds: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Programs:
    """What boxes are made with on this machine."""

    bwrap: str
    prlimit: str | None


class Views(Protocol):
    """Who knows what must be covered in a workspace, each time anew."""

    def view(self, *, for_git: bool) -> View: ...


class Box:
    """Boxes for one workspace."""

    def __init__(
        self,
        programs: Programs,
        isolation: Isolation,
        views: Views,
        toolchains: Sequence[str] = (),
    ):
        self.isolation = isolation
        self._programs = programs
        self._views = views
        self._toolchains = toolchains
        self._covers = _Covers()

    async def look(self, *, for_git: bool) -> View:
        """What the workspace holds now, for the command that is started next.

        Raises:
            CommandExecutionError: There is more to cover than a box can.
        """
        return await asyncio.to_thread(self._views.view, for_git=for_git)

    @contextmanager
    def launch(
        self,
        stage: Stage,
        view: View,
        lines: Lines,
        seconds: float,
        further: Sequence[tuple[str, str]] = (),
    ) -> Generator[Launch]:
        """How to start a command that may take so long, with `further` variables for it."""
        view = self._covers.count_in(view)
        variables = [*environment(SEARCH_PATH), *further]
        told = arguments(stage.profile, view, variables, self._toolchains)
        told += ["--chdir", os.path.normpath(os.path.join(view.root, stage.folder))]
        prlimit, argv = self._programs.prlimit, [*stage.argv]
        inner = argv if prlimit is None else limited(prlimit, argv, seconds)
        with (
            self._covers.over(() if stage.profile is Profile.READ else view.missing),
            _in_memory("\0".join(told).encode(errors="surrogateescape")) as options,
            _in_memory(filter_for(stage.profile)) as calls,
        ):
            given = {"args": options, "seccomp": calls}
            given |= {"json-status-fd": lines.status, "sync-fd": lines.alive}
            flags = [word for name, fd in given.items() for word in (f"--{name}", str(fd))]
            yield Launch([self._programs.bwrap, *flags, "--", *inner], tuple(given.values()))


class _Covers:
    """Folders that bubblewrap makes to cover what does not exist; the last one out removes them."""

    def __init__(self) -> None:
        self._users: dict[str, int] = {}

    def count_in(self, view: View) -> View:
        """A cover that somebody else needs just now looks like a folder, and is none."""
        shared = tuple(folder for folder in self._users if folder not in view.missing)
        return replace(
            view,
            hidden_folders=tuple(path for path in view.hidden_folders if path not in shared),
            frozen=tuple(path for path in view.frozen if path not in shared),
            missing=(*view.missing, *shared),
        )

    @contextmanager
    def over(self, folders: Sequence[str]) -> Generator[None]:
        for folder in folders:
            self._users[folder] = self._users.get(folder, 0) + 1
        try:
            yield
        finally:
            for folder in folders:
                self._leave(folder)

    def _leave(self, folder: str) -> None:
        self._users[folder] -= 1
        if self._users[folder] == 0:
            del self._users[folder]
            with suppress(OSError):
                os.rmdir(folder)


def environment(search_path: Sequence[str]) -> list[tuple[str, str]]:
    """Made from nothing, so that nothing of ours is in it."""
    return [
        ("PATH", ":".join(search_path)),
        ("HOME", HOME),
        ("TMPDIR", TEMPORARY),
        ("LANG", "C.UTF-8"),
        ("LC_ALL", "C.UTF-8"),
        ("TERM", "dumb"),
        ("NO_COLOR", "1"),
        ("CI", "1"),
        ("PAGER", "cat"),
        ("GIT_PAGER", "cat"),
        ("GIT_TERMINAL_PROMPT", "0"),
        ("PYTHONDONTWRITEBYTECODE", "1"),
    ]


@contextmanager
def _in_memory(content: bytes) -> Generator[int]:
    fd = os.memfd_create("handrail", 0)
    try:
        os.write(fd, content)
        os.lseek(fd, 0, os.SEEK_SET)
        yield fd
    finally:
        os.close(fd)
