"""Which words of a command are git's: by them remotes are found, and nothing is allowed."""

from collections.abc import Sequence

from handrail.core.box import Profile
from handrail.core.stage import Stage
from handrail.executors.processes.programs import SEARCH_PATH

GIT = "git"
_PROGRAMS = (GIT, *(f"{folder}/{GIT}" for folder in SEARCH_PATH))


def is_git(stage: Stage) -> bool:
    return stage.argv[0] in _PROGRAMS


def runs_git(stage: Stage) -> bool:
    """True if it runs the system's git, or a program that does."""
    return is_git(stage) or GIT in stage.programs


def changes_git(stage: Stage) -> bool:
    return runs_git(stage) and stage.profile is not Profile.READ


def words_of_git(stage: Stage) -> tuple[str, ...] | None:
    """The words behind the first that names git, as in `timeout 5 git push`; None without one."""
    for at, word in enumerate(stage.argv):
        if word in _PROGRAMS:
            return stage.argv[at + 1 :]
    return None


def action_in(words: Sequence[str]) -> str:
    """The command of git; empty without one."""
    return next((word for word in words if not word.startswith("-")), "")
