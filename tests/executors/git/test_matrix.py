"""29 ways to have git run a program, and 12 commands: none of them runs it.

All of it runs in the box that can be written, in which programs can be started, so that git itself
is what is tried; where git only looks, the box adds that nothing can be started at all.
"""

import subprocess
from pathlib import Path

import pytest

from handrail.core.box import Profile
from handrail.core.errors import CommandExecutionError
from handrail.core.outcome import CommandOutcome
from handrail.executors.commands.executor import CommandExecutor
from handrail.policy.validators.commands import CommandValidator
from tests.executors.git.plants import (
    COMMANDS,
    FURTHER,
    MARK,
    PLAIN,
    PLANTS,
    Plant,
    PlantedRepository,
)


@pytest.fixture
def planted(request: pytest.FixtureRequest, root: Path, tmp_path: Path) -> PlantedRepository:
    return PlantedRepository(root, tmp_path / "kept", request.param)


async def run(executor: CommandExecutor, plant: Plant, argv: tuple[str, ...]) -> CommandOutcome:
    validator = CommandValidator(executor.root, folder=plant.folder)
    stage = validator.stage_of(argv[0], argv[1:])._replace(profile=Profile.WRITE)
    return await executor.run([stage], timeout_seconds=30)


def test_there_are_as_many_as_are_promised() -> None:
    assert (len(PLANTS), len(COMMANDS)) == (29, 12)


def each(plants: dict[str, Plant]) -> pytest.MarkDecorator:
    both = [(plant, plant) for plant in plants.values()]
    return pytest.mark.parametrize(("planted", "plant"), both, ids=plants, indirect=["planted"])


async def ran_with(
    executor: CommandExecutor,
    planted: PlantedRepository,
    plant: Plant,
    commands: dict[str, tuple[str, ...]],
) -> list[str]:
    """Those commands with which the planted program was run after all."""
    ran: list[str] = []
    for name, argv in commands.items():
        planted.put_back()
        printed = b""
        try:
            outcome = await run(executor, plant, argv)
            printed = outcome.stdout + outcome.stderr
        except CommandExecutionError as error:
            if not plant.refused or plant.refused not in str(error):
                raise
        if planted.has_run() or MARK in printed.decode():
            ran.append(name)
    return ran


@pytest.mark.behaviour("git.runs-nothing")
@each(PLANTS)
async def test_what_is_planted_runs_with_plain_git_and_not_with_ours(
    executor: CommandExecutor, planted: PlantedRepository, plant: Plant
) -> None:
    planted.run_plainly(plant.words)
    assert planted.has_run(), "with plain git it does nothing either, so nothing is shown"

    commands = {**COMMANDS, "its own": plant.words}
    argvs = {name: ("git", *words) for name, words in commands.items()}
    assert await ran_with(executor, planted, plant, argvs) == []


@each(FURTHER)
async def test_neither_does_what_is_planted_for_other_commands(
    executor: CommandExecutor, planted: PlantedRepository, plant: Plant
) -> None:
    planted.run_plainly(plant.words)
    assert planted.has_run(), "with plain git it does nothing either, so nothing is shown"

    assert await ran_with(executor, planted, plant, {"its own": ("git", *plant.words)}) == []


CARRIED: dict[str, tuple[str, ...]] = {
    line: tuple(line.split())
    for line in (
        "timeout 5 git status",
        "nice -n 5 git status",
        "env git status",
        "env CI=1 nice timeout 5 git status",
        "xargs git status",
        "xargs -n 1 timeout 5 git status",
        "find f.txt -exec git status ;",
        "find . -maxdepth 1 -name f.txt -execdir git status ;",
    )
}


@each({name: PLANTS[name] for name in ("fsmonitor", "clean filter", "hooks")})
async def test_git_that_others_run_is_no_other_git(
    executor: CommandExecutor, planted: PlantedRepository, plant: Plant
) -> None:
    assert await ran_with(executor, planted, plant, CARRIED) == []


@pytest.mark.parametrize("planted", [FURTHER["filter of a submodule"]], indirect=True)
async def test_neither_is_git_in_a_repository_within(
    executor: CommandExecutor, planted: PlantedRepository
) -> None:
    plant = FURTHER["filter of a submodule"]
    (planted.root / "planted.log").unlink(missing_ok=True)
    line = "find s -name a.txt -execdir git add a.txt ;"

    await run(executor, plant, tuple(line.split()))
    assert not planted.has_run()

    subprocess.run(line.split(), cwd=planted.root, env=PLAIN, check=True, capture_output=True)
    assert planted.has_run(), "with plain git it does nothing either, so nothing is shown"
