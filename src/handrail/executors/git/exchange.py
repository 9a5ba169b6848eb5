"""The remotes of one git command: it runs against stand-ins, then its pushes are repeated for real.

The box has no network and no credentials. Before the command, git outside the box fetches each
remote. After it, git outside pushes to the remote exactly what was pushed to the stand-in.
"""

import asyncio
import os
import re
import shlex
import tempfile
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Self

from handrail.core.traffic import NO_TRAFFIC, Traffic
from handrail.executors.files.removal import remove
from handrail.executors.git.mirror import Mirror
from handrail.executors.git.outside import NetworkAccess, RemoteError, Target
from handrail.executors.git.settings import Pairs
from handrail.executors.git.stand_in import Change, StandIn
from handrail.executors.git.words import action_in
from handrail.executors.repository.passwords import without_password
from handrail.executors.sandbox.bubblewrap import Mount

_PLACE = "/remotes"
_HOOKS = f"{_PLACE}/hooks"
_MESSAGE_HOOK = "prepare-commit-msg"
_SPECIAL = re.compile(r"[\\&|\n]")
_CLONING, _PUSHING = "clone", "push"
_INSTEAD = ("insteadOf", "pushInsteadOf")


class _Remote(NamedTuple):
    """A remote: its mirror, its stand-in, and the address of the stand-in in the box."""

    mirror: Mirror
    stand_in: StandIn
    address: str


@dataclass(frozen=True, slots=True)
class Exchange:
    """Stand-ins for the remotes of a git command, with the settings and mounts to use them."""

    settings: Pairs
    mounts: tuple[Mount, ...]
    _remotes: tuple[_Remote, ...]
    _pushes: bool

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        mirrors: Path | None,
        targets: Sequence[Target],
        words: Sequence[str],
        access: NetworkAccess,
    ) -> AsyncGenerator[Self]:
        """Make stand-ins for these remotes; they are removed when the block ends.

        Mirrors are kept in the folder `mirrors`, or removed too if that is None. Only a push can
        change a stand-in.

        Raises:
            RemoteError: A remote cannot be reached.
        """
        async with AsyncExitStack() as stack:
            scratch = Path(tempfile.mkdtemp(prefix="handrail-git-"))
            stack.push_async_callback(asyncio.to_thread, _remove, scratch)
            pushes = action_in(words) == _PUSHING
            settings: Pairs = [("protocol.allow", "never"), ("protocol.file.allow", "always")]
            # A hook of the repository could push something else to a stand-in.
            settings.append(("core.hooksPath", _HOOKS))
            hooks = scratch / "hooks"
            hooks.mkdir()
            remotes: list[_Remote] = []
            mounts: list[Mount] = []
            for number, target in enumerate(targets):
                mirror = Mirror(mirrors or scratch / "mirrors", target, access)
                await asyncio.to_thread(mirror.make)
                await stack.enter_async_context(mirror.connected())
                async with mirror.locked():
                    refs, head = await mirror.refresh(words, needs_head=_CLONING in words)
                # git prints such a name in full, and none is the beginning of another.
                place = f"{_PLACE}/{number:03}"
                address, objects = f"file://{place}", f"{place}.objects"
                stand_in = StandIn.make(scratch / str(number), refs, head, objects)
                remotes.append(_Remote(mirror, stand_in, address))
                mounts += [
                    Mount(str(stand_in.folder), place, writable=pushes),
                    Mount(str(mirror.folder / "objects"), objects),
                ]
                _name_in_messages(hooks, address, target.shown[0])
                # As the settings are shown in a box.
                written = without_password(target.url, "url")
                settings += [(f"url.{address}.{key}", written) for key in _INSTEAD]
            mounts.append(Mount(str(hooks), _HOOKS))
            yield cls(settings, tuple(mounts), tuple(remotes), pushes)

    def with_addresses(self, printed: bytes) -> bytes:
        """Replace the addresses of stand-ins by those of the remotes."""
        for remote in self._remotes:
            printed = printed.replace(
                remote.address.encode(), remote.mirror.target.shown[-1].encode()
            )
        return printed

    @property
    def traffic(self) -> Traffic:
        return sum((remote.mirror.git.traffic for remote in self._remotes), start=NO_TRAFFIC)

    async def deliver(self) -> bytes:
        """Push to each remote what was pushed to its stand-in; returns what the servers print.

        Raises:
            RemoteError: A push rewrites or deletes a ref, or a remote refuses it.
        """
        answers: list[bytes] = []
        for mirror, stand_in, _ in self._remotes if self._pushes else ():
            if changes := stand_in.changes():
                async with mirror.locked(), mirror.quarantine():
                    await mirror.take_over(stand_in)
                    await _refuse_losses(mirror, changes)
                    answers.append(await mirror.push(changes, stand_in.push_options()))
        return b"".join(answers)


def _name_in_messages(hooks: Path, address: str, shown: str) -> None:
    """Have the message of a merge name the remote and not its stand-in, as plain git would."""
    hook = hooks / _MESSAGE_HOOK
    script = hook.read_text(encoding="utf-8") if hook.exists() else "#!/bin/sh\n"
    plain = _SPECIAL.sub(r"\\\g<0>", shown.removesuffix(".git"))
    command = shlex.quote(f"s|{re.escape(address)}|{plain}|")
    hook.write_text(f'{script}sed -i {command} "$1"\n', encoding="utf-8")
    hook.chmod(0o755)


def _remove(folder: Path) -> None:
    """Remove a folder of any depth: a command in the box could write to it."""
    fd = os.open(folder.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with suppress(OSError):
            remove(fd, folder.name)
    finally:
        os.close(fd)


async def _refuse_losses(mirror: Mirror, changes: Sequence[Change]) -> None:
    for change in changes:
        if not await mirror.is_forward(change):
            what = "rewrite" if change.new else "delete"
            where = " and ".join(mirror.target.shown)
            raise RemoteError(
                f"the push would {what} {change.ref} at {where}, and others would lose what is"
                " there; nothing was pushed. Fetch and merge or rebase first, or push this yourself"
            )
