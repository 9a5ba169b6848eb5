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
        """Allow connections to the remote until the block ends."""
        return self.git.connected(self.target, self._access)

    @asynccontextmanager
    async def locked(self) -> AsyncGenerator[None]:
        """Lock it against other processes and calls."""
        fd = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            await _lock(fd)
            _remove_locks(self.folder)
            yield
        finally:
            os.close(fd)

    async def refresh(self, named: Iterable[str], *, needs_head: bool) -> tuple[Refs, str]:
        """Fetch the remote; returns its refs and its default branch.

        Words in `named` such as `pull/12/head` are fetched too, if the remote has such a ref.
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
        """Keep new objects out of the mirror, which other calls use, until the block ends."""
        with tempfile.TemporaryDirectory(prefix="handrail-git-") as folder:
            self.git.quarantine = folder
            try:
                yield
            finally:
                self.git.quarantine = None

    async def take_over(self, stand_in: StandIn) -> None:
        """Copy the objects that were pushed to a stand-in; git computes each hash again.

        Raises:
            RemoteError: An object is corrupt.
        """
        for path in stand_in.packs():
            fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                await self.git.run("index-pack", "--stdin", "--strict", stdin=fd)
            finally:
                os.close(fd)

    async def is_forward(self, change: Change) -> bool:
        """True if the change creates a ref or fast-forwards a branch."""
        if not change.new:
            return False
        if not change.old:
            return True
        is_branch = change.ref.startswith("refs/heads/")
        words = ("merge-base", "--is-ancestor", change.old, change.new)
        return is_branch and await self.git.succeeds(*words)

    async def push(self, changes: Sequence[Change], options: Sequence[str]) -> bytes:
        """Push all changes or none; returns what the server prints.

        Raises:
            RemoteError: The remote refuses, or its refs have changed since they were fetched.
        """
        words = ["push", "--quiet", "--no-verify", *(["--atomic"] if len(changes) > 1 else [])]
        words += [f"--push-option={option}" for option in options]
        words += [f"--force-with-lease={change.ref}:{change.old}" for change in changes]
        specs = [f"{change.new}:{change.ref}" for change in changes]
        return (await self.git.run(*words, REMOTE, *specs)).err

    def make(self) -> None:
        """Make its folder if there is none yet, and remove mirrors that are no longer used."""
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
        """The refs of the remote that these words name, without branches and tags."""
        said = await self.git.run("ls-remote", REMOTE, *words)
        names = [row.partition("\t")[2] for row in said.out.decode(errors="replace").splitlines()]
        meant = {word if word.startswith("refs/") else f"refs/{word}" for word in words}
        return [name for name in names if name in meant and not name.startswith(_KNOWN)]

    async def _forget_others(self) -> None:
        """Delete refs that an earlier command has fetched, other than branches and tags."""
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
    """Remove mirrors without use for 30 days; they can be fetched again."""
    long_ago = time.time() - _UNUSED_SECONDS
    for path in parent.iterdir():
        with suppress(OSError):
            if path.stat().st_mtime < long_ago:
                shutil.rmtree(path)


def _remove_locks(folder: Path) -> None:
    """Remove the lock files of a killed git; no other git runs here while we hold the lock."""
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
