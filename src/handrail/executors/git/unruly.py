"""Settings of a repository that nothing can take the place of, so that git is not run with them."""

import os
import re

from handrail.core.box import Profile
from handrail.core.errors import CommandExecutionError
from handrail.core.stage import Stage
from handrail.core.visible import visible
from handrail.executors.git.settings import Pairs
from handrail.executors.repository.places import GIT, folders_of, place_of

_REACHING = frozenset({"push", "pull", "fetch", "clone", "ls-remote"})
# With these, other settings hold in another folder, or once git itself has changed the branch. What
# they are cannot be listed beforehand; that there are such ones is told whether they hold or not.
_LATER = re.compile(r"includeif\..*", re.DOTALL)
_INCLUDING = "include.path"
# What is pushed where nobody says what; such settings add up, so that none can be taken back.
_PUSHED = re.compile(r"remote\..*\.push")
# Programs of which all are run that are named anywhere, and those of which the first one is.
_ALL_RUN = "gc.recentobjectshook"
_FIRST_RUN = re.compile(r"remote\..*\.(?:uploadpack|receivepack|vcs)", re.DOTALL)
_MERGING = frozenset({"merge", "pull"})
_MERGE_OPTIONS = re.compile(r"branch\..*\.mergeoptions", re.DOTALL)
_HARMLESS = re.compile(
    r"--(?:no-)?(?:ff|commit|log|stat|summary|squash|signoff|verify|progress|autostash"
    r"|rerere-autoupdate|overwrite-ignore)|--ff-only|--no-edit|-[nq]|--quiet"
)
_OLD_REMOTES = ("remotes", "branches")


def refuse_unruly(stage: Stage, settings: Pairs) -> None:
    """Refuse settings that can become others while git runs, or have it run programs in any case.

    Raises:
        CommandExecutionError: There is one.
    """
    for name, value in settings:
        if _LATER.fullmatch(name):
            raise CommandExecutionError(
                f"this repository has conditional settings ({visible(name)}), so it is unknown "
                f"what git would run; remove that setting"
            )
        # Where nothing can be changed and no program be started, neither matters.
        if stage.profile is Profile.READ:
            continue
        if name == _INCLUDING:
            raise CommandExecutionError(
                f"this repository includes settings from another file ({visible(value)}), which "
                f"may appear or change while git runs; move them into .git/config, and remove "
                f"include.path"
            )
        is_first_run = stage.profile is Profile.NET and _FIRST_RUN.fullmatch(name)
        if name == _ALL_RUN or is_first_run:
            raise CommandExecutionError(
                f"this repository makes git run a program of its own ({visible(name)}), and that "
                f"setting cannot be overridden; remove it"
            )


def refuse_told_pushes(stage: Stage, settings: Pairs) -> None:
    """Refuse a push of which the settings say what it sends, be it what others lose.

    Raises:
        CommandExecutionError: They have it so.
    """
    if "push" not in stage.argv:
        return
    for name, value in settings:
        if _PUSHED.fullmatch(name):
            raise CommandExecutionError(
                f"the setting {visible(name)} of this repository ({visible(value)}) decides what a"
                " push sends, and can make it rewrite or delete the work of others; remove it, "
                "or push yourself"
            )


def refuse_merge_options(stage: Stage, settings: Pairs) -> None:
    """Refuse words that the settings add to a merge, where they could read files or run programs.

    Raises:
        CommandExecutionError: There are some.
    """
    if _MERGING.isdisjoint(stage.argv):
        return
    for name, words in settings:
        added = words.split() if _MERGE_OPTIONS.fullmatch(name) else ()
        if not all(map(_HARMLESS.fullmatch, added)):
            raise CommandExecutionError(
                f"the setting {visible(name)} of this repository changes how git merges "
                f"({visible(words)}); remove it"
            )


def refuse_old_remotes(root: str, stage: Stage) -> None:
    """Refuse to reach any remote where some are kept in files, of which no listing tells.

    Raises:
        CommandExecutionError: There are such files.
    """
    if stage.profile is not Profile.NET and _REACHING.isdisjoint(stage.argv):
        return
    for folder in folders_of(f"{place_of(root, stage.folder)}/{GIT}"):
        for kind in _OLD_REMOTES:
            if name := _first_name(f"{folder}/{kind}"):
                raise CommandExecutionError(
                    f"this repository defines a remote in an old format "
                    f"(.git/{kind}/{visible(name)}),"
                    " which can make every push rewrite the work of others; define it with git"
                    " (`git remote add NAME ADDRESS`) and remove that file, or run this yourself"
                )


def _first_name(folder: str) -> str | None:
    try:
        return next(iter(sorted(os.listdir(folder))), None)
    except OSError:
        return None
