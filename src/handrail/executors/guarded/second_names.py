"""Files with a second name: a hard link can bring a file of elsewhere into the workspace.

Package managers link whole caches into workspaces, so a second name alone is no offence. Refused
is a file that belongs to a stranger, and one that is a credential of this user or system.
"""

import os
import stat
import threading
import time
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from handrail.core.errors import PathValidationError
from handrail.policy.rulebook.paths import Access
from handrail.policy.rulebook.rules import Rules

# Where a system keeps what only its owner may know.
_SYSTEM = ("/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/etc/ssh", "/etc/ssl/private")
_MOST_LOOKED_AT = 20_000
_FRESH_SECONDS = 30.0

Identity = tuple[int, int]


class SecondNames:
    """Knows by their inodes the files that no second name may make readable."""

    def __init__(self, root_fd: int, rules: Rules, private: Sequence[str | Path] = ()):
        self._owners = {os.geteuid(), os.fstat(root_fd).st_uid}
        self.adopt(rules)
        self._private = [*map(str, private), *_SYSTEM]
        self._known: frozenset[Identity] = frozenset()
        self._looked_at = -_FRESH_SECONDS
        self._looking = threading.Lock()

    def adopt(self, rules: Rules) -> None:
        """Know by other rules from now on what holds secrets."""
        self._rules = [rule for rule in rules.paths if rule.access is Access.ANY]

    def check(self, found: os.stat_result, path: str) -> None:
        """Refuse a file that has more names than the one by which it was opened, if need be."""
        if found.st_uid not in self._owners:
            raise PathValidationError(f"{path} is a hard link to a file of another user")
        if (found.st_dev, found.st_ino) in self._secrets():
            raise PathValidationError(f"{path} is a hard link to a file that contains secrets")

    def are_kept(self, found: os.stat_result) -> bool:
        """Whether a file with several names is one that `check` would refuse."""
        is_strange = found.st_uid not in self._owners
        return is_strange or (found.st_dev, found.st_ino) in self._secrets()

    def _secrets(self) -> frozenset[Identity]:
        with self._looking:
            now = time.monotonic()
            if now - self._looked_at >= _FRESH_SECONDS:
                self._known = frozenset(islice(self._find(), _MOST_LOOKED_AT))
                self._looked_at = now
            return self._known

    def _find(self) -> Iterator[Identity]:
        for place in self._private:
            yield from _files_at(place)
        home = os.path.expanduser("~")
        for path in _two_levels(home):
            name = os.path.relpath(path, home)
            if any(rule.covers(name) for rule in self._rules):
                yield from _files_at(path)


def _two_levels(home: str) -> Iterator[str]:
    """What is in a home, and in its hidden folders: there the credentials are kept."""
    for name in _names_in(home):
        path = os.path.join(home, name)
        yield path
        if name.startswith("."):
            yield from (os.path.join(path, below) for below in _names_in(path))


def _names_in(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))[:_MOST_LOOKED_AT]
    except OSError:
        return []


def _files_at(place: str) -> Iterator[Identity]:
    """The file of that name, or every file below the folder of that name."""
    try:
        found = os.stat(place)
    except OSError:
        return
    if stat.S_ISREG(found.st_mode):
        yield found.st_dev, found.st_ino
    for folder, _, names in os.walk(place):
        for name in names:
            try:
                one = os.stat(os.path.join(folder, name))
            except OSError:
                continue
            yield one.st_dev, one.st_ino
