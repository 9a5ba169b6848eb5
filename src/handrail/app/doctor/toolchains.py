"""Toolchains: which wait for an answer, and whether those that were allowed work in a box."""

import asyncio
import os
import tempfile
from collections.abc import Iterator
from contextlib import suppress

from handrail.app.doctor.finding import Finding, Health, Patient
from handrail.app.toolchains import Answer, Entry, Toolchains
from handrail.core.box import Isolation, Profile
from handrail.core.errors import HandrailError
from handrail.core.stage import Stage
from handrail.executors.commands.executor import CommandExecutor
from handrail.executors.processes.programs import SEARCH_PATH, ProgramFinder
from handrail.executors.sandbox.box import Box, Programs
from handrail.executors.sandbox.bubblewrap import GitAccess, View
from handrail.executors.sandbox.probe import find_programs, prove
from handrail.executors.toolchains.toolchain import Toolbelt, Toolchain

# Programs that tell their version without starting another one, and how.
_TRIALS = (
    *(("python3", "--version"), ("python", "--version"), ("node", "--version")),
    *(("rustc", "--version"), ("cargo", "--version"), ("go", "version"), ("java", "-version")),
    *(("ruby", "--version"), ("uv", "--version"), ("ruff", "--version"), ("pytest", "--version")),
)
_SECONDS = 5.0
_HOW = "`handrail toolchains` lists them, and `handrail toolchains allow PATH` allows one"


def check_toolchains(patient: Patient) -> Finding:
    """Never confirmed by itself: a folder is let into boxes by a person only."""
    entries = Toolchains(patient.home, patient.workspace).entries()
    allowed = [entry for entry in entries if entry.answer is Answer.ALLOWED]
    troubled = [entry.trouble for entry in allowed if entry.trouble is not None]
    if troubled:
        words = f"commands cannot use one that you have allowed: {troubled[0]}"
        return Finding("toolchains", Health.NOTE, words, "fix that, or deny it")
    works, fails = _try_all(allowed)
    if fails:
        return Finding("toolchains", Health.NOTE, fails[0], "reinstall it, or deny it")
    waiting = [entry for entry in entries if entry.answer is Answer.OPEN and not entry.trouble]
    if waiting:
        found = ", ".join(f"{one.toolchain.kind} ({one.toolchain.path})" for one in waiting)
        words = f"commands cannot use what you have installed for yourself: {found}"
        return Finding("toolchains", Health.NOTE, words, _HOW)
    if not allowed:
        words = "commands can use the system's programs; no others were found or allowed"
        return Finding("toolchains", Health.FINE, words)
    said = "; ".join(works) or ", ".join(entry.toolchain.path for entry in allowed)
    return Finding(
        "toolchains", Health.FINE, f"commands can use them, tested in both sandboxes: {said}"
    )


def _try_all(allowed: list[Entry]) -> tuple[list[str], list[str]]:
    """What each says of itself in boxes, and what is wrong with those that cannot."""
    programs = find_programs()
    isolation = prove(programs) if allowed else Isolation()
    if programs is None or not isolation.holds:
        return [], []
    works: list[str] = []
    fails: list[str] = []
    belt = Toolbelt(tuple(entry.toolchain for entry in allowed))
    with tempfile.TemporaryDirectory(prefix="handrail-probe-") as folder:
        trial = _Trial(programs, isolation, belt, os.path.realpath(folder))
        for toolchain in belt.toolchains:
            for argv in trial.choose(toolchain):
                said = asyncio.run(trial.run(argv))
                if said is None:
                    fails.append(f"{argv[0]} does not run in a sandbox")
                else:
                    works.append(f"{toolchain.kind}: {said}")
    return works, fails


class _Trial:
    """Boxes as a client makes them, around an empty folder."""

    def __init__(self, programs: Programs, isolation: Isolation, belt: Toolbelt, root: str):
        search_path = belt.search_path(SEARCH_PATH)
        box = Box(programs, isolation, _Bare(root), belt.mounts, search_path)
        self._finder = ProgramFinder(root, search_path, belt.mounts)
        self._executor = CommandExecutor(
            root, box=box, search_path=search_path, toolchains=belt.mounts
        )

    def choose(self, toolchain: Toolchain) -> Iterator[tuple[str, str]]:
        """The first program of its own that tells what it is, unless others stand before it."""
        for name, option in _TRIALS:
            with suppress(HandrailError):
                if os.path.dirname(self._finder.find(name)) in toolchain.folders:
                    yield name, option
                    return

    async def run(self, argv: tuple[str, str]) -> str | None:
        """What it says first in the tightest box; None where it, or the wide one, is too tight."""
        said = ""
        for profile in (Profile.WRITE, Profile.READ):
            try:
                outcome = await self._executor.run([Stage(argv, profile)], timeout_seconds=_SECONDS)
            except HandrailError:
                return None
            if outcome.exit_code != 0:
                return None
            said = (outcome.stdout or outcome.stderr).decode(errors="replace").partition("\n")[0]
        return said.strip()


class _Bare:
    """A workspace in which nothing is guarded, because nothing is there."""

    def __init__(self, root: str):
        self.root = root

    def view(self, git: GitAccess = GitAccess.NONE) -> View:
        return View(self.root)
