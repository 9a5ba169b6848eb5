"""Box: how a command is started in one, for one workspace."""

import asyncio
import os
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

from handrail.core.box import Isolation, Profile
from handrail.core.errors import CommandExecutionError
from handrail.core.stage import Stage
from handrail.executors.processes.memory import in_memory
from handrail.executors.processes.programs import SEARCH_PATH, path_for
from handrail.executors.sandbox.bubblewrap import (
    HOME,
    HOSTS,
    HOSTS_OF_BOX,
    TEMPORARY,
    GitAccess,
    Lent,
    Mount,
    View,
    arguments,
    is_among,
)
from handrail.executors.sandbox.gate import Gate
from handrail.executors.sandbox.ignored import ignoring
from handrail.executors.sandbox.limits import limited
from handrail.executors.sandbox.seccomp import filter_for
from handrail.executors.sandbox.sources import held


class Lines(NamedTuple):
    """Descriptors that bubblewrap holds: it writes `status`, and `alive` closes with the box."""

    status: int
    alive: int


class Launch(NamedTuple):
    """What is really started: nothing of our environment, only these descriptors, by this gate.

    Of these, `bound` are what is bound of the workspace, by its paths; `missing` are covered.
    """

    argv: list[str]
    fds: tuple[int, ...]
    gate: Gate
    bound: Mapping[str, int]
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Programs:
    """What boxes are made with on this machine."""

    bwrap: str
    prlimit: str | None


class Views(Protocol):
    """Who knows what must be covered in a workspace, each time anew."""

    root: str

    def view(self, git: GitAccess = GitAccess.NONE) -> View: ...


class Box:
    """Boxes for one workspace. They show the `toolchains`, which nothing in them can change."""

    def __init__(
        self,
        programs: Programs,
        isolation: Isolation,
        views: Views,
        toolchains: Sequence[str] = (),
        search_path: Sequence[str] = SEARCH_PATH,
    ):
        self.isolation = isolation
        self.root = views.root
        self._programs = programs
        self._views = views
        self.toolchains = self._toolchains = toolchains
        self.search_path = search_path
        self._covers = _Covers()
        self._movers = Movers()

    def over(self, views: Views) -> "Box":
        """A box of the same kind over something else."""
        return Box(self._programs, self.isolation, views, search_path=self.search_path)

    async def look(self, git: GitAccess = GitAccess.NONE) -> View:
        """What the workspace holds now, for the command that is started next.

        Raises:
            CommandExecutionError: There is more to cover than a box can.
        """
        return await asyncio.to_thread(self._views.view, git)

    @contextmanager
    def launch(
        self,
        stage: Stage,
        view: View,
        lines: Lines,
        seconds: float,
        further: Sequence[tuple[str, str | None]] = (),
        lent: Lent | None = None,
        mounts: Sequence[Mount] = (),
    ) -> Generator[Launch]:
        """How to start a command that may take so long, with `further` variables and `mounts`.

        A further variable takes the place of the box's own; without a value, it is not set.

        What is `lent` folders runs over an overlay of the workspace: it moves nothing that others
        see, and leaves no covers there.

        Raises:
            CommandExecutionError: Something could not be held in place.
        """
        writable = stage.profile is not Profile.READ
        if writable and view.loose:
            raise CommandExecutionError(
                f"{view.loose[0]} is a link, and no box can prevent its replacement; commands "
                f"that may change the workspace can run when it is a folder"
            )
        view = self._covers.count_in(view)
        prlimit, argv = self._programs.prlimit, [*stage.argv]
        inner = argv if prlimit is None else limited(prlimit, argv, seconds)
        with (
            self._movers.beside(view, joins=writable and lent is None),
            self._covers.over(view.missing if writable and lent is None else ()),
            held(view.bound(writable=writable)) as bound,
            _open(_copies(view)) as copies,
            in_memory(HOSTS_OF_BOX) as hosts,
            ignoring(view, writable=writable) as ignored,
            in_memory(
                self._told(
                    stage,
                    view,
                    {**bound, HOSTS: hosts, **ignored},
                    copies,
                    further,
                    lent,
                    mounts,
                )
            ) as options,
            Gate(filter_for(stage.profile)) as gate,
        ):
            given = {"args": options, "block-fd": gate.bell, "seccomp": gate.filter}
            given |= {"json-status-fd": lines.status, "sync-fd": lines.alive}
            flags = [word for name, fd in given.items() for word in (f"--{name}", str(fd))]
            fds = (*given.values(), *bound.values(), *copies.values(), hosts, *ignored.values())
            words = [self._programs.bwrap, *flags, "--", *inner]
            yield Launch(words, fds, gate, bound, view.missing)

    def _told(
        self,
        stage: Stage,
        view: View,
        sources: Mapping[str, int],
        copies: Mapping[str, int],
        further: Sequence[tuple[str, str | None]],
        lent: Lent | None,
        mounts: Sequence[Mount],
    ) -> bytes:
        path = path_for(stage, self.root, self.search_path)
        told = dict([*environment(path), *further])
        variables = [(name, value) for name, value in told.items() if value is not None]
        words = arguments(
            stage.profile, view, sources, copies, variables, self._toolchains, lent, mounts
        )
        words += ["--chdir", os.path.normpath(os.path.join(view.root, stage.folder))]
        return "\0".join(words).encode(errors="surrogateescape")


class Movers:
    """Views of the boxes that may move names, for as long as they run.

    While a box is made, bubblewrap goes by names. One that a running command has not found held in
    place it could exchange for a link just then, and have things made or covered elsewhere.
    """

    def __init__(self) -> None:
        self._views: list[View] = []

    @contextmanager
    def beside(self, view: View, *, joins: bool) -> Generator[None]:
        for other in self._views:
            for path in _loose_in(other, view):
                raise CommandExecutionError(
                    f"{path} appeared while another command runs that could still move it; try "
                    f"again when that command has ended"
                )
        if joins:
            self._views.append(view)
        try:
            yield
        finally:
            if joins:
                self._views.remove(view)


class _Covers:
    """Folders that bubblewrap makes to cover what does not exist; the last one out removes them."""

    def __init__(self) -> None:
        self._users: dict[str, int] = {}

    def count_in(self, view: View) -> View:
        """A cover that others need, or needed a moment ago, looks like a folder, and is none."""
        left = [path for path in (*view.hidden_folders, *view.frozen) if _is_gone(path)]
        # In what is frozen, nothing can be made; nor need it be covered there.
        firm = [path for path in view.frozen if path not in left and path not in self._users]
        shared = tuple(
            path
            for path in {*self._users, *left}
            if path not in view.missing and not is_among(path, firm)
        )
        # One that went while we looked is missing as well as there.
        missing = (*view.missing, *shared)
        return replace(
            view,
            hidden_folders=tuple(path for path in view.hidden_folders if path not in missing),
            frozen=tuple(path for path in view.frozen if path not in missing),
            missing=missing,
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


def _is_gone(path: str) -> bool:
    """Whether nothing has that name; what cannot be looked at is there for all we know."""
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False


def _loose_in(other: View, view: View) -> Iterator[str]:
    """What is to be covered, and is not held in place in the other's box.

    Within what is frozen there nothing can be moved.
    """
    pinned = {other.root, *other.pinned}
    holds = {*other.covered, *other.missing, *pinned}
    for path in (*view.covered, *view.copies):
        if path not in holds and not is_among(path, other.frozen):
            yield path


def environment(path: str) -> list[tuple[str, str]]:
    """Made from nothing, so that nothing of ours is in it."""
    return [
        ("PATH", path),
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
        # Also on the line, but there a bundle such as `cfX` can take them for its values.
        ("TAR_OPTIONS", "--force-local --no-same-owner"),
    ]


def _copies(view: View) -> dict[str, bytes]:
    return {path: copy for one in (*view.beside, view) for path, copy in one.copies.items()}


@contextmanager
def _open(copies: Mapping[str, bytes]) -> Generator[Mapping[str, int]]:
    with ExitStack() as stack:
        yield {path: stack.enter_context(in_memory(copy)) for path, copy in copies.items()}
