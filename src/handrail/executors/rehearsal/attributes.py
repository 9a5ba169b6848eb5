"""Extended attributes of files: which of them belong to a file as it is rehearsed and applied."""

import errno
import hashlib
import os
import struct

from handrail.core.audit import canonical

OVERLAY = "user.overlay."
_ACCESS_LISTS = ("system.posix_acl_access", "system.posix_acl_default")
_CAPABILITIES = "security.capability"
# Behind a header of 4 bytes, an access list has entries of a tag, permissions and an id.
_ENTRY = struct.Struct("<HHI")
_USER_TAG, _GROUP_TAG = 2, 8
_WITHOUT_XATTRS = (errno.ENOTSUP, errno.ENOSYS)


def xattrs_of(fd: int) -> dict[str, bytes]:
    """The attributes of an open file that are kept: the user's own and the access lists."""
    return {name: os.getxattr(fd, name) for name in names_of_xattrs(fd) if _is_kept(name)}


def set_xattrs(file: int | str, wanted: dict[str, bytes]) -> None:
    """Give a file just these of the attributes that are kept; it may have inherited others."""
    for name in names_of_xattrs(file):
        if _is_kept(name) and name not in wanted:
            os.removexattr(file, name)
    for name, value in wanted.items():
        os.setxattr(file, name, value)


def has_capabilities(folder_fd: int, name: str) -> bool:
    """Whether a program of that name is more than its user. Only root can give that to a copy."""
    here = f"/proc/self/fd/{folder_fd}/{name}"
    return _CAPABILITIES in names_of_xattrs(here, follow_symlinks=False)


def names_others(path: str) -> bool:
    """Whether an access list there is about other users or groups than ours."""
    own = {_USER_TAG: os.geteuid(), _GROUP_TAG: os.getegid()}
    lists = [name for name in names_of_xattrs(path, follow_symlinks=False) if name in _ACCESS_LISTS]
    return any(
        tag in own and whose != own[tag]
        for name in lists
        for tag, _, whose in _ENTRY.iter_unpack(os.getxattr(path, name)[4:])
    )


def names_of_xattrs(file: int | str, *, follow_symlinks: bool = True) -> list[str]:
    try:
        return os.listxattr(file, follow_symlinks=follow_symlinks)
    except OSError as error:
        if error.errno in _WITHOUT_XATTRS:
            return []
        raise


def digest_of(xattrs: dict[str, bytes]) -> str:
    if not xattrs:
        return ""
    told = canonical({name: value.hex() for name, value in xattrs.items()})
    return hashlib.sha256(told.encode()).hexdigest()


def _is_kept(name: str) -> bool:
    """Not the marks of overlayfs, which tell of a layer and not of the file."""
    is_users = name.startswith("user.") and not name.startswith(OVERLAY)
    return is_users or name in _ACCESS_LISTS
