"""How much lies in a folder on disk, where no file system of its own keeps it within limits."""

import os
import stat
from contextlib import suppress

_BLOCK_BYTES = 512
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_MOST_LEVELS = 60


def used_in(folder_fd: int) -> tuple[int, int]:
    """Bytes on disk and names, down to a depth that no ordinary tree has."""
    found_bytes = found_files = 0
    todo = [(".", 0)]
    while todo:
        path, level = todo.pop()
        with suppress(OSError):
            fd = os.open(path, _FOLDER, dir_fd=folder_fd)
            try:
                for name in os.listdir(fd):
                    found_files += 1
                    found = os.stat(name, dir_fd=fd, follow_symlinks=False)
                    found_bytes += found.st_blocks * _BLOCK_BYTES
                    if stat.S_ISDIR(found.st_mode) and level < _MOST_LEVELS:
                        todo.append((f"{path}/{name}", level + 1))
            finally:
                os.close(fd)
    return found_bytes, found_files
