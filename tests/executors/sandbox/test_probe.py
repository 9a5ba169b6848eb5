"""A wall counts only where an attempt to get past it was seen to fail."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from handrail.core.box import Isolation, Wall
from handrail.executors.processes import start as processes
from handrail.executors.sandbox import box, probe
from handrail.executors.sandbox.box import Programs
from handrail.executors.sandbox.fence_probe import prove_fence
from handrail.executors.sandbox.probe import find_programs, prove


def a_program(path: Path, *lines: str) -> str:
    path.write_text("\n".join(["#!/bin/sh", *lines]) + "\n")
    path.chmod(0o755)
    return str(path)


def test_every_wall_is_proven_where_boxes_can_be_made(isolation: Isolation) -> None:
    assert isolation == Isolation((Wall.NAMESPACES, Wall.SECCOMP, Wall.LIMITS))


def test_where_there_is_no_bubblewrap_nothing_is_proven() -> None:
    isolation = prove(None)

    assert not isolation.holds
    assert isolation.why_not == "bubblewrap is not installed"


def test_bubblewrap_that_fails_proves_nothing_and_says_why(tmp_path: Path) -> None:
    broken = a_program(tmp_path / "bwrap", "echo 'bwrap: no permission' >&2", "exit 1")

    isolation = prove(Programs(broken, None))

    assert (isolation.walls, isolation.holds) == ((), False)
    assert isolation.why_not == "no box could be made: bwrap: no permission"


def test_a_box_that_keeps_nothing_in_is_not_taken_for_one(tmp_path: Path) -> None:
    """Something that calls itself bubblewrap and just runs what stands behind the dashes."""
    skip = 'while [ "$1" != -- ]; do shift; done; shift'
    open_box = a_program(tmp_path / "bwrap", skip, f'cd "{tmp_path}"; exec "$@"')

    isolation = prove(Programs(open_box, None))

    assert not isolation.holds


def test_a_box_without_limits_still_keeps_in(programs: Programs, isolation: Isolation) -> None:
    unlimited = prove(Programs(programs.bwrap, None))

    assert unlimited.walls == (Wall.NAMESPACES, Wall.SECCOMP)
    assert unlimited.holds
    assert unlimited.why_not == "not proven: limits"


def test_a_filter_that_lets_everything_pass_is_noticed(
    programs: Programs, isolation: Isolation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(box, "filter_for", lambda profile: b"\x06\0\0\0\0\0\xff\x7f")
    found = prove(programs)

    assert Wall.SECCOMP not in found.walls
    assert not found.holds


def test_other_systems_are_told_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    assert "WSL" in (prove(find_programs()).why_not or "")


def test_a_processor_without_a_filter_has_no_box(
    programs: Programs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probe, "is_known", lambda: False)
    assert "there is no system call filter" in (prove(programs).why_not or "")


def test_a_box_with_a_descriptor_that_was_not_meant_for_it_is_not_proven(
    programs: Programs, isolation: Isolation, tmp_path: Path
) -> None:
    """Something in front of bubblewrap that leaves a folder open."""
    leaky = a_program(tmp_path / "bwrap", "exec 9</", f'exec {programs.bwrap} "$@"')

    found = prove(Programs(leaky, programs.prlimit))

    assert not found.holds
    assert found.why_not == (
        "a command in a box had other file descriptors than the three meant for it"
    )


@pytest.mark.usefixtures("isolation")
def test_the_probe_notices_a_start_that_hands_on_open_descriptors(
    programs: Programs, monkeypatch: pytest.MonkeyPatch
) -> None:
    strict = subprocess.Popen

    def lax(*args: Any, close_fds: bool, pass_fds: tuple[int, ...], **options: Any) -> Any:
        for fd in pass_fds:
            os.set_inheritable(fd, True)
        return strict(*args, close_fds=False, **options)

    monkeypatch.setattr(processes.subprocess, "Popen", lax)

    assert "other file descriptors" in (prove(programs).why_not or "")
    assert prove_fence() == ()
