"""Having git overlook the files that are hidden from a rehearsal, which it would call changed."""

import os
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress

from handrail.core.errors import PathValidationError
from handrail.executors.rehearsal.way import Way
from handrail.executors.repository.index import MOST_BYTES, GitIndex
from handrail.executors.repository.overlooked import Overlooking, by_index, overlooking

_FLAGS = os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK


class OverlookedFiles:
    """Flags tracked files in the indexes of a rehearsal, and takes the flags out of its result."""

    def __init__(self) -> None:
        self._flagged: dict[str, frozenset[bytes]] = {}

    def flag(self, view_fd: int, hidden: Iterable[str]) -> None:
        """Have each repository in a view of the workspace overlook the `hidden` paths in it."""
        for index, found in self._find(view_fd, hidden):
            with suppress(OSError):
                _write(view_fd, index, found.content)
                self._flagged[index] = found.names

    def assume(self, lower_fd: int, hidden: Iterable[str]) -> None:
        """Take it that a rehearsal over this workspace has flagged them, which was interrupted."""
        self._flagged = {index: found.names for index, found in self._find(lower_fd, hidden)}

    def _find(self, root_fd: int, hidden: Iterable[str]) -> Iterator[tuple[str, Overlooking]]:
        for index, names in by_index(hidden).items():
            with suppress(OSError, ValueError, PathValidationError):
                found = overlooking(_read(root_fd, index), names)
                if found is not None:
                    yield index, found

    def unflag(self, upper_fd: int, lower_fd: int) -> bool:
        """Take the flags out of what a rehearsal has left in its upper layer; False if some stay.

        An index that is then the same as before is taken out of the layer.
        """
        for index, names in self._flagged.items():
            try:
                found = GitIndex.parse(_read(upper_fd, index))
                plain = found.skipping(names.__contains__, skips=False)
                _write(upper_fd, index, plain.written(plain.entries))
                before = GitIndex.parse(_read(lower_fd, index))
                if plain.compared == before.compared:
                    _take_out(upper_fd, lower_fd, index)
            except (FileNotFoundError, NotADirectoryError):
                # It was removed, or the whole repository.
                continue
            except (OSError, ValueError, PathValidationError):
                return False
        return True


def _read(root_fd: int, path: str) -> bytes:
    with Way(root_fd) as way:
        folder_fd, name = way.folder_of(path)
        fd = os.open(name, os.O_RDONLY | _FLAGS, dir_fd=folder_fd)
    with os.fdopen(fd, "rb") as file:
        if not stat.S_ISREG(os.fstat(fd).st_mode) or os.fstat(fd).st_size > MOST_BYTES:
            raise ValueError(f"{path} is no file that is read here")
        return file.read()


def _write(root_fd: int, path: str, content: bytes) -> None:
    with Way(root_fd) as way:
        folder_fd, name = way.folder_of(path)
        fd = os.open(name, os.O_WRONLY | os.O_TRUNC | _FLAGS, dir_fd=folder_fd)
    with os.fdopen(fd, "wb") as file:
        file.write(content)


def _take_out(upper_fd: int, lower_fd: int, index: str) -> None:
    """Remove an index from the layer, and the folder above it if nothing else is in there."""
    _in_folder(upper_fd, index, os.unlink)
    folder = os.path.dirname(index)
    if _mode_of(upper_fd, folder) == _mode_of(lower_fd, folder):
        with suppress(OSError):
            _in_folder(upper_fd, folder, os.rmdir)


def _in_folder(root_fd: int, path: str, do: Callable[..., None]) -> None:
    with Way(root_fd) as way:
        folder_fd, name = way.folder_of(path)
        do(name, dir_fd=folder_fd)


def _mode_of(root_fd: int, path: str) -> int:
    with Way(root_fd) as way:
        return os.fstat(way.folder(path)).st_mode
