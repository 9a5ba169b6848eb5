"""git without the programs that a repository would have it run.

A repository's own configuration names filters, hooks, drivers and helpers, and whoever may write to
a workspace can plant them. Settings that come by the environment stand above those of every file.
The box holds in any case; this keeps what was approved from being something else as well.
"""

import asyncio
import os
import re
import subprocess
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress

from handrail.core.box import Profile
from handrail.core.errors import CommandExecutionError
from handrail.core.outcome import CommandOutcome, Ending
from handrail.core.stage import Stage
from handrail.executors.git.named_files import without_files_elsewhere
from handrail.executors.git.rehearsed import rehearsed_environment
from handrail.executors.git.settings import ALONE, LIST_SETTINGS, Pairs, as_variables, pairs_in
from handrail.executors.git.settled import WORKTREE, refuse_links, refuse_other_trees
from handrail.executors.git.under_way import refuse_foreign_plans
from handrail.executors.git.unruly import (
    refuse_merge_options,
    refuse_old_remotes,
    refuse_told_pushes,
    refuse_unruly,
)
from handrail.executors.repository.line import GIT, words_of_git
from handrail.executors.repository.needs import is_about_any_files
from handrail.executors.repository.places import check_place

_IDENTITY_SECONDS = 5.0
_MOST_WORDS_OF_GIT = 500
_FALSE = "/bin/false"
_TRUE = "/bin/true"
_SETTINGS: Pairs = [
    ("core.fsmonitor", "false"),
    ("core.hooksPath", os.devnull),
    ("core.attributesFile", os.devnull),
    ("core.pager", "cat"),
    ("core.editor", _FALSE),
    ("core.askPass", _FALSE),
    ("core.sshCommand", _FALSE),
    ("core.gitProxy", _FALSE),
    ("core.alternateRefsCommand", _TRUE),
    ("sequence.editor", _FALSE),
    # By this each line of a plan is written: with a new line in it, one that names a program.
    ("rebase.instructionFormat", ""),
    ("diff.external", ""),
    ("diff.ignoreSubmodules", "all"),
    ("submodule.recurse", "false"),
    ("fetch.all", "false"),
    ("fetch.recurseSubmodules", "false"),
    ("push.recurseSubmodules", "no"),
    # An empty one clears those that were set before.
    ("push.pushOption", ""),
    # What is sent where the words do not say it: this branch, to its own name.
    ("push.default", "simple"),
    ("push.followTags", "false"),
    ("interactive.diffFilter", "cat"),
    ("credential.helper", ""),
    ("transfer.bundleURI", "false"),
    ("gpg.program", _FALSE),
    ("gpg.openpgp.program", _FALSE),
    ("gpg.ssh.program", _FALSE),
    ("gpg.ssh.defaultKeyCommand", _FALSE),
    ("gpg.x509.program", _FALSE),
    ("log.showSignature", "false"),
    ("commit.gpgSign", "false"),
    ("tag.gpgSign", "false"),
    ("push.gpgSign", "false"),
    ("protocol.allow", "never"),
    ("safe.bareRepository", "explicit"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    ("repack.updateServerInfo", "false"),
]
_VARIABLES: Pairs = [
    *ALONE,
    ("GIT_EDITOR", _FALSE),
    ("GIT_SEQUENCE_EDITOR", _FALSE),
    ("GIT_PROTOCOL_FROM_USER", "0"),
]
# Settings whose names somebody has chosen freely, and what they are set to. A name may be empty.
_FREE: list[tuple[re.Pattern[str], str]] = [
    (re.compile(r"alias\..+"), ""),
    (re.compile(r"filter\..*\.(?:clean|smudge|process)"), ""),
    (re.compile(r"filter\..*\.required"), "false"),
    (re.compile(r"diff\..*\.textconv"), "cat"),
    (re.compile(r"diff\..*\.cachetextconv"), "false"),
    (re.compile(r"diff\..*\.command"), _FALSE),
    (re.compile(r"merge\..*\.driver"), _FALSE),
    (re.compile(r"hook\..*\.command"), _TRUE),
    (re.compile(r"(?:tar|trailer)\..*\.(?:command|cmd)"), _FALSE),
    (re.compile(r"(?:browser|difftool|man|mergetool)\..*\.(?:cmd|path)"), _FALSE),
    (re.compile(r"credential\..*\.helper"), ""),
    (re.compile(r"remote\..*\.mirror"), "false"),
    (re.compile(r"submodule\..*\.update"), "checkout"),
    # Where files are written, and under which names, is for the words of a command to say.
    (re.compile(r"format\.outputdirectory"), "."),
    (re.compile(r"format\.suffix"), ".patch"),
    (re.compile(r"http\.(?:.*\.)?savecookies"), "false"),
    (re.compile(r"http\.(?:.*\.)?cookiefile"), ""),
    (re.compile(r"init\.templatedir"), ""),
    (re.compile(r"pager\..+"), "false"),
    (re.compile(r"help\.autocorrect"), "0"),
]


class GitGuard:
    """git in the workspace `root`; `own` are settings of ours, such as the name it commits under.

    `look` runs a command as the executor itself would, and `find` tells of all files of settings
    that git could read from a folder; without them, nobody looks what the settings are. Who only
    `lists` them for us sees the settings themselves, and not a copy: their names are what counts.
    """

    def __init__(
        self,
        root: str,
        own: Pairs | None = None,
        look: Callable[[Stage, "GitGuard"], Awaitable[CommandOutcome]] | None = None,
        find: Callable[[str], Awaitable[Sequence[str]]] | None = None,
        *,
        lists: bool = False,
    ):
        self.lists = lists
        self._root = root
        self._own = own or []
        self._look = look
        self._find = find

    @property
    def rehearsed(self) -> Pairs:
        """The environment variables of git in a rehearsal."""
        return rehearsed_environment(self._root, self._own)

    def environment(self, stage: Stage, found: Pairs, last: Pairs | None = None) -> Pairs:
        """What git is given so that it runs nothing but itself, and stays in the workspace.

        `found` are the settings in use; those that come `last` hold against all others.

        Raises:
            CommandExecutionError: They would have git do more than its words say.
        """
        refuse_told_pushes(stage, found)
        refuse_merge_options(stage, found)
        instead = without_files_elsewhere(self._root, stage, found)
        ceiling = ("GIT_CEILING_DIRECTORIES", os.path.dirname(self._root))
        # In a box a remote is a stand-in, which is a file; without a box it is reached directly.
        protocols = ("GIT_ALLOW_PROTOCOL", "file" if last else "https:http")
        disarmed = _disarmed(name for name, _ in found)
        settings = as_variables([*_SETTINGS, *self._own, *disarmed, *instead, *(last or [])])
        return [*_VARIABLES, ceiling, protocols, *settings, *_without_repository(self._root, stage)]

    async def settings_in_use(self, stage: Stage) -> Pairs:
        """Every setting that could come to hold, as it is; to list them runs nothing.

        Raises:
            CommandExecutionError: The repository lies elsewhere, or nobody can tell what it would
                have git run.
        """
        await asyncio.to_thread(check_place, self._root, stage.folder)
        await asyncio.to_thread(refuse_old_remotes, self._root, stage)
        if stage.profile is not Profile.READ:
            await asyncio.to_thread(refuse_links, self._root, stage.folder)
            plan = (self._root, stage.folder, words_of_git(stage))
            await asyncio.to_thread(refuse_foreign_plans, *plan)
        if self._look is None:
            return []
        listing = Stage((GIT, *LIST_SETTINGS), Profile.READ, folder=stage.folder)
        elsewhere = await self._settings_elsewhere(stage)
        outcome = await self._look(listing, GitGuard(self._root, elsewhere, lists=True))
        if outcome.ending is not Ending.EXITED or outcome.exit_code or outcome.stdout_lost:
            words = outcome.stderr.decode(errors="replace").strip()[:_MOST_WORDS_OF_GIT]
            raise CommandExecutionError(
                f"the settings of this repository cannot be read: {words or 'there are too many'}"
            )
        found = pairs_in(outcome.stdout)
        # Once for each that is ours: whoever includes the same file, includes it once more.
        refuse_unruly(stage, [*(Counter(found) - Counter(elsewhere)).elements()])
        if any(name == WORKTREE for name, _ in found):
            files = [path for _, path in elsewhere]
            await asyncio.to_thread(refuse_other_trees, self._root, stage.folder, files)
        return found

    async def _settings_elsewhere(self, stage: Stage) -> Pairs:
        """Those of all repositories that it can read: git enters submodules by itself.

        Where no program can be started, none of them can name one.
        """
        if self._find is None or stage.profile is Profile.READ:
            return []
        return [("include.path", path) for path in await self._find(stage.folder)]


def own_identity() -> Pairs:
    """Under which name the person at this machine commits, by their own settings alone."""
    found: Pairs = []
    for name in ("user.name", "user.email"):
        with suppress(OSError, subprocess.SubprocessError):
            told = subprocess.run(
                ["git", "config", "--global", "--get", name],
                cwd="/",
                capture_output=True,
                text=True,
                timeout=_IDENTITY_SECONDS,
                check=True,
            )
            found.append((name, told.stdout.strip()))
    return found


def _without_repository(root: str, stage: Stage) -> Pairs:
    """What is about no repository looks for no settings of one; it could not read them."""
    return [("GIT_DIR", os.devnull)] if is_about_any_files(root, stage) else []


def _disarmed(names: Iterable[str]) -> Pairs:
    """Settings that take the place of those with a free name, each under its own."""
    return [
        (name, value)
        for name in dict.fromkeys(names)
        for pattern, value in _FREE
        if pattern.fullmatch(name)
    ]
