"""git in a box without an overlay: it does its work, and what names programs stays as it is."""

import subprocess
from pathlib import Path

import pytest

from handrail.core.box import Profile
from handrail.core.outcome import CommandOutcome
from handrail.executors.commands.executor import CommandExecutor
from handrail.policy.validators.commands import CommandValidator
from tests.executors.git.shell import PLAIN, sh

START = """
git init -qb main . && echo x > a.txt && git add a.txt && git commit -qm first
git init -qb main ../up && git -C ../up commit -q --allow-empty -m x
git remote add origin ../up && git fetch -q origin && git update-ref refs/remotes/origin/far HEAD
git -c protocol.file.allow=always submodule --quiet add ../up part && git commit -qm part
git config user.name a && git config user.email a@b.c
"""
LINES = """
git checkout -b near
git commit --allow-empty -m second
git switch -c again --no-track origin/far
git stash
git checkout main
git submodule status
git mv a.txt b.txt
git commit -m moved
git rm -q b.txt
git commit -m gone
git tag v1
git notes add -m note
git reset --hard HEAD
git rebase main
git merge near --no-edit
git bisect start
git bisect reset
git gc
git prune
git archive -o a.tar HEAD
git format-patch -1
git worktree add trees/one --detach
"""


@pytest.fixture
def repository(root: Path) -> Path:
    sh(root, START)
    return root


async def run(executor: CommandExecutor, line: str, folder: str = ".") -> CommandOutcome:
    command, *args = line.split()
    stage = CommandValidator(executor.root, folder=folder).stage_of(command, args)
    # What is fetched lies on this machine, and all else needs no network.
    return await executor.run([stage._replace(profile=Profile.WRITE)], timeout_seconds=30)


@pytest.mark.timeout(180)
async def test_all_the_work_of_a_day_is_done(executor: CommandExecutor, repository: Path) -> None:
    for line in LINES.strip().splitlines():
        outcome = await run(executor, line)
        assert outcome.exit_code == 0, (line, outcome.stdout, outcome.stderr)
        assert b"Read-only" not in outcome.stderr, (line, outcome.stderr)
    assert sh(repository, "git fsck 2>&1") == ""


async def test_also_in_a_submodule(executor: CommandExecutor, repository: Path) -> None:
    for line in ("git checkout -b new", "git commit --allow-empty -m x"):
        outcome = await run(executor, line, "part")
        assert outcome.exit_code == 0, (line, outcome.stderr)


@pytest.mark.parametrize(
    "line", ["git remote add up https://example.com/a.git", "git config a.b c"]
)
async def test_settings_cannot_be_changed(
    executor: CommandExecutor, repository: Path, line: str
) -> None:
    before = (repository / ".git/config").read_bytes()

    outcome = await run(executor, line)

    assert outcome.exit_code != 0
    assert b"config" in outcome.stderr
    assert (repository / ".git/config").read_bytes() == before


PLACES = [
    *("config", "hooks/post-checkout", "info/attributes", "commondir", "worktrees/w/commondir"),
    *("modules/part/config", "modules/part/hooks/post-checkout", "modules/part/commondir"),
]


@pytest.mark.behaviour("git.holds-programs")
@pytest.mark.parametrize("by", ["hook", "filter"])
async def test_what_the_repository_has_git_run_plants_no_program(
    executor: CommandExecutor, repository: Path, by: str
) -> None:
    sh(
        repository,
        "git worktree add -q ../ws-w 2> /dev/null; mv .git/worktrees/ws-w .git/worktrees/w",
    )
    lines = "\n".join(
        f"mkdir -p $(dirname .git/{name}); echo planted >> .git/{name}"
        f"; mv .git/{name} .git/{name}.moved"
        for name in PLACES
    )
    planting = repository / "planting.sh"
    planting.write_text(f"#!/bin/sh\ncat\ntouch {repository}/ran\n{lines}\n")
    planting.chmod(0o755)
    if by == "hook":
        planting.rename(repository / ".git/hooks/pre-commit")
    else:
        sh(
            repository,
            f"git config filter.x.clean {planting} && echo '* filter=x' > .gitattributes",
        )
    sh(repository, "rm -f ran")
    before = {name: content(repository / ".git" / name) for name in PLACES}

    (repository / "a.txt").write_text("changed\n")
    outcome = await run(executor, "git commit -am second")

    assert (repository / "ran").exists(), outcome.stderr
    assert {name: content(repository / ".git" / name) for name in PLACES} == before


def content(path: Path) -> str | None:
    return path.read_text() if path.exists() else None


@pytest.mark.parametrize("template", ["--template=", ""])
async def test_what_is_held_leaves_no_trace(
    executor: CommandExecutor, root: Path, template: str
) -> None:
    words = ["git", "init", "-q", *filter(None, [template]), "."]
    subprocess.run(words, cwd=root, env=PLAIN, check=True)
    before = sorted(path.relative_to(root) for path in (root / ".git").rglob("*"))

    outcome = await run(executor, "git stash list")

    assert outcome.exit_code == 0, outcome.stderr
    assert sorted(path.relative_to(root) for path in (root / ".git").rglob("*")) == before
