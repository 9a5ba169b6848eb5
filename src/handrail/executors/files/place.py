"""Where a file is to be written: a name in a folder that is held open."""

import errno
import os
import stat
from collections.abc import Callable
from contextlib import suppress
from typing import Self

from handrail.core.errors import FileOperationError, FolderError, PathValidationError
from handrail.executors.files.beneath import open_beneath

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
# O_NONBLOCK: opening a pipe must not wait for somebody to write into it.
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


class Place:
    """A name in a folder that is held open; `missing` are the folders still to be made.

    A file of which `is_own` is true may have several names, all of them in folders of ours.
    """

    def __init__(self, root_fd: int, path: str, is_own: Callable[[str], bool] = lambda path: False):
        self.path = path
        self._is_own = is_own
        *folders, self.name = _plain_parts(path)
        self.missing: list[str] = []
        self.folder_fd = self._open_deepest(root_fd, folders)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        os.close(self.folder_fd)

    @property
    def rest(self) -> str:
        """The way from the folder that is open to the file."""
        return "/".join((*self.missing, self.name))

    def check_writable(self) -> None:
        """Refuse what a write would only come to know later."""
        if not _may(os.W_OK | os.X_OK, ".", self.folder_fd):
            raise FileOperationError(f"no permission to write into the folder of {self.path}")
        if self.missing and _is_link(self.missing[0], self.folder_fd):
            raise PathValidationError(f"{self.path} goes through a link that leads nowhere")

    def make_folders(self) -> None:
        while self.missing:
            self._step_into(self.missing[0])
            del self.missing[0]

    def open_file(self, name: str | None = None) -> int | None:
        """What a write displaces, opened for reading; None where there is nothing.

        Raises:
            ToolError: It is something that is not to be displaced.
        """
        if self.missing:
            return None
        name = name or self.name
        try:
            fd = os.open(name, _FILE, dir_fd=self.folder_fd)
        except FileNotFoundError:
            return None
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.EMLINK):
                raise PathValidationError(
                    f"{self.path} is a link; name the file that it leads to, or change the link "
                    "with a command"
                ) from error
            if error.errno == errno.ENXIO:
                raise PathValidationError(f"{self.path} is not a regular file") from error
            raise
        try:
            self._check_displaceable(fd, name)
        except BaseException:
            os.close(fd)
            raise
        return fd

    def sync(self) -> None:
        """Have what was renamed or made in the folder outlast a power cut."""
        try:
            os.fsync(self.folder_fd)
        except OSError as error:
            # Some file systems have no such thing for folders.
            if error.errno != errno.EINVAL:
                raise

    def _check_displaceable(self, fd: int, name: str) -> None:
        found = os.fstat(fd)
        if stat.S_ISDIR(found.st_mode):
            raise FolderError(f"{self.path} is a directory")
        if not stat.S_ISREG(found.st_mode):
            raise PathValidationError(f"{self.path} is not a regular file")
        if found.st_nlink > 1 and not self._is_own(self.path):
            raise PathValidationError(
                f"{self.path} has a second name (a hard link), which may be outside the workspace"
            )
        # A rename asks only for the folder's permission; the file's own counts as well.
        if not _may(os.W_OK, name, self.folder_fd):
            raise FileOperationError(f"no permission to write {self.path}")

    def _open_deepest(self, root_fd: int, folders: list[str]) -> int:
        while True:
            try:
                return open_beneath(root_fd, "/".join(folders) or ".", _FOLDER)
            except FileNotFoundError:
                if not folders:
                    raise
                self.missing.insert(0, folders.pop())

    def _step_into(self, name: str) -> None:
        with suppress(FileExistsError):
            os.mkdir(name, dir_fd=self.folder_fd)
            self.sync()
        deeper = os.open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=self.folder_fd)
        os.close(self.folder_fd)
        self.folder_fd = deeper


def _plain_parts(path: str) -> list[str]:
    parts = path.split("/")
    if any(part in ("", ".", "..") for part in parts) or not _can_be_a_name(path):
        raise PathValidationError(f"{path!r} does not name a file below the workspace")
    return parts


def _can_be_a_name(path: str) -> bool:
    try:
        return b"\0" not in os.fsencode(path)
    except UnicodeEncodeError:
        return False


def _may(access: int, name: str, folder_fd: int) -> bool:
    effective = os.access in os.supports_effective_ids
    return os.access(name, access, dir_fd=folder_fd, effective_ids=effective)


def _is_link(name: str, folder_fd: int) -> bool:
    with suppress(FileNotFoundError):
        return stat.S_ISLNK(os.stat(name, dir_fd=folder_fd, follow_symlinks=False).st_mode)
    return False
