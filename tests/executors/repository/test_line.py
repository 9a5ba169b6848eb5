"""Which words are git's is told by what stands in front of them, not by how they look."""

import pytest

from handrail.core.box import Profile
from handrail.core.stage import Stage
from handrail.executors.repository.line import action_of, may_change_its_own, words_of_git
from handrail.policy.validators.commands import CommandValidator


def stage_of(line: str) -> Stage:
    command, *args = line.split()
    return CommandValidator("/ws").stage_of(command, args)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("git push origin", "push origin"),
        ("env git add git", "add git"),
        ("env -0v --debug git add a", "add a"),
        ("env -- git add a", "add a"),
        ("nice git add a", "add a"),
        ("nice -n git git add a", "add a"),
        ("nice -n5 nice -10 nice --adjustment=3 git add a", "add a"),
        ("timeout 5 git add a", "add a"),
        ("timeout -fv -k 1 --signal=KILL -- 5 git add a", "add a"),
        ("timeout -s git 5 git add a", "add a"),
        ("timeout 5 env nice git --no-pager add a", "--no-pager add a"),
    ],
)
def test_they_begin_behind_what_only_starts_it(line: str, words: str) -> None:
    assert words_of_git(stage_of(line)) == tuple(words.split())
    assert may_change_its_own(stage_of(line))


@pytest.mark.parametrize(
    "line",
    [
        "env --unknown git add a",
        "env -u git git add a",
        "env A=1 ./git add a",
        "env LD_PRELOAD=./x.so git push",
        "env -- A=1 git add a",
        "env A=/git git add git",
        "timeout --sig git 5 git add a",
        "timeout -vk 1 5 git add a",
        "nice --5 git add a",
        "find . -exec git add a ;",
        "xargs git add",
        "make git add",
        "env",
    ],
)
def test_where_nobody_can_tell_git_may_change_nothing_of_its_own(line: str) -> None:
    stage = stage_of(line)

    assert words_of_git(stage) is None
    assert action_of(stage) == ""
    assert not may_change_its_own(stage)


def test_a_program_of_the_workspace_is_not_git() -> None:
    assert words_of_git(Stage(("./bin/git", "add"), Profile.WRITE)) is None
    assert words_of_git(Stage(("/usr/bin/git", "add"), Profile.WRITE)) == ("add",)


def test_an_env_that_a_person_has_allowed_is_known_by_its_name() -> None:
    stage = Stage(("/opt/tools/env", "git", "add"), Profile.WRITE, programs=("env", "git"))

    assert words_of_git(stage) == ("add",)
