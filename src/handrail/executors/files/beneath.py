"""Opening files below a folder so that no link, `..` or race can lead outside.

Check and open are one operation: the kernel resolves the path (openat2 with RESOLVE_BENEATH), or,
where it cannot, a walk opens one part at a time and resolves links by hand.
"""

import ctypes
import errno
import functools
import os
import platform
import stat
import struct
import sys
from typing import Self

_SYS_OPENAT2 = 437
_RESOLVE_NO_MAGICLINKS = 0x02
_RESOLVE_BENEATH = 0x08
_MAX_RETRIES = 64
_MAX_LINKS = 40
# How folders on the way are opened: passing through needs no permission to read them.
PASSAGE = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY


def open_beneath(root_fd: int, path: str, flags: int, mode: int = 0) -> int:
    """Open `path` below the folder behind `root_fd`, whatever lies on the way.

    Raises:
        OSError: EXDEV if the path leads outside, else what the system said.
    """
    if has_openat2():
        return _by_kernel(root_fd, path, flags, mode)
    return walk_beneath(root_fd, path, flags, mode)


@functools.cache
def has_openat2() -> bool:
    if sys.platform != "linux" or platform.machine() not in {"x86_64", "aarch64"}:
        return False
    fd = os.open("/", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.close(_by_kernel(fd, ".", os.O_RDONLY | os.O_DIRECTORY))
    except OSError:
        return False
    else:
        return True
    finally:
        os.close(fd)


@functools.cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _by_kernel(root_fd: int, path: str, flags: int, mode: int = 0) -> int:
    name = _encode(path)
    # A mode without O_CREAT is an error to openat2, unlike to open.
    mode = mode if flags & os.O_CREAT else 0
    how = struct.pack("QQQ", flags | os.O_CLOEXEC, mode, _RESOLVE_BENEATH | _RESOLVE_NO_MAGICLINKS)
    for _ in range(_MAX_RETRIES):
        fd: int = _libc().syscall(
            _SYS_OPENAT2, root_fd, ctypes.c_char_p(name), how, ctypes.c_size_t(len(how))
        )
        if fd >= 0:
            return fd
        # EAGAIN: something on the way was renamed while the kernel looked.
        if (number := ctypes.get_errno()) not in (errno.EAGAIN, errno.EINTR):
            raise OSError(number, os.strerror(number), path)
    raise OSError(errno.EAGAIN, "the path kept changing", path)


def walk_beneath(root_fd: int, path: str, flags: int, mode: int = 0) -> int:
    """The portable way: every part is opened by itself and never followed blindly."""
    for _ in range(_MAX_RETRIES):
        try:
            return _walk(root_fd, path, flags, mode)
        except OSError as error:
            # A part that was a link a moment ago, and is none now: look again.
            if error.errno != errno.EAGAIN:
                raise
    raise OSError(errno.EAGAIN, "the path kept changing", path)


def _walk(root_fd: int, path: str, flags: int, mode: int) -> int:
    name = _encode(path)
    if not name:
        raise OSError(errno.ENOENT, os.strerror(errno.ENOENT), path)
    with _Walk(root_fd, name, flags, mode) as walk:
        return walk.to_the_end()


class _Walk:
    """One way down from the root: the folders that are open, and the parts still to go."""

    def __init__(self, root_fd: int, name: bytes, flags: int, mode: int):
        self._flags = flags
        self._mode = mode
        self._links = 0
        self._todo: list[bytes] = []
        self._take_up(name)
        self._stack = [os.dup(root_fd)]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        for fd in self._stack:
            os.close(fd)

    def to_the_end(self) -> int:
        while self._todo:
            part = self._todo.pop(0)
            if part == b"..":
                self._step_up()
            elif (fd := self._step_down(part)) is None:
                continue
            elif not self._todo:
                return fd
            else:
                self._stack.append(fd)
        return os.open(".", self._flags | os.O_CLOEXEC, dir_fd=self._stack[-1])

    def _take_up(self, way: bytes) -> None:
        """Put the parts of a path, or of a link's target, before those still to go."""
        if way.startswith(b"/"):
            raise OSError(errno.EXDEV, "an absolute path or link")
        if not self._todo and way.endswith((b"/", b"/.")):
            self._flags |= os.O_DIRECTORY
        self._todo = [part for part in way.split(b"/") if part not in (b"", b".")] + self._todo

    def _step_up(self) -> None:
        if len(self._stack) == 1:
            raise OSError(errno.EXDEV, "leads outside")
        os.close(self._stack.pop())

    def _step_down(self, part: bytes) -> int | None:
        """The part, opened; or None if it was a link, whose way is taken up instead."""
        last, folder = not self._todo, self._stack[-1]
        wanted = (self._flags if last else PASSAGE) | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            return os.open(part, wanted, self._mode, dir_fd=folder)
        except OSError as error:
            may_follow = not (last and self._flags & os.O_NOFOLLOW)
            if not may_follow or error.errno not in (errno.ELOOP, errno.ENOTDIR, errno.EMLINK):
                raise
            self._links += 1
            if self._links > _MAX_LINKS:
                raise OSError(errno.ELOOP, "too many links") from error
            self._take_up(_read_link(part, folder, error))
            return None


def _read_link(part: bytes, folder_fd: int, refused: OSError) -> bytes:
    try:
        return os.readlink(part, dir_fd=folder_fd)
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise
        if refused.errno == errno.ENOTDIR and not _is_folder(part, folder_fd):
            raise refused from None
        raise OSError(errno.EAGAIN, "it was a link a moment ago") from error


def _is_folder(part: bytes, folder_fd: int) -> bool:
    found = os.stat(part, dir_fd=folder_fd, follow_symlinks=False)
    return stat.S_ISDIR(found.st_mode)


def _encode(path: str) -> bytes:
    try:
        name = os.fsencode(path)
    except UnicodeEncodeError as error:
        raise OSError(errno.EINVAL, "not a valid file name", path) from error
    if b"\0" in name:
        raise OSError(errno.EINVAL, "a zero byte in the path", path)
    return name
