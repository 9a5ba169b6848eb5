"""Hidden files that git would call changed: their entries in an index say to overlook them."""

import os
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from handrail.executors.repository.index import GitIndex, name_of, skips_worktree
from handrail.executors.repository.places import GIT

_SLASH = ord("/")


class Overlooking(NamedTuple):
    """An index in which git's skip-worktree flag is set for the entries with these names."""

    content: bytes
    names: frozenset[bytes]


def by_index(hidden: Iterable[str]) -> Mapping[str, list[bytes]]:
    """Each path in every index that may track it: those of all folders above, by their paths."""
    found: dict[str, list[bytes]] = {}
    for path in hidden:
        parts = path.split("/")
        for depth in range(len(parts)):
            above = "".join(f"{part}/" for part in parts[:depth])
            name = os.fsencode(path.removeprefix(above))
            found.setdefault(f"{above}{GIT}/index", []).append(name)
    return found


def overlooking(content: bytes, paths: Collection[bytes]) -> Overlooking | None:
    """The same index for a box that hides these paths; None where it tracks none of them.

    Raises:
        ValueError: It is damaged, or of another kind.
    """
    if not any(path in content for path in paths):
        return None
    index, wanted = GitIndex.parse(content), frozenset(paths)
    names = frozenset(
        name
        for entry in index.entries
        if _is_below(name := name_of(entry), wanted) and not skips_worktree(entry)
    )
    if not names:
        return None
    flagged = index.skipping(names.__contains__, skips=True)
    return Overlooking(flagged.written(flagged.entries), names)


def _is_below(name: bytes, paths: frozenset[bytes]) -> bool:
    return name in paths or any(
        name[:at] in paths for at, sign in enumerate(name) if sign == _SLASH
    )
