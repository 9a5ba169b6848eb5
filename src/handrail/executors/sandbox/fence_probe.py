"""The probe of fences: one is put up for real, and a small script behind it tries to get over it.

A wall counts only where the same attempt succeeds without it; else nothing would be proven.
"""

import asyncio
import os
import subprocess
import sys
import tempfile

from handrail.core.box import Profile, Wall
from handrail.core.errors import CommandExecutionError
from handrail.core.stage import Stage
from handrail.executors.processes.pipes import Streams
from handrail.executors.processes.start import open_process
from handrail.executors.sandbox.bubblewrap import GitAccess, View
from handrail.executors.sandbox.fence import Fence
from handrail.executors.sandbox.inherited import (
    LIST_DESCRIPTORS,
    has_only_streams,
    inheritable,
)
from handrail.executors.sandbox.landlock import OLDEST_VERSION, version
from handrail.executors.sandbox.limits import cpu_seconds
from handrail.executors.sandbox.seccomp import is_known

_SECONDS = 20
# Only what the shell itself can do: behind the tightest fence it can start nothing.
_ATTEMPTS = (
    """
echo x > inside.txt && echo wrote-inside
echo x > "$1/outside.txt" && echo wrote-outside
printf '' >> "$1/canary.txt" && echo opened-outside
read -r content < hidden.txt && echo saw-hidden
read -r content < "$1/canary.txt" && echo saw-outside
echo "seconds:"; ulimit -t
"""
    + LIST_DESCRIPTORS
    + "(echo forked)"
)
_GETS_OUT = {"wrote-outside", "opened-outside", "saw-outside"}


def prove_fence() -> tuple[Wall, ...]:
    """Which walls hold here without any box. It takes a moment, and leaves nothing behind."""
    if sys.platform != "linux" or version() < OLDEST_VERSION or not is_known():
        return ()
    with tempfile.TemporaryDirectory(prefix="handrail-probe-") as folder:
        try:
            return asyncio.run(_prove(os.path.realpath(folder)))
        except (OSError, subprocess.SubprocessError, CommandExecutionError):
            return ()


async def _prove(folder: str) -> tuple[Wall, ...]:
    trial = _Trial(folder)
    with inheritable(folder) as fd:
        outside = trial.run([*trial.argv], (fd,))
        wide, tight = await trial.run_fenced(Profile.WRITE), await trial.run_fenced(Profile.READ)
    escapes = {*_GETS_OUT, "wrote-inside", "saw-hidden", "forked", f"descriptor:{fd}"}
    if not outside >= escapes or not (has_only_streams(wide) and has_only_streams(tight)):
        return ()
    keeps_in = not (wide | tight) & _GETS_OUT and "wrote-inside" in wide
    if not keeps_in or tight & {"wrote-inside", "saw-hidden"}:
        return ()
    walls = [Wall.LANDLOCK]
    if "forked" in wide and "forked" not in tight:
        walls.append(Wall.SECCOMP)
    if str(cpu_seconds(_SECONDS)) in (wide & tight) - outside:
        walls.append(Wall.LIMITS)
    return tuple(walls)


class _Trial:
    """The same script in the open, behind the wide fence and behind the tight one."""

    def __init__(self, folder: str):
        self.root = os.path.join(folder, "workspace")
        self._home = os.path.join(folder, "home")
        for place in (self.root, self._home):
            os.mkdir(place)
        for name in ("canary.txt", "workspace/hidden.txt"):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write("x\n")
        self._fence = Fence((), self)
        self.argv = ("/bin/sh", "-c", _ATTEMPTS, "probe", folder)

    def view(self, git: GitAccess = GitAccess.NONE) -> View:
        return View(self.root, hidden_files=(os.path.join(self.root, "hidden.txt"),))

    async def run_fenced(self, profile: Profile) -> set[str]:
        stage = Stage(self.argv, profile)
        async with self._fence.around(stage, self._home, _SECONDS) as launch:
            return await asyncio.to_thread(self.run, [*launch.argv], launch.fds)

    def run(self, argv: list[str], fds: tuple[int, ...] = ()) -> set[str]:
        """What it says it has come to."""
        streams = Streams(subprocess.DEVNULL, subprocess.PIPE, subprocess.DEVNULL)
        with open_process(argv, streams, self.root, {}, fds) as process:
            try:
                said, _ = process.communicate(timeout=_SECONDS)
            except BaseException:
                process.kill()
                raise
        return set(said.decode().split())
