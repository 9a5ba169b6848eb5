"""A mirror of a remote on this machine: its branches, tags and objects, in a folder of ours."""

import asyncio
import fcntl
import hashlib
import os
import re
import shutil
import tempfile
import time
from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from pathlib import Path

from handrail.executors.git.outside import REMOTE, NetworkAccess, OutsideGit, Target, make_bare
from handrail.executors.git.stand_in import Change, Refs, StandIn
from handrail.executors.processes.memory import in_memory

_LOCK_SECONDS = 0.05
_UNUSED_SECONDS = 30 * 86_400
_NAMED_CHARS = 32
_HEAD = re.compile(r"^ref: (?P<ref>refs/heads/\S+)\tHEAD$", re.MULTILINE)
_KNOWN = ("refs/heads/", "refs/tags/")
_DEFAULT_HEAD = "refs/heads/main"
# A name that is no branch or tag, such as `pull/12/head`.
_OTHER_REF = re.compile(r"(?:refs/)?[A-Za-z0-9][A-Za-z0-9_.-]*(?:/[A-Za-z0-9_.-]+)+")
_FETCHING = ("--quiet", "--prune", "--no-tags", "--no-write-fetch-head", "--force")


class Mirror:
    """The mirror of one remote; `folder` holds it, under a name made from the address."""

    def __init__(self, folder: Path, target: Target, access: NetworkAccess):
        key = hashlib.sha256("\n".join(target.shown).encode()).hexdigest()[:_NAMED_CHARS]
        self.folder = folder / key
        self.target = target
        self.git = OutsideGit(str(self.folder), target.url)
        self._access = access

    def connected(self) -> AbstractAsyncContextManager[None]:
        """Let it reach the remote as long as the block runs."""
        return self.git.connected(self.target, self._access)

    @asynccontextmanager
    async def held(self) -> AsyncGenerator[None]:
        """Keep others from changing it meanwhile."""
        fd = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            await _lock(fd)
            _remove_locks(self.folder)
            yield
        finally:
            os.close(fd)

    async def refresh(self, named: Iterable[str], *, needs_head: bool) -> tuple[Refs, str]:
        """The refs of the remote as they are now, and the branch it shows first.

        Of the `named` words, those are fetched as well that name another ref there.
        """
        await self._forget_others()
        specs = ["refs/heads/*:refs/heads/*", "refs/tags/*:refs/tags/*"]
        if others := [word for word in named if _OTHER_REF.fullmatch(word)]:
            specs += [f"{ref}:{ref}" for ref in await self._listed(others)]
        await self.git.run("fetch", *_FETCHING, REMOTE, *specs)
        head = await self._head() if needs_head else _DEFAULT_HEAD
        return await self._refs(), head

    @asynccontextmanager
    async def quarantine(self) -> AsyncGenerator[None]:
        """Keep objects that are taken over meanwhile out of the mirror; others use it as well."""
        with tempfile.TemporaryDirectory(prefix="handrail-git-") as folder:
            self.git.quarantine = folder
            try:
                yield
            finally:
                self.git.quarantine = None

    async def take_over(self, stand_in: StandIn) -> None:
        """The objects that were pushed to a stand-in, each by a hash that git works out again.

        Raises:
            RemoteError: One is not what its name says.
        """
        for path in stand_in.packs():
            fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                await self.git.run("index-pack", "--stdin", "--strict", stdin=fd)
            finally:
                os.close(fd)

    async def is_forward(self, change: Change) -> bool:
        """Whether a change takes nothing away from the remote."""
        if not change.new:
            return False
        if not change.old:
            return True
        is_branch = change.ref.startswith("refs/heads/")
        words = ("merge-base", "--is-ancestor", change.old, change.new)
        return is_branch and await self.git.succeeds(*words)

    async def push(self, changes: Sequence[Change], options: Sequence[str]) -> bytes:
        """Do to the remote what was done to its stand-in: all of it, or nothing; what it answers.

        Raises:
            RemoteError: The remote refuses, or is no longer as it was.
        """
        words = ["push", "--quiet", "--no-verify", *(["--atomic"] if len(changes) > 1 else [])]
        words += [f"--push-option={option}" for option in options]
        words += [f"--force-with-lease={change.ref}:{change.old}" for change in changes]
        specs = [f"{change.new}:{change.ref}" for change in changes]
        return (await self.git.run(*words, REMOTE, *specs)).err

    def make(self) -> None:
        """Make its folder, where there is none yet."""
        parent = self.folder.parent
        parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not self.folder.is_dir():
            _remove_unused(parent)
        make_bare(self.folder)
        os.utime(self.folder)

    async def _head(self) -> str:
        said = await self.git.run("ls-remote", "--symref", REMOTE, "HEAD")
        match = _HEAD.search(said.out.decode(errors="replace"))
        return match["ref"] if match else _DEFAULT_HEAD

    async def _listed(self, words: Sequence[str]) -> list[str]:
        """Which refs of the remote, beside branches and tags, are meant by these words."""
        said = await self.git.run("ls-remote", REMOTE, *words)
        names = [row.partition("\t")[2] for row in said.out.decode(errors="replace").splitlines()]
        meant = {word if word.startswith("refs/") else f"refs/{word}" for word in words}
        return [name for name in names if name in meant and not name.startswith(_KNOWN)]

    async def _forget_others(self) -> None:
        """Refs that are neither branches nor tags; an earlier command has named them."""
        others = [name for name in await self._refs() if not name.startswith(_KNOWN)]
        if others:
            told = "".join(f"delete {name}\n" for name in others)
            with in_memory(os.fsencode(told)) as fd:
                await self.git.run("update-ref", "--stdin", stdin=fd)

    async def _refs(self) -> Refs:
        said = await self.git.run("for-each-ref", "--format=%(objectname) %(refname)")
        rows = (row.partition(" ") for row in os.fsdecode(said.out).splitlines())
        return {name: value for value, _, name in rows}


def _remove_unused(parent: Path) -> None:
    """A mirror can always be fetched again."""
    long_ago = time.time() - _UNUSED_SECONDS
    for path in parent.iterdir():
        with suppress(OSError):
            if path.stat().st_mtime < long_ago:
                shutil.rmtree(path)


def _remove_locks(folder: Path) -> None:
    """What git left behind that was killed; none runs here while we hold the lock."""
    for path in (*folder.glob("*.lock"), *(folder / "refs").rglob("*.lock")):
        path.unlink()


async def _lock(fd: int) -> None:
    """Wait for a lock without holding a thread, so that the wait can be cancelled."""
    while True:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            await asyncio.sleep(_LOCK_SECONDS)
        else:
            return
