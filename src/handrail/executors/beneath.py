"""Opening files below a folder so that no link, `..` or race can lead outside.

Check and open are one operation: the kernel resolves the path (openat2 with RESOLVE_BENEATH), or,
where it cannot, a walk opens one part at a time and resolves links by hand.
"""

import ctypes
import errno
import functools
import os
import platform
import struct
import sys

_SYS_OPENAT2 = 437
_RESOLVE_NO_MAGICLINKS = 0x02
_RESOLVE_BENEATH = 0x08
_MAX_RETRIES = 64
_MAX_LINKS = 40


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
    todo = _split(_encode(path))
    stack = [os.dup(root_fd)]
    links = 0
    try:
        while todo:
            part = todo.pop(0)
            if part == b"..":
                if len(stack) == 1:
                    raise OSError(errno.EXDEV, "leads outside", path)
                os.close(stack.pop())
                continue
            wanted = flags if not todo else os.O_RDONLY | os.O_DIRECTORY
            try:
                fd = os.open(part, wanted | os.O_NOFOLLOW | os.O_CLOEXEC, mode, dir_fd=stack[-1])
            except OSError as error:
                if error.errno not in (errno.ELOOP, errno.ENOTDIR, errno.EMLINK):
                    raise
                links += 1
                if links > _MAX_LINKS:
                    raise OSError(errno.ELOOP, "too many links", path) from error
                todo = _split(_read_link(part, stack[-1], error)) + todo
                continue
            if not todo:
                return fd
            stack.append(fd)
        return os.open(".", flags | os.O_CLOEXEC, dir_fd=stack[-1])
    finally:
        for fd in stack:
            os.close(fd)


def _read_link(part: bytes, folder_fd: int, refused: OSError) -> bytes:
    try:
        target = os.readlink(part, dir_fd=folder_fd)
    except OSError as error:
        if refused.errno == errno.ENOTDIR and error.errno == errno.EINVAL:
            raise refused from None
        if error.errno == errno.EINVAL:
            raise OSError(errno.EAGAIN, "changed while looking") from error
        raise
    if target.startswith(b"/"):
        raise OSError(errno.EXDEV, "an absolute link")
    return target


def _split(path: bytes) -> list[bytes]:
    if path.startswith(b"/"):
        raise OSError(errno.EXDEV, "an absolute path")
    return [part for part in path.split(b"/") if part not in (b"", b".")]


def _encode(path: str) -> bytes:
    name = os.fsencode(path)
    if b"\0" in name:
        raise OSError(errno.EINVAL, "a zero byte in the path", path)
    return name
