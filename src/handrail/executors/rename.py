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


def exchange(folder_fd: int, one: str, other: str) -> bool:
    """Give each of two files the other's name, at one stroke; False where the system cannot."""
    return _renameat2(folder_fd, one, other, _RENAME_EXCHANGE)


def move_to_free_name(folder_fd: int, old: str, new: str) -> None:
    """Rename a file, if nothing has the new name.

    Raises:
        FileExistsError: Something has it.
    """
    if _renameat2(folder_fd, old, new, _RENAME_NOREPLACE):
        return
    os.link(old, new, src_dir_fd=folder_fd, dst_dir_fd=folder_fd, follow_symlinks=False)
    os.unlink(old, dir_fd=folder_fd)


@functools.cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _renameat2(folder_fd: int, old: str, new: str, flags: int) -> bool:
    if sys.platform != "linux" or _SYS_RENAMEAT2 is None:
        return False
    old_name, new_name = map(os.fsencode, (old, new))
    failed: int = _libc().syscall(
        _SYS_RENAMEAT2, folder_fd, old_name, folder_fd, new_name, ctypes.c_uint(flags)
    )
    if not failed:
        return True
    if (number := ctypes.get_errno()) in _CANNOT:
        return False
    raise OSError(number, os.strerror(number), new)
