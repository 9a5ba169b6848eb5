"""What of its repository a git command may see and change, by its words."""

import os
import re

from handrail.core.stage import Stage
from handrail.executors.repository.leave import Leave
from handrail.executors.repository.line import (
    action_in,
    action_of,
    may_change_its_own,
    may_see_its_own,
    words_of_git,
)
from handrail.executors.repository.places import is_among, place_of

# What sets up branches, remotes and parts writes them into the settings; so does what moves a part.
_SETTING = {"branch", "checkout", "init", "mv", "remote", "submodule", "switch", "worktree"}
_SETTING_WHEN_TOLD = {"fetch", "pull", "push"}
_TOLD_TO_SET = re.compile(r"--s|--fi|-[A-Za-z0-9]*u")
# What removes or moves folders that belong to the repository by a file of theirs.
_POINTING = {"mv", "rm", "worktree"}
_ENTERING = re.compile(r"--rec")
# What they write, if anything, is no part of a repository.
_LOOKING = frozenset(
    {
        *("annotate", "archive", "blame", "cat-file", "check-attr", "check-ignore", "cherry"),
        *("count-objects", "describe", "diff", "diff-files", "diff-index", "diff-tree"),
        *("for-each-ref", "format-patch", "grep", "log", "ls-files", "ls-tree", "merge-base"),
        *("name-rev", "range-diff", "rev-list", "rev-parse", "shortlog", "show", "show-ref"),
        *("status", "var", "version", "whatchanged"),
    }
)
_ANY_FILES = "--no-index"
_DIFF = "diff"


def leave_for(stage: Stage) -> Leave:
    """What of its own git must be able to change, by its words."""
    action = action_of(stage)
    if not may_change_its_own(stage) or action in _LOOKING:
        return Leave(repository=False)
    enters = action == "submodule" or any(_ENTERING.match(word) for word in stage.argv)
    sets = action in _SETTING or (
        action in _SETTING_WHEN_TOLD and any(_TOLD_TO_SET.match(word) for word in stage.argv)
    )
    moves = action == "mv"
    return Leave(
        settings=sets or enters,
        pointers=enters or action in _POINTING,
        modules=enters or moves,
        trees=action == "worktree",
    )


def repository_folder(root: str, stage: Stage) -> str | None:
    """Where the repository is looked for of which git may see its own; None if it may see none.

    What compares any two folders reads whatever is in them, settings with passwords included.
    """
    sees = may_see_its_own(stage) and not is_about_any_files(root, stage)
    return stage.folder if sees else None


def is_about_any_files(root: str, stage: Stage) -> bool:
    """Whether it is about no repository; to git, any file outside of one says so for a diff."""
    words = words_of_git(stage)
    seen = stage.argv[1:] if words is None else words
    may_compare = _DIFF in seen if words is None else action_in(words) == _DIFF
    if _ANY_FILES in seen or not may_compare:
        return _ANY_FILES in seen
    place = place_of(root, stage.folder)
    here = os.path.realpath(os.path.join(root, stage.folder))
    paths = (os.path.normpath(os.path.join(here, word)) for word in seen)
    return not all(is_among(path, [place]) for path in paths)
