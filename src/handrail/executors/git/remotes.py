"""Which address a git command would reach, as git itself works it out from a repository's settings.

To ask it runs nothing and reaches nobody. Where more than one address could be meant, none is.
"""

import re
import secrets
from typing import NamedTuple

from handrail.core.box import Profile
from handrail.core.errors import CommandExecutionError
from handrail.core.stage import Stage
from handrail.core.visible import visible
from handrail.executors.git.asking import Look, ask_git
from handrail.executors.git.credentials import Remote
from handrail.executors.git.flags import FLAGS, LEADING, Read
from handrail.executors.repository.line import (
    GIT,
    action_in,
    may_change_its_own,
    runs_git,
    words_of_git,
)

_PUSHING = "push"
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*://.*", re.IGNORECASE | re.DOTALL)
# A name of which no word of another program, and no flag, can be made.
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./-]*")
# `ssh://host/path`, and the shorter `user@host:path`.
_SSH = re.compile(r"(?:git\+)?ssh(?:\+git)?://.*|[^\s/:@-][^\s/:@]*@[^\s/:]+:.*", re.DOTALL)
_MANY = frozenset({"--all", "-m", "--multiple"})
_ENTERING = frozenset({"--recurse-submodules", "--recursive"})
_NEEDS_A_NAME = frozenset(
    {"clone", "submodule add", "remote show", "remote prune", "remote update"}
)
_BY_ADDRESS = frozenset({"clone", "submodule add"})
_DEFAULT = "origin"
_TO_PUSH = " (push)"
_ANY = "any remote that this repository, or a part of it, names"
_AND_PARTS = "and any that parts of it name"


class Destination(NamedTuple):
    """Where git goes to: to one address, and to no other, unless it `goes_on` from there.

    Without an address it may go to any that a repository names.
    """

    address: str = ""
    goes_on: bool = False

    @property
    def remote(self) -> Remote | None:
        """Where a credential can be for.

        Raises:
            CommandExecutionError: It is no address that a credential can be sent to.
        """
        return Remote.of(self.address) if self.address else None

    @property
    def shown(self) -> str:
        """As a person is told of it, without who goes there."""
        if (remote := self.remote) is None:
            return _ANY
        return f"{remote.address} {_AND_PARTS}" if self.goes_on else remote.address


def only_hosts(shown: str) -> tuple[str, ...] | None:
    """What can be reached, by what a person was told; None where that is not all."""
    is_address = shown and not shown.isspace() and " " not in shown
    return (Remote.of(shown).place,) if is_address else None


class RemoteFinder:
    def __init__(self, look: Look):
        self._look = look

    async def find(self, stage: Stage) -> Destination:
        """The one address that it reaches.

        Raises:
            CommandExecutionError: There is none, or it could be one of several.
        """
        sub, words = _reaching(stage)
        _refuse_ssh(words)
        if sub not in FLAGS:
            # Parts are kept at addresses that come with what is fetched.
            return Destination()
        read = _read(sub, words)
        if sub != _PUSHING and not _MANY.isdisjoint(read.flags):
            raise _unclear("it reaches several remotes")
        named = await self._named(sub, read, words, stage.folder)
        if sub == _PUSHING:
            found = await self._pushed_to(named, stage.folder)
        else:
            found = _only(await self._ask(["ls-remote", "--get-url", *named], stage.folder))
        if named and _ADDRESS.fullmatch(named[0]) and found != named[0]:
            raise CommandExecutionError(
                f"the settings of this repository lead {_bare(named[0])} to {_bare(found)}"
                " (url.*.insteadOf or pushInsteadOf); name the intended address, and remove the "
                "setting"
            )
        return Destination(found, goes_on=not _ENTERING.isdisjoint(read.flags))

    async def _named(self, sub: str, read: Read, words: list[str], folder: str) -> list[str]:
        """The address or the remote that is named, at most one of them.

        It is the first operand. No other word may look like one: to another git it could be that.
        """
        remotes = set(await self._ask(["remote"], folder))
        first = [*read.operands[:1]]
        if sub.startswith("remote ") and len(read.operands) > 1:
            raise _unclear("more than one is named")
        if not first and sub in _NEEDS_A_NAME:
            raise _unclear("it names none")
        for word in first:
            is_address = _ADDRESS.fullmatch(word) is not None
            if word in remotes and is_address:
                raise _unclear("the name of a remote is an address")
            if word.startswith("-"):
                raise _unclear("its name looks like a flag")
            if not is_address and sub in _BY_ADDRESS:
                raise _unclear("it names none")
            if not is_address and word not in remotes:
                raise CommandExecutionError(
                    f"this repository has no remote named {visible(word)}; `git remote` lists those"
                    " it has, or give an https address"
                )
        others = {*words, *read.values, *read.operands} - {*first}
        if any(word in remotes or _ADDRESS.fullmatch(word) for word in others):
            raise _unclear("more than one is named")
        return first

    async def _pushed_to(self, named: list[str], folder: str) -> str:
        remote = named[0] if named else await self._own_push_remote(folder)
        if _ADDRESS.fullmatch(remote):
            # What rewrites addresses for pushing only is seen with remotes alone; this one is made
            # up for the question, and nobody can have settings for it.
            name = f"asked-{secrets.token_hex(8)}"
            rows = await self._ask(["-c", f"remote.{name}.url={remote}", "remote", "-v"], folder)
            own = [row.removeprefix(f"{name}\t") for row in rows if row.startswith(f"{name}\t")]
            pushed = [row.removesuffix(_TO_PUSH) for row in own if row.endswith(_TO_PUSH)]
            return _only(pushed)
        if not _NAME.fullmatch(remote):
            raise _unclear("its name could be misread")
        return _only(await self._ask(["remote", "get-url", "--push", "--all", remote], folder))

    async def _own_push_remote(self, folder: str) -> str:
        shape = "--format=%(HEAD)%(push:remotename)"
        for row in await self._ask(["for-each-ref", shape, "refs/heads"], folder):
            if row.startswith("*"):
                return row[1:] or _DEFAULT
        [branch] = await self._ask(["symbolic-ref", "--short", "HEAD"], folder)
        # It has no commit yet.
        for name in (
            f"branch.{branch}.pushremote",
            "remote.pushdefault",
            f"branch.{branch}.remote",
        ):
            found = await self._ask(["config", "--default", "", "--get", name], folder)
            if any(found):
                return found[0]
        return _DEFAULT

    async def _ask(self, words: list[str], folder: str) -> list[str]:
        try:
            said = await ask_git(self._look, words, folder)
        except CommandExecutionError as error:
            raise _unclear(error.message) from error
        return said.decode(errors="surrogateescape").splitlines()


def reaches_remote(stage: Stage) -> bool:
    """Whether it is git that would talk to one."""
    return stage.profile is Profile.NET and runs_git(stage) and GIT in stage.networks


def _reaching(stage: Stage) -> tuple[str, list[str]]:
    """What git does with a remote, and the words behind that."""
    words = words_of_git(stage)
    if words is None or not may_change_its_own(stage):
        raise _unclear("git is started by a program that could pass it more arguments")
    action = action_in(words)
    behind = list(words[words.index(action) + 1 :]) if action else []
    if action in FLAGS:
        return action, behind
    while behind and behind[0] in LEADING:
        behind.pop(0)
    sub = f"{action} {behind[0]}" if behind else action
    if action == "submodule" or sub in FLAGS:
        return sub, behind[1:]
    raise _unclear("it reaches no remote")


def _read(sub: str, words: list[str]) -> Read:
    try:
        return FLAGS[sub].read(words)
    except ValueError as error:
        raise _unclear(
            f"what git {sub} makes of {visible(str(error))} is not known; write flags in full, with"
            " the values they need"
        ) from None


def _refuse_ssh(addresses: list[str]) -> None:
    """Said as it is: that somebody could not tell the remote would send them the wrong way."""
    if any(_SSH.fullmatch(address) for address in addresses):
        raise CommandExecutionError(
            "only https remotes can be reached from the box; ssh would need your keys inside."
            " Give the remote an https address (`git remote set-url NAME https://HOST/PATH`), or"
            " run this yourself"
        )


def _only(rows: list[str]) -> str:
    _refuse_ssh(rows)
    if len(rows) != 1 or not _ADDRESS.fullmatch(rows[0]):
        raise _unclear("git names no address, or several")
    return rows[0]


def _bare(address: str) -> str:
    """Without who goes there."""
    return visible(re.sub(r"\A([^/]*//)[^/]*@", r"\1", address))


def _unclear(why: str) -> CommandExecutionError:
    return CommandExecutionError(
        f"cannot determine which remote this would reach: {why}; "
        "name one remote with an https address"
    )
