"""Which version of a file is open, and whether a later one could look the same."""

import fcntl
import os
import signal
import sys

from handrail.core.hands import FileVersion


def version_of(found: os.stat_result) -> FileVersion:
    return FileVersion(
        found.st_dev,
        found.st_ino,
        found.st_size,
        found.st_mode,
        found.st_mtime_ns,
        found.st_ctime_ns,
    )


def nobody_writes(fd: int) -> bool:
    """Whether certainly no process has the file open for writing."""
    return has_writer(fd) is False


def has_writer(fd: int) -> bool | None:
    """Whether a file is open for writing in any process; None where the system does not tell.

    Who has it mapped into memory changes it without a trace in its times, but for the first
    change. The kernel grants a lease only where there is no such writer.
    """
    if sys.platform != "linux":
        return None
    try:
        # Ignored where nobody asks for it; the signal that is sent by default would end us.
        fcntl.fcntl(fd, fcntl.F_SETSIG, signal.SIGURG)
        fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    except BlockingIOError:
        return True
    except OSError:
        # Files of other users, and file systems without leases.
        return None
    return False
