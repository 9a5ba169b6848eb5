"""The probe: boxes are made for real, and a small script in them tries to get out.

A wall counts only where the same attempt succeeds without it; else nothing would be proven.
"""

import os
import shutil
import subprocess
import sys
import tempfile

from handrail.core.box import Isolation, Profile, Wall
from handrail.core.stage import Stage
from handrail.executors.processes.pipes import Streams
from handrail.executors.processes.start import open_process
from handrail.executors.sandbox.box import Box, Lines, Programs
from handrail.executors.sandbox.bubblewrap import GitAccess, View
from handrail.executors.sandbox.gate import Gate
from handrail.executors.sandbox.inherited import (
    LIST_DESCRIPTORS,
    has_only_streams,
    inheritable,
)
from handrail.executors.sandbox.limits import cpu_seconds, find_prlimit
from handrail.executors.sandbox.seccomp import is_known

# Of a box: what else may keep commands in is not needed there.
_WALLS = (Wall.NAMESPACES, Wall.SECCOMP, Wall.LIMITS)
_SHELL = "/bin/sh"
_SECONDS = 20
# Only what the shell itself can do: in the tightest box it can start nothing.
_ATTEMPTS = (
    """
echo x > inside.txt
echo x > frozen/written.txt
echo x > "$1/outside.txt"
read -r content < hidden.txt && echo saw-hidden
read -r content < "$1/canary.txt" && echo saw-outside
while read -r name rest; do
    case "$name" in Inter-*|face*|lo:*) ;; *) echo saw-network;; esac
done < /proc/net/dev
printf '' >> /proc/sys/kernel/core_uses_pid && echo saw-settings
echo "seconds:"; ulimit -t
"""
    + LIST_DESCRIPTORS
    + "(echo forked)"
)
_WROTE = "workspace/inside.txt"
_WRITES_OUT = ("workspace/frozen/written.txt", "outside.txt")
_GETS_OUT = {*_WRITES_OUT, "saw-hidden", "saw-outside"}


def find_programs() -> Programs | None:
    """What boxes can be made with here; None where there is no bubblewrap."""
    bwrap = shutil.which("bwrap", path="/usr/bin:/bin:/usr/local/bin")
    return None if bwrap is None else Programs(bwrap, find_prlimit())


def prove(programs: Programs | None) -> Isolation:
    """Which walls hold on this machine. It takes a moment, and leaves nothing behind."""
    if sys.platform != "linux":
        return Isolation(why_not="boxes need Linux; on Windows, run Handrail inside WSL")
    if programs is None:
        return Isolation(why_not="bubblewrap is not installed")
    if not is_known():
        return Isolation(why_not=f"there is no system call filter for {os.uname().machine} yet")
    with tempfile.TemporaryDirectory(prefix="handrail-probe-") as folder:
        try:
            return _Trial(programs, os.path.realpath(folder)).result()
        except (OSError, subprocess.SubprocessError) as error:
            return Isolation(why_not=f"no box could be made: {error}")


class _Trial:
    """The same script in the open, in the wide box and in the tight one.

    What it says it has seen, and the files that are there after it, are what it came to.
    """

    def __init__(self, programs: Programs, folder: str):
        self._folder = folder
        self.root = os.path.join(folder, "workspace")
        os.makedirs(os.path.join(self.root, "frozen"))
        for name in ("canary.txt", "workspace/hidden.txt"):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write("x\n")
        self._view = View(
            self.root,
            hidden_files=(os.path.join(self.root, "hidden.txt"),),
            frozen=(os.path.join(self.root, "frozen"),),
        )
        self._box = Box(programs, Isolation(), self)
        self._argv = [_SHELL, "-c", _ATTEMPTS, "probe", folder]

    def result(self) -> Isolation:
        with inheritable(self._folder) as fd:
            return self._compare(fd)

    def _compare(self, fd: int) -> Isolation:
        """`fd` is inheritable, and meant for no box."""
        outside = self._seen(_run(self._argv, self.root, (fd,)))
        boxed = self._run_boxed(Profile.WRITE)
        wide, tight = self._seen(boxed), self._seen(self._run_boxed(Profile.READ))
        if not outside >= {*_GETS_OUT, _WROTE, "forked", f"descriptor:{fd}"}:
            return Isolation(why_not="the probe itself does not work here, so it proves nothing")
        if _WROTE not in wide:
            why = boxed.stderr.strip() or f"exit code {boxed.returncode}"
            return Isolation(why_not=f"no box could be made: {why}")
        if not (has_only_streams(wide) and has_only_streams(tight)):
            return Isolation(
                why_not="a command in a box had other file descriptors than the three meant for it"
            )
        walls: list[Wall] = []
        seen = (wide | tight) & {*_GETS_OUT, "saw-network", "saw-settings"}
        if not seen and _WROTE not in tight:
            walls.append(Wall.NAMESPACES)
        if "forked" in wide and "forked" not in tight:
            walls.append(Wall.SECCOMP)
        if str(cpu_seconds(_SECONDS)) in (wide & tight) - outside:
            walls.append(Wall.LIMITS)
        missing = [wall for wall in _WALLS if wall not in walls]
        return Isolation(tuple(walls), f"not proven: {', '.join(missing)}" if missing else None)

    def view(self, git: GitAccess = GitAccess.NONE) -> View:
        return self._view

    def _run_boxed(self, profile: Profile) -> subprocess.CompletedProcess[str]:
        with open(os.devnull, "w", encoding="utf-8") as nowhere:
            lines = Lines(nowhere.fileno(), nowhere.fileno())
            stage = Stage(tuple(self._argv), profile)
            with self._box.launch(stage, self._view, lines, _SECONDS) as launch:
                return _run(launch.argv, "/", launch.fds, launch.gate)

    def _seen(self, run: subprocess.CompletedProcess[str]) -> set[str]:
        seen = set(run.stdout.split())
        for name in (_WROTE, *_WRITES_OUT):
            path = os.path.join(self._folder, name)
            if os.path.exists(path):
                seen.add(name)
                os.remove(path)
        return seen


def _run(
    argv: list[str], cwd: str, fds: tuple[int, ...] = (), gate: Gate | None = None
) -> subprocess.CompletedProcess[str]:
    streams = Streams(subprocess.DEVNULL, subprocess.PIPE, subprocess.PIPE)
    with open_process(argv, streams, cwd, {}, fds) as process:
        try:
            if gate is not None:
                gate.open_in_thread(lambda: process.poll() is not None)
            out, err = process.communicate(timeout=_SECONDS)
        except BaseException:
            process.kill()
            raise
    return subprocess.CompletedProcess(
        argv, process.returncode, out.decode(errors="replace"), err.decode(errors="replace")
    )
