"""What a command in a box may use up.

Limits are set inside: outside, they would count the user's other programs as well.
"""

import os
import shutil

_GIGABYTE = 1 << 30
_MEMORY_BYTES = 4 * _GIGABYTE
_FILE_BYTES = _GIGABYTE
_OPEN_FILES = 4096
_PROCESSES = 512


def find_prlimit() -> str | None:
    return shutil.which("prlimit", path="/usr/bin:/bin")


def cpu_seconds(seconds: float) -> int:
    """More computing than this is not done in that time, unless on several cores."""
    return (int(seconds) + 1) * (os.cpu_count() or 1)


def resource_limits(seconds: float) -> list[tuple[str, int]]:
    """The same by the names that a process sets its own by.

    Without a number of processes: outside a box, it would count the person's other programs.
    """
    return [
        ("RLIMIT_DATA", _MEMORY_BYTES),
        ("RLIMIT_FSIZE", _FILE_BYTES),
        ("RLIMIT_NOFILE", _OPEN_FILES),
        ("RLIMIT_CPU", cpu_seconds(seconds)),
        ("RLIMIT_CORE", 0),
    ]


def limited(prlimit: str, argv: list[str], seconds: float) -> list[str]:
    """The command behind its limits. Memory is what is written to: runtimes reserve far more."""
    return [
        prlimit,
        f"--data={_MEMORY_BYTES}",
        f"--fsize={_FILE_BYTES}",
        f"--nofile={_OPEN_FILES}",
        f"--nproc={_PROCESSES}",
        f"--cpu={cpu_seconds(seconds)}",
        "--core=0",
        "--",
        *argv,
    ]
