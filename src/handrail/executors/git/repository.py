"""What a repository's own files say about its remotes.

They are read by us and not by git: its boxes show settings without the passwords in them, and
nothing that a repository names is run for the question.
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

from handrail.core.errors import CommandExecutionError
from handrail.core.visible import visible
from handrail.executors.git.settings import Pairs
from handrail.executors.repository.places import GIT, SETTINGS, check_place, folders_of, place_of
from handrail.executors.repository.settings import entries_of, read_settings

_MODULES = ".gitmodules"
_BRANCH = "ref: refs/heads/"


class Repository(NamedTuple):
    """The settings and the branch by which git chooses a remote; `modules` is `.gitmodules`."""

    settings: Pairs
    modules: Pairs
    branch: str

    @classmethod
    def at(cls, root: str, folder: str) -> "Repository":
        """The repository that a folder of the workspace `root` belongs to; empty without one.

        Raises:
            CommandExecutionError: It lies outside of the workspace, or a file of it is damaged.
        """
        check_place(root, folder)
        place = place_of(root, folder)
        insides = [*folders_of(f"{place}/{GIT}")]
        # A worktree has its own HEAD, and shares its settings.
        settings = [pair for inside in reversed(insides) for pair in _settings_in(inside)]
        head = _text(f"{insides[0]}/HEAD") if insides else ""
        branch = head.strip().removeprefix(_BRANCH) if head.startswith(_BRANCH) else ""
        return cls(settings, _pairs(f"{place}/{_MODULES}"), branch)


def settings_at(root: str, folder: str) -> Pairs:
    """The settings of a repository; empty where there is none that can be read."""
    with suppress(CommandExecutionError):
        return Repository.at(root, folder).settings
    return []


def _settings_in(inside: str) -> Iterator[tuple[str, str]]:
    for name in SETTINGS:
        yield from _pairs(os.path.join(inside, name))


def _pairs(path: str) -> Pairs:
    try:
        return [(name, value or "") for name, value in entries_of(_text(path))]
    except ValueError as error:
        raise CommandExecutionError(f"{visible(path)} cannot be read: {error}") from error


def _text(path: str) -> str:
    try:
        return read_settings(path) or ""
    except ValueError as error:
        raise CommandExecutionError(f"{visible(path)} cannot be read: {error}") from error
