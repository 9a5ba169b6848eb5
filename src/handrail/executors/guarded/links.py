"""Links with guarded names: where they lead, at the moment of the question."""

import os
import stat
from collections.abc import Iterable
from typing import NamedTuple

from handrail.executors.sandbox.bubblewrap import is_among


class Link(NamedTuple):
    """A link, by its path from the root, whose target is hidden, or else frozen."""

    path: str
    hides: bool


class Lead(NamedTuple):
    """What a link leads to in the workspace, by its path from the root."""

    link: str
    path: str
    hides: bool
    found: os.stat_result

    @property
    def is_folder(self) -> bool:
        return stat.S_ISDIR(self.found.st_mode)


def follow(root: str, links: Iterable[Link]) -> list[Lead]:
    """Where the links lead that lead to something in the workspace."""
    leads: list[Lead] = []
    for link in links:
        target = os.path.realpath(os.path.join(root, link.path))
        if not target.startswith(f"{root}/"):
            continue
        try:
            found = os.lstat(target)
        except OSError:
            continue
        leads.append(Lead(link.path, os.path.relpath(target, root), link.hides, found))
    return leads


def reached_by(leads: Iterable[Lead], reached: frozenset[str]) -> frozenset[str]:
    """The folders that are hidden because of a link.

    A link in one of those that were `reached` counts only where another one leads there still: else
    two that lead to each other would hide themselves for good.
    """
    todo = [lead for lead in leads if lead.hides and lead.is_folder]
    found: set[str] = set()
    while True:
        left: list[Lead] = []
        before = len(found)
        for lead in todo:
            counts = not is_among(lead.link, reached) or is_among(lead.link, found)
            (found.add(lead.path) if counts else left.append(lead))
        if len(found) == before or not left:
            return frozenset(found)
        todo = left


def lies_in(path: str, folders: set[str]) -> bool:
    """Whether a path lies below one of many folders."""
    parts = path.split("/")
    return any("/".join(parts[:count]) in folders for count in range(1, len(parts)))
