"""Removing trees that a hostile command has made: of any depth, and with any modes."""

import os
import stat
from collections.abc import Iterator
from contextlib import suppress

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def remove(folder_fd: int, name: str) -> None:
    """Remove what has this name in a folder, if anything.

    Folders are moved up into one bin before they are emptied, so that neither the depth of a tree
    nor the length of a path matters.
    """
    if not _is_folder(folder_fd, name):
        with suppress(FileNotFoundError):
            os.unlink(name, dir_fd=folder_fd)
        return
    place = f".removed-{name}"
    with suppress(FileExistsError):
        os.mkdir(place, stat.S_IRWXU, dir_fd=folder_fd)
    bin_fd = os.open(place, _FOLDER, dir_fd=folder_fd)
    try:
        os.rename(name, "0", src_dir_fd=folder_fd, dst_dir_fd=bin_fd)
        _empty(bin_fd)
    finally:
        os.close(bin_fd)
    os.rmdir(place, dir_fd=folder_fd)


def _empty(bin_fd: int) -> None:
    todo, count = ["0"], 0
    while todo:
        name = todo.pop()
        # The work folder of an overlay has no rights at all.
        os.chmod(name, stat.S_IRWXU, dir_fd=bin_fd)
        fd = os.open(name, _FOLDER, dir_fd=bin_fd)
        try:
            for entry, is_folder in [*_entries(fd)]:
                if is_folder:
                    count += 1
                    # A folder can only be moved by who may change where its parent is noted.
                    os.chmod(entry, stat.S_IRWXU, dir_fd=fd)
                    os.rename(entry, str(count), src_dir_fd=fd, dst_dir_fd=bin_fd)
                    todo.append(str(count))
                else:
                    os.unlink(entry, dir_fd=fd)
        finally:
            os.close(fd)
        os.rmdir(name, dir_fd=bin_fd)


def _entries(fd: int) -> Iterator[tuple[str, bool]]:
    with os.scandir(fd) as entries:
        for entry in entries:
            yield entry.name, entry.is_dir(follow_symlinks=False)


def _is_folder(folder_fd: int, name: str) -> bool:
    try:
        return stat.S_ISDIR(os.stat(name, dir_fd=folder_fd, follow_symlinks=False).st_mode)
    except FileNotFoundError:
        return False
