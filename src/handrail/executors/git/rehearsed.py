"""The environment of git in a rehearsal, where nothing that it runs is real.

Hooks, filters and aliases of the repository work there as they do for a person. Nothing of this
machine's own settings is in it but the name of the committer.
"""

import os

from handrail.executors.git.settings import ALONE, Pairs, as_variables
from handrail.executors.sandbox.ignored import HIDDEN_NAMES

_TRUE = "/bin/true"
_SETTINGS: Pairs = [
    # These would start processes that outlast the command.
    ("core.fsmonitor", "false"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    ("core.pager", "cat"),
    ("credential.helper", ""),
    # No key is in the box.
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


def rehearsed_environment(root: str, identity: Pairs) -> Pairs:
    """The variables for every program of a rehearsal in the workspace `root`."""
    ceiling = ("GIT_CEILING_DIRECTORIES", os.path.dirname(root))
    hidden = ("core.excludesFile", os.path.join(root, HIDDEN_NAMES))
    return [*_VARIABLES, ceiling, *as_variables([*_SETTINGS, hidden, *identity])]
