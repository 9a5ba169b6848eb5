"""The way to files below a root: one folder after the other, and never through a link."""

import os
from typing import Self

from handrail.core.errors import PathValidationError
from handrail.executors.files.beneath import PASSAGE

FOLDER = PASSAGE | os.O_NOFOLLOW | os.O_CLOEXEC
LISTED = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class Way:
    """Folders that are held open from the root down to the one that was asked for last.

    Who asks in the order of paths has each folder opened once.
    """

    def __init__(self, root_fd: int):
        self._root_fd = root_fd
        self._names: list[str] = []
        self._fds: list[int] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.forget()

    def forget(self) -> None:
        self._back_to(0)

    def folder_of(self, path: str) -> tuple[int, str]:
        """The folder that holds a path, open until the next question, and the name in there.

        Raises:
            OSError: One of the folders is missing, or is none.
        """
        *folders, name = plain_parts(path)
        return self._go(folders), name

    def folder(self, path: str) -> int:
        return self._go(plain_parts(path) if path else [])

    def _go(self, names: list[str]) -> int:
        shared = 0
        for one, other in zip(self._names, names, strict=False):
            if one != other:
                break
            shared += 1
        self._back_to(shared)
        for name in names[shared:]:
            self._fds.append(os.open(name, FOLDER, dir_fd=self._here))
            self._names.append(name)
        return self._here

    def _back_to(self, depth: int) -> None:
        while len(self._fds) > depth:
            os.close(self._fds.pop())
            self._names.pop()

    @property
    def _here(self) -> int:
        return self._fds[-1] if self._fds else self._root_fd


def plain_parts(path: str) -> list[str]:
    parts = path.split("/")
    if any(part in ("", ".", "..") or "\0" in part for part in parts):
        raise PathValidationError(f"{path!r} does not name a file below the workspace")
    return parts
