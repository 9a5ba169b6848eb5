"""Judging a command stays a short way: one can read every module that it crosses."""

import sys
from types import FrameType
from typing import Any

import pytest

from handrail.policy.rulebook import command_line, globs
from handrail.policy.security import Scene
from handrail.policy.shell import lowering
from handrail.tools.catalogue import builtin_registry
from handrail.tools.judgement import judge_call


def modules_crossed(name: str, raw: dict[str, Any]) -> set[str]:
    """The modules of ours whose functions run while a call is judged, with nothing cached."""
    tool, params = builtin_registry().parse(name, raw)
    judge_call(tool, params, Scene("/warm"))
    for module in (command_line, globs, lowering):
        for cached in vars(module).values():
            if hasattr(cached, "cache_clear"):
                cached.cache_clear()
    crossed: set[str] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        module = str(frame.f_globals.get("__name__", ""))
        if event == "call" and module.startswith("handrail."):
            crossed.add(module)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        judge_call(tool, params, Scene("/ws"))
    finally:
        sys.setprofile(before)
    return crossed


@pytest.mark.parametrize(
    ("name", "raw"),
    [
        ("git", {"action": "status"}),
        ("execute_command", {"command": "git", "args": ["status"]}),
    ],
)
def test_judging_git_status_crosses_at_most_12_modules(name: str, raw: dict[str, Any]) -> None:
    crossed = modules_crossed(name, raw)

    assert "handrail.policy.security" in crossed
    assert len(crossed) <= 12, sorted(crossed)


def test_judging_it_as_a_line_of_bash_adds_little_more_than_its_reading() -> None:
    further = modules_crossed("run_bash", {"command": "git status"})
    further -= modules_crossed("git", {"action": "status"})

    reading = {module for module in further if module.startswith("handrail.policy.shell.")}
    assert len(further - reading) <= 4, sorted(further - reading)
