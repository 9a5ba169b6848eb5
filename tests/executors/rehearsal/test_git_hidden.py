"""git in a rehearsal leaves alone the files that are hidden from it."""

from pathlib import Path

import pytest

from handrail.core.box import Profile
from handrail.core.stage import Stage
from tests.executors.rehearsal.agent import Agent
from tests.executors.rehearsal.repositories import git, run

SECRET = "//registry.example/:_authToken=one\n"
LINES = [
    "echo new >> a.txt; git commit -qam three",
    "echo new >> a.txt; git add -A; git commit -qm three",
    "echo new > b.txt; git add .; git commit -qm three",
    "echo new >> a.txt; git stash",
    "echo new >> a.txt; git stash -u; git stash pop",
    "git reset -q --hard HEAD~1",
    "git switch -qc other; git commit -q --allow-empty -m three",
    "git revert --no-edit HEAD",
    "git clean -qfd; touch b.txt",
]


@pytest.fixture
def repository(root: Path) -> Path:
    """A repository with guarded files, of which it tracks some and ignores none."""
    run(
        "git init -q -b main; git config user.name a; git config user.email a@example.org;"
        f" mkdir -p web .aws; printf '{SECRET}' > web/.npmrc; echo key > .aws/credentials;"
        " echo one > a.txt; git add -A; git commit -qm one;"
        " echo two > a.txt; git commit -qam two; echo TOKEN=1 > .env; echo key > 'web/id [1].pem'",
        root,
    )
    return root


@pytest.mark.parametrize("line", LINES)
async def test_a_command_leaves_them_as_they_were(line: str, agent: Agent, repository: Path):
    call, rehearsed = await agent.rehearse(line)
    assert rehearsed.outcome.exit_code == 0, rehearsed.outcome.stderr.decode()
    assert rehearsed.is_complete, rehearsed.ended_by
    await agent.kept.apply(call)

    assert (repository / "web/.npmrc").read_text() == SECRET
    assert (repository / ".env").read_text() == "TOKEN=1\n"
    assert git(repository, "ls-files", "-t", "web", ".aws") == "H .aws/credentials\nH web/.npmrc\n"
    told = git(repository, "status", "--short", "web", ".aws", ".env")
    assert told == '?? .env\n?? "web/id [1].pem"\n'


async def test_git_status_tells_nothing_of_them_and_changes_nothing(agent: Agent, repository: Path):
    (repository / "a.txt").write_text("three\n")

    _, rehearsed = await agent.rehearse("git status --short")

    assert rehearsed.outcome.stdout == b" M a.txt\n"
    assert rehearsed.effects.is_empty
    assert rehearsed.effects.git.repositories == ()


async def test_those_of_a_repository_within_are_left_alone_too(agent: Agent, repository: Path):
    run("git init -q inner; cd inner; touch .npmrc; git add .; touch .env a", repository)
    run("cd inner; git config user.name a; git config user.email a@b; git commit -qm i", repository)

    call, rehearsed = await agent.rehearse("cd inner; git add -A; git status --short")
    await agent.kept.apply(call)

    assert rehearsed.outcome.stdout == b"A  a\n"
    assert git(repository / "inner", "status", "--short") == "A  a\n?? .env\n"


async def test_a_file_that_a_person_has_git_skip_stays_skipped(agent: Agent, repository: Path):
    git(repository, "update-index", "--skip-worktree", "web/.npmrc")

    call, rehearsed = await agent.rehearse("echo new >> a.txt; git commit -qam three")
    assert rehearsed.is_complete
    await agent.kept.apply(call)

    assert git(repository, "ls-files", "-t", "web", ".aws") == "H .aws/credentials\nS web/.npmrc\n"


async def test_git_refuses_to_overwrite_one(agent: Agent, repository: Path):
    run(
        "git switch -qc other; echo two > web/.npmrc; git commit -qam x; git switch -q main",
        repository,
    )

    _, rehearsed = await agent.rehearse("git switch other")

    assert rehearsed.outcome.exit_code == 1
    assert b"web/.npmrc" in rehearsed.outcome.stderr


async def test_the_read_box_shows_them_in_the_same_way(agent: Agent, repository: Path):
    (repository / "a.txt").write_text("three\n")
    stage = Stage(("git", "status", "--short", "web", ".aws", "a.txt"), Profile.READ)

    outcome = await agent.executor.run([stage], timeout_seconds=30)

    assert outcome.stdout.splitlines()[0] == b" M a.txt"
    assert b"npmrc" not in outcome.stdout
    assert b".aws" not in outcome.stdout
