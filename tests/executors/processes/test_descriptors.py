"""What a process of ours has inherited reaches nothing that it starts."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from handrail.executors.processes import descriptors
from handrail.executors.processes.descriptors import keep_from_children

LOOK = """
import os, sys
from handrail.executors.processes import descriptors
if sys.argv[1] == "without":
    descriptors._close_range_on_exec = lambda: False
numbers = list(map(int, sys.argv[2:]))
print([os.get_inheritable(fd) for fd in numbers])
descriptors.keep_from_children()
print([os.get_inheritable(fd) for fd in (0, 1, 2, *numbers)])
"""


@pytest.mark.parametrize("close_range", ["with", "without"])
def test_all_but_the_standard_streams_are_closed_on_exec(close_range: str) -> None:
    reading, writing = os.pipe()
    high = os.dup2(reading, 250)
    try:
        fds = (reading, writing, high)
        told = subprocess.run(
            [sys.executable, "-c", LOOK, close_range, *map(str, fds)],
            pass_fds=fds,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=True,
        )
    finally:
        for fd in (reading, writing, high):
            os.close(fd)

    assert told.stdout.splitlines() == [str([True] * 3), str([True] * 3 + [False] * 3)]


def test_every_command_begins_with_it(tmp_path: Path) -> None:
    """What a plug-in or a library starts from there, by whatever means, gets nothing either."""
    code = (
        "import os, sys\n"
        "from handrail.cli import main\n"
        "main.build_command = lambda wanted: lambda: print(os.get_inheritable(int(sys.argv[1])))\n"
        "main.main()"
    )
    fd = os.open(tmp_path, os.O_RDONLY)
    try:
        told = subprocess.run(
            [sys.executable, "-c", code, str(fd)],
            pass_fds=[fd],
            capture_output=True,
            text=True,
            check=True,
        )
    finally:
        os.close(fd)

    assert told.stdout == "False\n"


def test_windows_has_no_such_descriptors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(descriptors, "_OPEN_DESCRIPTORS", ("/no/such/place",))

    keep_from_children()
