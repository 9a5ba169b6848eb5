"""The environment of git in a workspace.

Hooks, filters and aliases of the repository work as they do for a person: what they change is read
before it is applied, or held in place by the box. Nothing of this machine's own settings is in it
but the name of the committer.
"""

import os
import subprocess
from contextlib import suppress

from handrail.executors.git.settings import ALONE, Pairs, as_variables
from handrail.executors.sandbox.ignored import HIDDEN_NAMES

_TRUE = "/bin/true"
_IDENTITY_SECONDS = 5.0
_SETTINGS: Pairs = [
    # These would start processes that outlast the command.
    ("core.fsmonitor", "false"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    ("repack.updateServerInfo", "false"),
    ("core.pager", "cat"),
    ("credential.helper", ""),
    # These reach remotes that a command does not name.
    ("fetch.recurseSubmodules", "false"),
    ("push.recurseSubmodules", "no"),
    # No key is in the box.
    ("push.gpgSign", "false"),
    ("commit.gpgSign", "false"),
    ("tag.gpgSign", "false"),
]
_VARIABLES: Pairs = [
    *ALONE,
    # A prepared message, or plan of a rebase, is taken as it is.
    ("GIT_EDITOR", _TRUE),
    ("GIT_SEQUENCE_EDITOR", _TRUE),
    ("GIT_MERGE_AUTOEDIT", "no"),
]


def git_environment(root: str, identity: Pairs, further: Pairs) -> Pairs:
    """The variables for every program in the workspace `root`, with `further` settings."""
    ceiling = ("GIT_CEILING_DIRECTORIES", os.path.dirname(root))
    return [*_VARIABLES, ceiling, *git_settings(root, [*identity, *further])]


def git_settings(root: str, further: Pairs) -> Pairs:
    """The settings for git alone, for programs that choose an editor and the like themselves."""
    hidden = ("core.excludesFile", os.path.join(root, HIDDEN_NAMES))
    return as_variables([*_SETTINGS, hidden, *further])


def own_identity() -> Pairs:
    """The name and address of the person at this machine, by their own settings alone."""
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
