"""Which remotes a git command may mean, by its words and the settings of its repository.

git's flags are not parsed. A remote that is found here but not used costs one more fetch; a remote
that is used but not found here cannot be reached from the box.
"""

import asyncio
import posixpath
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from handrail.core.box import Profile
from handrail.core.errors import CommandExecutionError
from handrail.core.stage import Stage
from handrail.core.visible import visible
from handrail.executors.git.address import Address, is_address
from handrail.executors.git.outside import Target, target_of
from handrail.executors.git.repository import Repository
from handrail.executors.git.settings import Pairs
from handrail.executors.git.words import GIT, action_in, runs_git, words_of_git

_URL_SETTING = re.compile(r"remote\.(?P<name>.+)\.(?P<kind>url|pushurl)", re.DOTALL)
# These name a program that talks to the remote, or files with more settings.
_LEADING = re.compile(r"remote\..+\.(?:receivepack|uploadpack|vcs)|include(?:if\..+)?\.path", re.S)
_MODULE_SETTING = re.compile(r"submodule\..+\.url", re.DOTALL)
_ALL = frozenset({"--all", "--multiple", "-m"})
_DEFAULT = "origin"
_PUSHING = "push"
# These do nothing without a remote.
_REMOTE_NEEDED = frozenset({_PUSHING, "fetch", "pull", "clone"})


class Remote(NamedTuple):
    """The URLs of one remote."""

    urls: tuple[str, ...] = ()
    push_urls: tuple[str, ...] = ()


async def find_targets(root: str, stage: Stage) -> tuple[Target, ...]:
    """The remotes that a stage can reach from the workspace `root`.

    Raises:
        CommandExecutionError: An address is not supported, or there is no remote.
    """
    words = words_of_git(stage)
    if words is None:
        raise CommandExecutionError(
            "cannot determine which remote this would reach, because another program starts git;"
            " start git by itself"
        )
    repository = await asyncio.to_thread(Repository.at, root, stage.folder)
    if leading := next((name for name, _ in repository.settings if _LEADING.fullmatch(name)), ""):
        raise CommandExecutionError(
            f"the setting {visible(leading)} of this repository could have git do more at the"
            " remote than the command says; remove it, or run this yourself"
        )
    urls = urls_meant(words, repository)
    if not urls and action_in(words) in _REMOTE_NEEDED:
        raise CommandExecutionError(
            f"git {action_in(words)} finds no remote; name one that `git remote` lists, or an"
            " address such as https://HOST/PATH or git@HOST:PATH"
        )
    pushes = action_in(words) == _PUSHING
    return tuple([await target_of(url, pushes=pushes) for url in urls])


def addresses_in(targets: Iterable[Target]) -> tuple[Address, ...]:
    return tuple(dict.fromkeys(address for target in targets for address in target.leads_to))


def reaches_remote(stage: Stage) -> bool:
    """True if the stage runs git and may connect to a remote."""
    return stage.profile is Profile.NET and runs_git(stage) and GIT in stage.networks


def urls_meant(words: Sequence[str], repository: Repository) -> tuple[str, ...]:
    """The addresses that a git command can reach, as written in its words or settings."""
    remotes = _remotes_in(repository.settings)
    action = action_in(words)
    rest = words[words.index(action) + 1 :] if action else words
    found = [value for word in rest if is_address(value := word.rpartition("=")[2])]
    if action == "submodule":
        origin = remotes.get(_default(remotes, repository, pushes=False), Remote())
        modules = [*repository.modules, *repository.settings]
        urls = [value for name, value in modules if _MODULE_SETTING.fullmatch(name)]
        found += [_resolved(url, *origin.urls[:1]) for url in urls]
        return tuple(dict.fromkeys(found))
    pushes = action == _PUSHING
    named = [word for word in rest if word in remotes]
    takes_all = not _ALL.isdisjoint(rest) or (action == "remote" and "update" in rest)
    if takes_all and not pushes and not named:
        named = [*remotes]
    if not named and not found:
        named = [_default(remotes, repository, pushes=pushes)]
    for remote in (remotes.get(name, Remote()) for name in named):
        found += remote.push_urls or remote.urls if pushes else remote.urls
    return tuple(dict.fromkeys(found))


def _remotes_in(settings: Pairs) -> dict[str, Remote]:
    found: dict[str, Remote] = {}
    for name, value in settings:
        if (match := _URL_SETTING.fullmatch(name)) is None:
            continue
        known = found.setdefault(match["name"], Remote())
        if match["kind"] == "url":
            known = known._replace(urls=(*known.urls, value))
        else:
            known = known._replace(push_urls=(*known.push_urls, value))
        found[match["name"]] = known
    return found


def _default(remotes: dict[str, Remote], repository: Repository, *, pushes: bool) -> str:
    """The remote that git uses if none is named."""
    own = f"branch.{repository.branch}"
    pushing = (f"{own}.pushremote", "remote.pushdefault") if pushes else ()
    settings = dict(repository.settings)
    for name in (*pushing, f"{own}.remote"):
        if value := settings.get(name):
            return value
    return next(iter(remotes)) if len(remotes) == 1 else _DEFAULT


def _resolved(url: str, base: str = "") -> str:
    """The address of a submodule, which may be written relative to that of its repository."""
    if not url.startswith(("./", "../")) or not base:
        return url
    mark = "://" if "://" in base else ":"
    before, _, behind = base.partition(mark)
    host, slash, path = behind.partition("/") if mark == "://" else ("", "", behind)
    joined = posixpath.normpath(posixpath.join("/", path, url)).lstrip("/")
    return f"{before}{mark}{host}{slash}{joined}"
