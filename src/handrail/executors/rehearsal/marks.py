"""The marks that overlayfs leaves in an upper layer, when it is mounted with `userxattr`.

A command cannot forge them: an attribute that it sets under such a name arrives escaped.
"""

import os
import stat
from contextlib import suppress

from handrail.executors.rehearsal.attributes import OVERLAY, names_of_xattrs
from handrail.executors.rehearsal.nodes import READ

_ESCAPED = f"{OVERLAY}overlay."
_OPAQUE = f"{OVERLAY}opaque"
# With one of these the upper does not hold the whole content.
_PARTIAL = {f"{OVERLAY}redirect", f"{OVERLAY}metacopy"}


def is_whiteout(name: str, upper_fd: int, found: os.stat_result) -> bool:
    """Whether it says that the lower's file is deleted, as a device 0:0 or by an attribute."""
    if stat.S_ISCHR(found.st_mode):
        return found.st_rdev == 0
    if not stat.S_ISREG(found.st_mode) or found.st_size:
        return False
    with suppress(OSError):
        fd = os.open(name, READ, dir_fd=upper_fd)
        try:
            return f"{OVERLAY}whiteout" in names_of_xattrs(fd)
        finally:
            os.close(fd)
    return False


def is_opaque(fd: int) -> bool:
    """Whether nothing of the lower's folder shows through this one."""
    return _OPAQUE in names_of_xattrs(fd) and os.getxattr(fd, _OPAQUE) == b"y"


def is_partial(fd: int) -> bool:
    return not _PARTIAL.isdisjoint(names_of_xattrs(fd))


def has_reserved(fd: int) -> bool:
    """Whether a command has set an attribute that would mark a layer, once it is applied."""
    return any(name.startswith(_ESCAPED) for name in names_of_xattrs(fd))


def was_copied_up(fd: int) -> bool:
    """Whether a file began as one of the lower, under this or another name."""
    return f"{OVERLAY}origin" in names_of_xattrs(fd)


def special_kind(found: os.stat_result) -> str:
    if stat.S_ISFIFO(found.st_mode):
        return "named pipe"
    return "socket" if stat.S_ISSOCK(found.st_mode) else "device"
