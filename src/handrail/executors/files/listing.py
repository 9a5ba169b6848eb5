"""Listing a folder: from one open folder to the next, so that no link and no race leads outside.

Folders are opened by their name in a folder that is held open, and never through a link.
"""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from handrail.core.files import EntryKind
from handrail.core.hands import Entry, Listing
from handrail.core.pattern import NamePattern, Standing

# More than this is not looked at, whether it fits or not.
MOST_LOOKED_AT = 200_000
MOST_SECONDS = 10.0
# Every level down holds one more folder open.
MOST_LEVELS = 64
MOST_SKIPPED = 1_000

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class Tour:
    """What to look for below a folder; `may_enter` is asked with a path below it."""

    path: str
    pattern: NamePattern
    may_enter: Callable[[str], bool]
    most: int


def list_folder(fd: int, tour: Tour) -> Listing:
    """Walk through the folder behind `fd`, which stays open, and what lies below it."""
    return _Walk(tour).through(fd)


@dataclass(slots=True)
class _Walk:
    tour: Tour
    entries: list[Entry] = field(default_factory=list[Entry])
    skipped: list[str] = field(default_factory=list[str])
    total: int = 0
    room: int = field(default_factory=lambda: MOST_LOOKED_AT)
    end: float = field(default_factory=lambda: time.monotonic() + MOST_SECONDS)

    def through(self, fd: int) -> Listing:
        self._visit(fd, "", self.tour.pattern.start, 1)
        whole = not self._is_over() and len(self.skipped) <= MOST_SKIPPED
        return Listing(
            tuple(self.entries), self.total, tuple(self.skipped[:MOST_SKIPPED]), whole=whole
        )

    def _is_over(self) -> bool:
        return self.room <= 0 or time.monotonic() > self.end

    def _visit(self, fd: int, way: str, standing: Standing, level: int) -> None:
        pattern = self.tour.pattern
        for found in self._names(fd):
            reached = pattern.step(standing, found.name)
            path = f"{way}{found.name}"
            if pattern.is_match(reached):
                self._take(found, path)
            if pattern.leads_on(reached) and self._may_enter(found, path):
                self._enter(fd, found.name, path, reached, level + 1)

    def _names(self, fd: int) -> list["os.DirEntry[str]"]:
        """What is in a folder, sorted; of one that is too large, what was read of it."""
        found: list[os.DirEntry[str]] = []
        with os.scandir(fd) as reading:
            for entry in reading:
                found.append(entry)
                self.room -= 1
                if self.room <= 0:
                    break
        return sorted(found, key=lambda entry: entry.name)

    def _take(self, found: "os.DirEntry[str]", path: str) -> None:
        if len(self.entries) >= self.tour.most:
            self.total += 1
            return
        try:
            self.entries.append(_entry(found, self._full(path)))
        except FileNotFoundError:
            # It has vanished since the folder was read.
            return
        self.total += 1

    def _may_enter(self, found: "os.DirEntry[str]", path: str) -> bool:
        if self._is_over() or found.name.startswith("."):
            return False
        return found.is_dir(follow_symlinks=False) and self.tour.may_enter(path)

    def _enter(self, fd: int, name: str, path: str, standing: Standing, level: int) -> None:
        """Go on below. What vanished, was closed to us or became a link is skipped and named."""
        try:
            if level > MOST_LEVELS:
                raise OSError("too deep")
            below = os.open(name, _FOLDER, dir_fd=fd)
        except OSError:
            self.skipped.append(self._full(path))
            return
        try:
            self._visit(below, f"{path}/", standing, level)
        except OSError:
            self.skipped.append(self._full(path))
        finally:
            os.close(below)

    def _full(self, path: str) -> str:
        return path if self.tour.path == "." else f"{self.tour.path}/{path}"


def _entry(found: "os.DirEntry[str]", path: str) -> Entry:
    try:
        stat = found.stat(follow_symlinks=False)
    except PermissionError:
        # A folder may show its names and nothing else.
        return Entry(path, _kind(found))
    return Entry(path, _kind(found), stat.st_size, _moment(stat.st_mtime))


def _kind(found: "os.DirEntry[str]") -> EntryKind:
    if found.is_symlink():
        return EntryKind.LINK
    if found.is_dir(follow_symlinks=False):
        return EntryKind.DIRECTORY
    return EntryKind.FILE if found.is_file(follow_symlinks=False) else EntryKind.OTHER


def _moment(seconds: float) -> datetime | None:
    """A file can claim to be from a year that no calendar knows."""
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, ValueError, OSError):
        return None
