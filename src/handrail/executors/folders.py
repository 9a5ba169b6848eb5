"""A folder that is run as if it were a script: `python3 app` runs `app/__main__.py`."""

import os
from collections.abc import Iterator

from handrail.executors.beneath import open_beneath

MOST_FILES = 1_000

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def files_within(root_fd: int, folder: str) -> list[str] | None:
    """Every file below a folder, by its path from the root; None where they cannot all be told.

    So it is where they are many, and where one of them is a link to a folder.
    """
    found: list[str] = []
    todo = [folder]
    seen = 0
    while todo:
        path = todo.pop()
        for name, is_folder in _entries(root_fd, path):
            seen += 1
            if is_folder is None or seen > MOST_FILES:
                return None
            (todo if is_folder else found).append(f"{path}/{name}" if path != "." else name)
    return sorted(found, key=os.fsencode)


def _entries(root_fd: int, path: str) -> Iterator[tuple[str, bool | None]]:
    """Names, and whether each is a folder; None where nobody knows what it would lead to."""
    fd = open_beneath(root_fd, path, _FOLDER)
    try:
        with os.scandir(fd) as entries:
            for entry in entries:
                is_folder = entry.is_dir(follow_symlinks=False)
                leads_away = not is_folder and entry.is_symlink() and entry.is_dir()
                yield entry.name, None if leads_away else is_folder
    finally:
        os.close(fd)
