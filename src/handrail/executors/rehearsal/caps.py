"""What rehearsals may use up. No one is asked before they run, so every resource has an end."""

import os
from dataclasses import dataclass
from enum import StrEnum

_MEGABYTE = 1 << 20
_GIGABYTE = 1 << 30


class Cap(StrEnum):
    """What a rehearsal was ended for using up."""

    BYTES = "bytes"
    FILES = "files"
    TEMPORARY = "temporary"
    MEMORY = "memory"
    PROCESSES = "processes"
    CPU = "cpu"
    SESSION_CPU = "session cpu"

    def tell(self, caps: "Caps") -> str:
        """One sentence for the result."""
        limits = {
            Cap.BYTES: f"it may change {caps.changed_bytes // _MEGABYTE:,} MB of files",
            Cap.FILES: f"it may change {caps.changed_files:,} files",
            Cap.TEMPORARY: (
                f"the session may keep {caps.temporary_bytes // _MEGABYTE:,} MB and"
                f" {caps.temporary_files:,} files in /tmp and its home"
            ),
            Cap.MEMORY: f"it may use {caps.memory_bytes // _MEGABYTE:,} MB of memory",
            Cap.PROCESSES: f"it may have {caps.processes:,} processes at once",
            Cap.CPU: f"it may use {caps.cpu_seconds:,.0f} s of CPU time",
            Cap.SESSION_CPU: (
                f"the rehearsals of one session may use {caps.session_cpu_seconds:,.0f} s of CPU "
                f"time"
            ),
        }
        return f"it was ended at a limit of rehearsals: {limits[self]}"


def machine_bytes() -> int:
    """How much memory this machine has."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


@dataclass(frozen=True, slots=True)
class Caps:
    """Limits of one session: files are what its rehearsals change, kept caches included."""

    changed_bytes: int = min(_GIGABYTE, machine_bytes() // 4)
    changed_files: int = 200_000
    temporary_bytes: int = min(_GIGABYTE // 2, machine_bytes() // 8)
    temporary_files: int = 50_000
    memory_bytes: int = min(4 * _GIGABYTE, machine_bytes() // 2)
    processes: int = 512
    cpu_seconds: float = 600.0
    session_cpu_seconds: float = 3_600.0
    # How often the use is looked at.
    interval_seconds: float = 0.1


DEFAULT_CAPS = Caps()
