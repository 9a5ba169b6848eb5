"""What was seen is what runs, also where an earlier step of the same line has changed it."""

from pathlib import Path

import pytest

from handrail.core.box import Profile
from handrail.core.outcome import CommandOutcome, Ending
from handrail.core.stage import Join, NamedFile, Stage
from handrail.executors.command import CommandExecutor

WRITE = Profile.WRITE


def runs(name: str, join: Join = Join.AND) -> Stage:
    return Stage(("sh", name), WRITE, join, scripts=(NamedFile(name),))


async def seen_and_run(executor: CommandExecutor, *stages: Stage) -> CommandOutcome:
    sight = await executor.look(stages)
    return await executor.run(stages, timeout_seconds=30, expected=sight.facts)


@pytest.fixture
def scripts(root: Path) -> Path:
    (root / "good.sh").write_text("echo good\n")
    (root / "evil.txt").write_text("echo evil\n")
    return root


@pytest.mark.usefixtures("scripts")
@pytest.mark.parametrize("join", [Join.AND, Join.THEN])
async def test_a_script_that_was_exchanged_is_not_run(
    executor: CommandExecutor, join: Join
) -> None:
    exchange = Stage(("cp", "-v", "evil.txt", "good.sh"), WRITE)
    outcome = await seen_and_run(executor, exchange, runs("good.sh", join))

    assert (outcome.ending, outcome.exit_code) == (Ending.STOPPED, None)
    assert "the file good.sh. The steps before it were run" in outcome.why_stopped
    assert b"'evil.txt' -> 'good.sh'" in outcome.stdout
    assert b"evil\n" not in outcome.stdout


@pytest.mark.usefixtures("scripts")
async def test_a_script_that_was_not_there_is_not_run(executor: CommandExecutor) -> None:
    move = Stage(("mv", "evil.txt", "new.sh"), WRITE)
    outcome = await seen_and_run(executor, move, runs("new.sh"))

    assert outcome.ending is Ending.STOPPED
    assert "the file new.sh" in outcome.why_stopped


async def test_a_program_that_was_exchanged_is_not_run(
    executor: CommandExecutor, scripts: Path
) -> None:
    for name in ("good.sh", "evil.txt"):
        (scripts / name).write_text(f"#!/bin/sh\necho {name}\n")
        (scripts / name).chmod(0o755)
    program = Stage(("./good.sh",), WRITE, Join.AND, scripts=(NamedFile("good.sh", False, True),))
    outcome = await seen_and_run(executor, Stage(("cp", "evil.txt", "good.sh"), WRITE), program)

    assert outcome.ending is Ending.STOPPED


async def test_a_program_that_is_gone_is_said(executor: CommandExecutor, scripts: Path) -> None:
    (scripts / "good.sh").write_text("#!/bin/sh\n")
    (scripts / "good.sh").chmod(0o755)
    program = Stage(("./good.sh",), WRITE, Join.THEN)
    outcome = await seen_and_run(executor, Stage(("mv", "good.sh", "x"), WRITE), program)

    assert outcome.ending is Ending.STOPPED
    assert outcome.why_stopped.startswith("it was stopped before a step that cannot be run")


@pytest.mark.usefixtures("scripts")
async def test_a_script_that_nobody_has_touched_is_run(executor: CommandExecutor) -> None:
    other = Stage(("cp", "evil.txt", "other.txt"), WRITE)
    outcome = await seen_and_run(executor, other, runs("good.sh"))

    assert (outcome.ending, outcome.stdout) == (Ending.EXITED, b"good\n")


@pytest.mark.usefixtures("scripts")
async def test_names_that_a_pattern_stands_for_may_come_on_the_way(
    executor: CommandExecutor,
) -> None:
    make = Stage(("cp", "evil.txt", "new.txt"), WRITE)
    look = Stage(("cat", "*.txt"), Profile.READ, Join.AND, patterns=(1,))
    outcome = await seen_and_run(executor, make, look)

    assert outcome.stdout == b"echo evil\n" * 2
