"""Which address a git command would reach, as git itself works it out from a repository's settings.

To ask it runs nothing and reaches nobody. Where more than one address could be meant, none is.
"""

import re
import secrets
from collections.abc import Awaitable, Callable

from handrail.core.box import Profile
from handrail.core.errors import CommandExecutionError
from handrail.core.hands import CommandOutcome, Ending
from handrail.core.stage import Stage
from handrail.core.visible import visible
from handrail.executors.git.line import may_change_its_own
from handrail.executors.git.unruly import REACHING

_GIT = "git"
_PUSHING = "push"
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*://.*", re.IGNORECASE | re.DOTALL)
# A name of which no word of another program, and no flag, can be made.
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./-]*")
# `ssh://host/path`, and the shorter `user@host:path`.
_SSH = re.compile(r"(?:git\+)?ssh(?:\+git)?://.*|[^\s/:@-][^\s/:@]*@[^\s/:]+:.*", re.DOTALL)
_MANY = frozenset({"--all", "--multiple"})
_DEFAULT = "origin"
_TO_PUSH = " (push)"
# What stands behind these is their value.
_WITH_VALUE = frozenset(
    [
        *("-o", "--push-option", "--server-option", "--repo", "--receive-pack", "--exec"),
        *("--upload-pack", "--depth", "--deepen", "--shallow-since", "--shallow-exclude"),
        *("--refmap", "--negotiation-tip", "-j", "--jobs", "-s", "--strategy", "-X"),
        *("--strategy-option", "--cleanup"),
    ]
)


class RemoteFinder:
    """`look` runs a command in the box in which nothing can be changed."""

    def __init__(self, look: Callable[[Stage], Awaitable[CommandOutcome]]):
        self._look = look

    async def find(self, stage: Stage) -> str:
        """The one address that it reaches.

        Raises:
            CommandExecutionError: There is none, or it could be one of several.
        """
        sub, words = _reaching(stage)
        _refuse_ssh(words)
        if sub != _PUSHING and not _MANY.isdisjoint(words):
            raise _unclear("it reaches several remotes")
        named = await self._named(words, stage.folder)
        if not named and sub != "clone" and (unknown := _first_operand(words)):
            raise _unclear(f"{visible(unknown)} is no remote of this repository")
        if sub == "clone" and not named:
            raise _unclear("it names none")
        if sub == _PUSHING:
            found = await self._pushed_to(named, stage.folder)
        else:
            found = _only(await self._ask(["ls-remote", "--get-url", *named], stage.folder))
        if named and _ADDRESS.fullmatch(named[0]) and found != named[0]:
            raise CommandExecutionError(
                f"the settings of this repository lead {_bare(named[0])} to {_bare(found)}"
                " (url.*.insteadOf or pushInsteadOf); name the address that is meant, and take the"
                " setting out"
            )
        return found

    async def _named(self, words: list[str], folder: str) -> list[str]:
        """The address or the remote that is named, at most one of them."""
        remotes = set(await self._ask(["remote"], folder))
        named = [word for word in words if word in remotes or _ADDRESS.fullmatch(word)]
        if len(set(named)) > 1:
            raise _unclear("more than one is named")
        if any(word.startswith("-") for word in named):
            raise _unclear("it has the name of a flag")
        if any(word in remotes and _ADDRESS.fullmatch(word) for word in named):
            raise _unclear("a remote has an address for its name")
        return named[:1]

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
        stage = Stage((_GIT, *words), Profile.READ, folder=folder, programs=(_GIT,))
        outcome = await self._look(stage)
        if outcome.ending is not Ending.EXITED or outcome.exit_code or outcome.stdout_lost:
            raise _unclear(outcome.stderr.decode(errors="replace").strip()[:200] or "git fails")
        return outcome.stdout.decode(errors="surrogateescape").splitlines()


def reaches_remote(stage: Stage) -> bool:
    """Whether it is git that would talk to one, by words of which each was seen."""
    return (
        stage.profile is Profile.NET
        and may_change_its_own(stage)
        and not REACHING.isdisjoint(stage.argv)
    )


def action_of(stage: Stage) -> str:
    """What it does with a remote.

    Raises:
        CommandExecutionError: It reaches none.
    """
    return _reaching(stage)[0]


def _reaching(stage: Stage) -> tuple[str, list[str]]:
    """The subcommand that reaches a remote, and the words behind it."""
    for place, word in enumerate(stage.argv):
        if word in REACHING:
            return word, list(stage.argv[place + 1 :])
    raise _unclear("it reaches no remote")


def _first_operand(words: list[str]) -> str | None:
    pairs = zip(["", *words], words, strict=False)
    operands = (
        word for flag, word in pairs if not word.startswith("-") and flag not in _WITH_VALUE
    )
    return next(operands, None)


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
        f"nobody can tell which remote this would reach: {why}; name one remote, by https"
    )
