"""The workspace as git's reader sees it: the folder itself, and with an upper layer over it."""

import errno
import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from handrail.core.effects import Effect
from handrail.core.files import EntryKind
from handrail.executors.git_effects.trees import UnreadableError
from handrail.executors.rehearsal.nodes import PIECE, READ, kind_of, stat_of
from handrail.executors.rehearsal.way import LISTED, Way

_MOST_FILES = 100_000
_MOST_DEPTH = 60
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class FolderTree:
    """A folder, of which no link is followed."""

    def __init__(self, root_fd: int):
        self._root_fd = root_fd

    def read(self, path: str, most: int) -> bytes | None:
        fd = self._open(path)
        if fd is None:
            return None
        with os.fdopen(fd, "rb") as file:
            content = file.read(most + 1)
        if len(content) > most:
            raise UnreadableError(f"{path} is larger than {most:,} bytes")
        return content

    def files(self, folder: str) -> list[str]:
        found: list[str] = []
        for path in self._below(folder, 0):
            found.append(path)
            if len(found) > _MOST_FILES:
                raise UnreadableError(f"{folder} holds more than {_MOST_FILES:,} files")
        return found

    def is_folder(self, path: str) -> bool:
        found = self._stat(path)
        return found is not None and stat.S_ISDIR(found.st_mode)

    def is_executable(self, path: str) -> bool:
        found = self._stat(path)
        return found is not None and stat.S_ISREG(found.st_mode) and bool(found.st_mode & 0o111)

    def copy(self, path: str, place: Path) -> None:
        source = self._open(path)
        if source is None:
            raise UnreadableError(f"{path} is gone")
        with os.fdopen(source, "rb") as file, os.fdopen(os.open(place, _CREATE, 0o600), "wb") as to:
            while piece := file.read(PIECE):
                to.write(piece)

    def _open(self, path: str) -> int | None:
        """The file at a path; None where there is none."""
        found = self._stat(path)
        if found is None or stat.S_ISDIR(found.st_mode):
            return None
        if kind_of(found) is not EntryKind.FILE:
            raise UnreadableError(f"{path} is no plain file")
        with Way(self._root_fd) as way:
            folder_fd, name = way.folder_of(path)
            return os.open(name, READ, dir_fd=folder_fd)

    def _stat(self, path: str) -> os.stat_result | None:
        with Way(self._root_fd) as way:
            try:
                return stat_of(*way.folder_of(path))
            except FileNotFoundError:
                return None
            except OSError as error:
                if error.errno == errno.ENOTDIR and not self._leads_through_link(path):
                    return None
                raise UnreadableError(f"{path} cannot be read: {error.strerror}") from error

    def _leads_through_link(self, path: str) -> bool:
        parts = path.split("/")
        for number in range(1, len(parts)):
            found = self._stat("/".join(parts[:number]))
            if found is not None and not stat.S_ISDIR(found.st_mode):
                return stat.S_ISLNK(found.st_mode)
        return False

    def _below(self, folder: str, depth: int) -> Iterator[str]:
        if depth > _MOST_DEPTH:
            raise UnreadableError(f"{folder} goes deeper than {_MOST_DEPTH} folders")
        if not self.is_folder(folder):
            return
        with Way(self._root_fd) as way:
            fd = os.open(".", LISTED, dir_fd=way.folder(folder))
            try:
                with os.scandir(fd) as entries:
                    found = [(one.name, one.is_dir(follow_symlinks=False)) for one in entries]
            finally:
                os.close(fd)
        for name, is_folder in sorted(found):
            path = f"{folder}/{name}"
            if is_folder:
                yield from self._below(path, depth + 1)
            else:
                yield path


class LayeredTree:
    """The folder after the `changes`, which lie in the `upper` layer."""

    def __init__(self, lower: FolderTree, upper: FolderTree, changes: Iterable[Effect]):
        self._lower = lower
        self._upper = upper
        self._changes = {change.path: change.after for change in changes}

    def read(self, path: str, most: int) -> bytes | None:
        if path not in self._changes:
            return self._lower.read(path, most)
        after = self._changes[path]
        if after is None or after.kind is EntryKind.DIRECTORY:
            return None
        return self._upper.read(path, most)

    def files(self, folder: str) -> list[str]:
        left = {path for path in self._lower.files(folder) if path not in self._changes}
        come = {
            path
            for path, after in self._changes.items()
            if path.startswith(f"{folder}/") and after and after.kind is not EntryKind.DIRECTORY
        }
        return sorted(left | come)

    def is_folder(self, path: str) -> bool:
        if path not in self._changes:
            return self._lower.is_folder(path)
        after = self._changes[path]
        return after is not None and after.kind is EntryKind.DIRECTORY

    def is_executable(self, path: str) -> bool:
        if path not in self._changes:
            return self._lower.is_executable(path)
        after = self._changes[path]
        return after is not None and after.is_executable

    def copy(self, path: str, place: Path) -> None:
        self._upper.copy(path, place)
