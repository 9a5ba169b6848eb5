"""Somebody who exchanges two names, as fast as the kernel does it."""

import platform
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

RENAMEAT2 = {"x86_64": 316, "aarch64": 276}.get(platform.machine())

needs_swapping = pytest.mark.skipif(
    sys.platform != "linux" or RENAMEAT2 is None,
    reason="two names can be exchanged at once only on Linux, x86_64 or aarch64",
)

# For as long as its parent lives and holds its standard input open.
_SWAPPER = """
import ctypes, os, select, sys
number, one, two = int(sys.argv[1]), os.fsencode(sys.argv[2]), os.fsencode(sys.argv[3])
syscall = ctypes.CDLL(None, use_errno=True).syscall
if syscall(number, -100, one, -100, two, 2):
    sys.exit(os.strerror(ctypes.get_errno()))
print("swapping", flush=True)
while not select.select([sys.stdin], [], [], 0)[0]:
    for _ in range(1000):
        syscall(number, -100, one, -100, two, 2)
"""


@contextmanager
def swapping(good: Path, evil: Path) -> Generator[None]:
    """What is found under one name is now the one thing, now the other."""
    command = [sys.executable, "-c", _SWAPPER, str(RENAMEAT2), str(good), str(evil)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as swapper:
        assert swapper.stdout is not None
        try:
            if swapper.stdout.readline() != "swapping\n":
                _, error = swapper.communicate()
                pytest.skip(f"this file system cannot exchange two names: {error.strip()}")
            yield
            assert swapper.poll() is None, "nobody was swapping any more: the test is void"
        finally:
            swapper.kill()
