"""FoldersBeside: the folders outside a workspace that may be read, each held open as a root."""

import os.path
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Generic, Protocol, TypeVar

from handrail.policy.rulebook.folders import find_beside
from handrail.policy.rulebook.rules import Rules


class Root(Protocol):
    """What holds a folder open, and protects what is in it by rules."""

    def adopt(self, rules: Rules) -> None: ...

    def close(self) -> None: ...


R = TypeVar("R", bound=Root)


class FoldersBeside(Generic[R]):
    """`make` opens a folder by its path."""

    def __init__(self, root: str, make: Callable[[str, Rules], R]):
        self._root = root
        self._make = make
        self._opened: dict[str, R] = {}
        self._shown: dict[str, R] = {}

    def adopt(self, rules: Rules) -> None:
        """Open the folders that these rules name, as far as they exist and no link leads to them.

        One that may no longer be read stays open: a search could still be looking through it.
        """
        own = replace(rules, folders=())
        named = rules.folders_beside(self._root)
        for one in self._opened.values():
            one.adopt(own)
        for folder in named:
            if folder not in self._opened and os.path.realpath(folder) == folder:
                with suppress(OSError):
                    self._opened[folder] = self._make(folder, own)
        self._shown = {path: self._opened[path] for path in named if path in self._opened}

    @property
    def roots(self) -> list[R]:
        """Those that may be read now."""
        return list(self._shown.values())

    def find(self, path: str) -> tuple[R, str] | None:
        """The folder that an absolute path lies in, and the path from there."""
        place = find_beside(path, self._shown) if path.startswith("/") else None
        return None if place is None else (self._shown[place.folder], place.rest)

    def close(self) -> None:
        for one in self._opened.values():
            one.close()
