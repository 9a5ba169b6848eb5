"""Fence: keeps what was approved to the workspace where no box can be made.

It is less than a box, and none is taken for one: every command asks there. That other files and
processes exist can be seen, and rights and times of the person's other files be changed. What may
change the workspace sees and changes all of it. There are no sockets at all.
"""

import asyncio
import os
import sys
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import ExitStack, asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from handrail.core.box import Profile, Wall
from handrail.core.errors import CommandExecutionError
from handrail.core.stage import Stage
from handrail.executors.processes.memory import in_memory
from handrail.executors.sandbox.box import Views
from handrail.executors.sandbox.bubblewrap import SYSTEM, View, settings
from handrail.executors.sandbox.landlock import (
    EVERYTHING,
    LOOK,
    RUN,
    Allowed,
    Right,
    make_ruleset,
)
from handrail.executors.sandbox.limits import resource_limits
from handrail.executors.sandbox.seccomp import filter_for

_PROGRAM = Path(__file__).with_name("fence_program.py")
# Nothing of any process: whose environment one may read is not for a fence to say.
_OF_THE_MACHINE = (
    *("cpuinfo", "filesystems", "loadavg", "meminfo"),
    *("stat", "sys", "uptime", "version"),
)
_DEVICES = ("null", "zero", "full", "random", "urandom")


class FencedLaunch(NamedTuple):
    """What is really started, and which descriptors it needs for that."""

    argv: Sequence[str]
    fds: tuple[int, ...] = ()


class Fence:
    """Fences for one workspace; `walls` are what was proven of them."""

    def __init__(self, walls: tuple[Wall, ...], views: Views, toolchains: Sequence[str] = ()):
        self.walls = walls
        self._views = views
        self._toolchains = toolchains

    @asynccontextmanager
    async def around(
        self, stage: Stage, home: str, seconds: float, *, shows_settings: bool = False
    ) -> AsyncGenerator[FencedLaunch]:
        """How to start a command that may take so long, with a home of its own.

        A fence can show no copies: settings with passwords are hidden, or shown as they are.

        Raises:
            CommandExecutionError: It needs what no fence can narrow, or none could be made.
        """
        if stage.profile is Profile.NET:
            raise CommandExecutionError(
                "this needs the network, which only a box can restrict to the approved hosts; "
                "install bubblewrap, and see `handrail doctor`"
            )
        view = await asyncio.to_thread(self._views.view)
        if not shows_settings:
            view = replace(view, hidden_files=(*view.hidden_files, *view.copies))
        allowed = [*ground(stage.profile, view, home), *self._kits()]
        with ExitStack() as stack:
            try:
                ruleset = make_ruleset(allowed)
            except OSError as error:
                raise CommandExecutionError(
                    f"no fence could be made for it: {error.strerror}"
                ) from error
            stack.callback(os.close, ruleset)
            filter_fd = stack.enter_context(in_memory(filter_for(stage.profile, fenced=True)))
            limits = ",".join(f"{name}={value}" for name, value in resource_limits(seconds))
            program = [sys.executable, "-I", "-S", str(_PROGRAM), str(ruleset), str(filter_fd)]
            yield FencedLaunch([*program, limits, *stage.argv], (ruleset, filter_fd))

    def _kits(self) -> Iterator[Allowed]:
        return (Allowed(folder, RUN) for folder in self._toolchains)


def ground(profile: Profile, view: View, home: str) -> Iterator[Allowed]:
    """What a command may do with which files; with all others nothing."""
    for path in (*SYSTEM, *settings()):
        yield Allowed(path, RUN)
    for name in _OF_THE_MACHINE:
        yield Allowed(f"/proc/{name}", LOOK)
    for name in _DEVICES:
        yield Allowed(f"/dev/{name}", Right.READ_FILE | Right.WRITE_FILE)
    if profile is Profile.READ:
        yield Allowed(home, LOOK)
        yield from _seen_of(view)
    else:
        yield Allowed(home, EVERYTHING)
        yield Allowed(view.root, EVERYTHING)


def _seen_of(view: View) -> Iterator[Allowed]:
    """The workspace without what is hidden: beside that, each name is allowed by itself."""
    hidden = {*view.hidden_files, *view.hidden_folders}
    if not hidden:
        yield Allowed(view.root, LOOK)
        return
    on_the_way = {view.root, *View(view.root, hidden_files=tuple(hidden)).pinned}
    yield Allowed(view.root, Right.READ_DIR)
    for folder in sorted(on_the_way - hidden):
        with suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                # What a link leads to counts where it lies.
                if entry.path not in hidden | on_the_way and not entry.is_symlink():
                    yield Allowed(entry.path, LOOK)
