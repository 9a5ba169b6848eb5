"""Reading git's effects of a rehearsal; system git runs in a box of its own."""

import asyncio
import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from pathlib import Path

from handrail.core.box import Profile
from handrail.core.effects import Effects
from handrail.core.outcome import CommandOutcome, Ending
from handrail.core.stage import Stage
from handrail.executors.commands.executor import CommandExecutor
from handrail.executors.git_effects.finding import GIT, MARKS
from handrail.executors.git_effects.reader import GitReader, Workspace
from handrail.executors.git_effects.trees import UnreadableError
from handrail.executors.rehearsal.contents import LayerContents
from handrail.executors.rehearsal.git_trees import FolderTree, LayeredTree
from handrail.executors.sandbox.box import Box
from handrail.executors.sandbox.bubblewrap import GitAccess, View

_SECONDS = 30.0
_MOST_FILE_BYTES = 64 << 20


@dataclass(frozen=True, slots=True)
class ReadEffects:
    """Effects with git's in words, and where the checked new objects of each repository lie.

    `why_not` says why git's could not be read; it is empty where they were. The `scratch` folder is
    removed with `discard`.
    """

    effects: Effects
    scratch: str = ""
    objects: tuple[tuple[str, Path], ...] = ()
    why_not: str = ""

    def discard(self) -> None:
        if self.scratch:
            shutil.rmtree(self.scratch, ignore_errors=True)


class GitEffectsReader:
    """Reads for one workspace, in threads of the event loop that it was made in."""

    def __init__(self, box: Box, base: Path, layers: Callable[[], Sequence[str]] = tuple):
        """`layers` are folders over the workspace, which hold a part of git's objects."""
        self._layers = layers
        self._box = box
        self._base = base
        self._loop = asyncio.get_running_loop()

    def read(
        self, effects: Effects, lower_fd: int, upper_fd: int, *, follows_remotes: bool = False
    ) -> ReadEffects:
        """The same effects with git's in words; for a thread.

        If git `follows_remotes`, its copies of remote branches may lose what these have lost.
        Where a command deletes files and leaves git alone, only their content is looked up. Without
        an answer they are deleted files like any others.
        """
        if _may_be_gits(effects):
            return self._read(effects, lower_fd, upper_fd, follows_remotes=follows_remotes)
        if not _deletes_files(effects):
            return ReadEffects(effects)
        asked = replace(effects, git=replace(effects.git, repositories=(GIT,)))
        looked = self._read(asked, lower_fd, upper_fd)
        return ReadEffects(effects) if looked.why_not else looked

    def _read(
        self, effects: Effects, lower_fd: int, upper_fd: int, *, follows_remotes: bool = False
    ) -> ReadEffects:
        self._base.mkdir(mode=0o700, parents=True, exist_ok=True)
        scratch = tempfile.mkdtemp(prefix="git-", dir=os.path.realpath(self._base))
        lower = FolderTree(lower_fd)
        changes = (*effects.changes, *effects.git.changes)
        after = LayeredTree(lower, FolderTree(upper_fd), changes)
        contents = LayerContents(lower_fd, upper_fd, _MOST_FILE_BYTES)
        space = Workspace([self._box.root, *self._layers()], lower, after, contents)
        reader = GitReader(space, Path(scratch), self._run, follows_remotes)
        try:
            git = reader.read(effects)
        except (UnreadableError, OSError, ValueError, LookupError) as error:
            # A repository may hold anything, and a part that nobody can read is not applied.
            shutil.rmtree(scratch, ignore_errors=True)
            return ReadEffects(effects, why_not=f"git's part of it cannot be read: {error}")
        except BaseException:
            shutil.rmtree(scratch, ignore_errors=True)
            raise
        objects = tuple((path, view.new_objects) for path, view in reader.views.items())
        return ReadEffects(replace(effects, git=git), scratch, objects)

    def _run(self, folder: Path, objects: Sequence[str], script: Path) -> str:
        """Run a script of ours; returns what it says where it fails."""
        running: Future[CommandOutcome] = asyncio.run_coroutine_threadsafe(
            self._start(folder, objects, script), self._loop
        )
        outcome = running.result()
        if outcome.ending is not Ending.EXITED:
            return f"it took longer than {_SECONDS:.0f} s"
        return outcome.stderr.decode(errors="replace").strip()

    async def _start(self, folder: Path, objects: Sequence[str], script: Path) -> CommandOutcome:
        box = self._box.over(ScratchFolder(str(folder), objects))
        executor = CommandExecutor(folder, box=box)
        stage = Stage(("sh", str(script)), Profile.WRITE)
        return await executor.run([stage], timeout_seconds=_SECONDS)


class ScratchFolder:
    """A folder of ours, with folders of objects to read."""

    def __init__(self, root: str, objects: Sequence[str] = ()):
        self.root = root
        self._objects = tuple(objects)

    def view(self, git: GitAccess = GitAccess.NONE) -> View:
        del git
        return View(self.root, frozen=self._objects)


def _deletes_files(effects: Effects) -> bool:
    return any(one.after is None and one.loses_content for one in effects.changes)


def _may_be_gits(effects: Effects) -> bool:
    return bool(effects.git.repositories) or any(
        change.path.rpartition("/")[2] in MARKS for change in effects.changes
    )
