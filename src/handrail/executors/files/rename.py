"""Renames that lose nothing: two names are exchanged, or a name is taken only while it is free."""

import ctypes
import errno
import functools
import os
import platform
import sys

_SYS_RENAMEAT2 = {"x86_64": 316, "aarch64": 276}.get(platform.machine())
_RENAME_NOREPLACE = 1
_RENAME_EXCHANGE = 2
# What a kernel, or a file system that cannot do it, says.
_CANNOT = {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP}


def exchange(folder_fd: int, one: str, other: str, *, other_fd: int | None = None) -> bool:
    """Give each of two files the other's name, at one stroke; False where the system cannot.

    The second one lies in the same folder, or in that of `other_fd`.
    """
    return _renameat2((folder_fd, one), (_either(other_fd, folder_fd), other), _RENAME_EXCHANGE)


def move_to_free_name(folder_fd: int, old: str, new: str, *, new_fd: int | None = None) -> None:
    """Rename a file within its folder, or into that of `new_fd`, if nothing has the new name.

    Raises:
        FileExistsError: Something has it.
    """
    into = _either(new_fd, folder_fd)
    if _renameat2((folder_fd, old), (into, new), _RENAME_NOREPLACE):
        return
    os.link(old, new, src_dir_fd=folder_fd, dst_dir_fd=into, follow_symlinks=False)
    os.unlink(old, dir_fd=folder_fd)


def _either(fd: int | None, default: int) -> int:
    return default if fd is None else fd


@functools.cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _renameat2(old: tuple[int, str], new: tuple[int, str], flags: int) -> bool:
    if sys.platform != "linux" or _SYS_RENAMEAT2 is None:
        return False
    (old_fd, old_name), (new_fd, new_name) = old, new
    failed: int = _libc().syscall(
        _SYS_RENAMEAT2,
        *(old_fd, os.fsencode(old_name), new_fd, os.fsencode(new_name)),
        ctypes.c_uint(flags),
    )
    if not failed:
        return True
    if (number := ctypes.get_errno()) in _CANNOT:
        return False
    raise OSError(number, os.strerror(number), new_name)
