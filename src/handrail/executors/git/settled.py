"""What leads git to its settings and to its files, which must be the same for as long as it runs.

git starts itself anew for parts of its work, and reads its settings each time. What it writes on
the way, a merge for one, must not become settings; so nothing may lead there from the workspace.
"""

import os
from collections.abc import Iterable, Iterator

from handrail.core.errors import CommandExecutionError
from handrail.core.visible import visible
from handrail.executors.repository.leave import (
    COMMON,
    MODULES,
    SETTINGS,
    TREES,
    modules_of,
    trees_of,
)
from handrail.executors.repository.places import GIT, folders_of, is_among, place_of, way_in
from handrail.executors.repository.settings import Entry, entries_of

WORKTREE = "core.worktree"
_MOST_BYTES = 1 << 20


def refuse_links(root: str, folder: str) -> None:
    """Refuse a repository that is reached, or takes its settings, by a link or from the tree.

    Raises:
        CommandExecutionError: It is so.
    """
    place = place_of(root, folder)
    for path in _ways(f"{place}/{GIT}"):
        plain = os.path.normpath(path)
        if _leads_through_a_link(path):
            raise CommandExecutionError(
                f"{visible(os.path.relpath(plain, root))} is a link or is reached by one, so git "
                f"could read other settings while it runs; replace the link with its target"
            )
        if is_among(plain, [place]) and GIT not in os.path.relpath(plain, place).split("/"):
            raise CommandExecutionError(
                f"this repository is kept in {visible(os.path.relpath(plain, root))}, where git"
                " itself may write its files; keep it in a folder named .git"
            )


def refuse_other_trees(root: str, folder: str, further: Iterable[str]) -> None:
    """Refuse a repository whose files lie elsewhere than it, or within what is git's own.

    `further` are settings of repositories that git could enter.

    Raises:
        CommandExecutionError: There is one, or nobody can tell.
    """
    insides = folders_of(f"{place_of(root, folder)}/{GIT}")
    own = (f"{inside}/{name}" for inside in insides for name in SETTINGS)
    for path in dict.fromkeys((*own, *further)):
        for name, value in _entries(path):
            if name == WORKTREE and not _is_of(root, os.path.dirname(path), value or ""):
                raise CommandExecutionError(
                    f"the setting {WORKTREE} of this repository makes git work in another folder"
                    f" ({visible(value or '')}); remove it, or work in a clone"
                )


def _ways(named: str) -> Iterator[str]:
    """Every name by which git comes to settings of its own, as it is written."""
    if not os.path.lexists(named):
        return
    yield named
    inside = named if os.path.isdir(named) else way_in(named, "gitdir: ")
    if inside is None:
        return
    shared = way_in(f"{inside}/{COMMON}")
    for store in (inside, *([shared] if shared is not None else [])):
        yield store
        for folder in (f"{store}/{MODULES}", f"{store}/{TREES}"):
            yield folder
            yield from _within(folder)
        for one in (store, *modules_of(store), *trees_of(store)):
            yield from (f"{one}/{name}" for name in (*SETTINGS, COMMON))


def _within(folder: str) -> list[str]:
    try:
        return [f"{folder}/{name}" for name in sorted(os.listdir(folder))]
    except OSError:
        return []


def _leads_through_a_link(path: str) -> bool:
    """Whether any part is one, also of those that a `..` leads away from again."""
    ends = [*(at for at, char in enumerate(path) if char == "/" and at), len(path)]
    return any(os.path.islink(path[:end]) for end in ends)


def _is_of(root: str, inside: str, value: str) -> bool:
    """Whether a folder is the one that belongs to a repository, by a way without links."""
    way = os.path.join(inside, value)
    place = os.path.normpath(way)
    is_here = is_among(place, [root]) and GIT not in os.path.relpath(place, root).split("/")
    if not value or not is_here or _leads_through_a_link(way):
        return False
    if os.path.lexists(f"{place}/{GIT}"):
        return next(folders_of(f"{place}/{GIT}"), None) == os.path.realpath(inside)
    # A part that is not checked out at present.
    return f"/{GIT}/{MODULES}/" in inside and place != root


def _entries(path: str) -> list[Entry]:
    try:
        with open(path, "rb") as file:
            content = file.read(_MOST_BYTES + 1)
        if len(content) > _MOST_BYTES:
            raise ValueError(f"it is larger than {_MOST_BYTES:,} bytes")
        return [*entries_of(content.decode(errors="surrogateescape"))]
    except FileNotFoundError:
        return []
    except (OSError, ValueError) as error:
        raise CommandExecutionError(
            f"{visible(path)} cannot be read as settings: {error}"
        ) from error
