"""A box begins when its maker lets it, and never without one."""

import os
import subprocess
from pathlib import Path

import pytest

from handrail.core.box import Isolation, Profile
from handrail.core.stage import Stage
from handrail.executors.guarded.names import GuardedNames
from handrail.executors.sandbox.box import Box, Lines, Programs
from handrail.executors.sandbox.gate import Gate


def start(
    programs: Programs, guarded: GuardedNames, isolation: Isolation, *, lets: bool
) -> subprocess.CompletedProcess[str]:
    """A box whose maker lets it begin, or is gone before."""
    box = Box(programs, isolation, guarded)
    with open(os.devnull, "w") as nowhere:
        lines = Lines(nowhere.fileno(), nowhere.fileno())
        stage, view = Stage(("/bin/echo", "begun"), Profile.WRITE), guarded.view()
        with box.launch(stage, view, lines, 10) as launch:
            process = subprocess.Popen(
                launch.argv, pass_fds=launch.fds, env={}, stdout=-1, stderr=-1, text=True
            )
            if lets:
                launch.gate.open_in_thread(lambda: process.poll() is not None)
    out, err = process.communicate(timeout=20)
    return subprocess.CompletedProcess(launch.argv, process.returncode, out, err)


@pytest.mark.usefixtures("root")
def test_what_is_let_begins(
    programs: Programs, guarded: GuardedNames, isolation: Isolation
) -> None:
    assert start(programs, guarded, isolation, lets=True).stdout == "begun\n"


@pytest.mark.usefixtures("root")
def test_nothing_begins_whose_maker_is_gone(
    programs: Programs, guarded: GuardedNames, isolation: Isolation
) -> None:
    done = start(programs, guarded, isolation, lets=False)

    assert done.stdout == ""
    assert done.returncode != 0


async def test_nobody_waits_at_a_gate_for_who_has_ended() -> None:
    with Gate(b"filter") as gate:
        await gate.reached(lambda: True)
        gate.open()
        assert os.read(gate.filter, 10) == b"filter"
        assert os.read(gate.filter, 10) == b""


def test_a_gate_leaves_no_descriptor(tmp_path: Path) -> None:
    before = os.listdir("/proc/self/fd")
    with Gate(b"filter"):
        pass
    assert os.listdir("/proc/self/fd") == before
