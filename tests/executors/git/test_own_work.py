"""git does in its box what it does outside, though it cannot change what names programs."""

import subprocess
from pathlib import Path

import pytest

from handrail.core.box import Profile
from handrail.core.outcome import CommandOutcome
from handrail.core.stage import Stage
from handrail.executors.commands.executor import CommandExecutor
from handrail.executors.repository.leave import Leave
from handrail.executors.repository.needs import leave_for
from handrail.policy.validators.commands import CommandValidator
from tests.executors.git.plants import PLAIN

START = """
git init -qb main . && echo x > a.txt && git add a.txt && git commit -qm first
git init -qb main ../up && git -C ../up commit -q --allow-empty -m x
git remote add origin ../up && git fetch -q origin && git update-ref refs/remotes/origin/far HEAD
git -c protocol.file.allow=always submodule --quiet add ../up part && git commit -qm part
"""
LINES = """
git checkout -b near
git commit --allow-empty -m second
git checkout far
git checkout -b tracked origin/main
git switch -c again --track origin/far
git branch -u origin/main near
git branch -m near nearer
git branch -D nearer
git remote add up https://example.com/a.git
git remote rename up over
git remote set-url over https://example.com/b.git
git remote remove over
git worktree add trees/one
git worktree move trees/one trees/two
git worktree lock trees/two
git worktree unlock trees/two
git worktree remove trees/two
git stash
git checkout main
git submodule init
git submodule sync
git submodule deinit -f part
git submodule update --no-fetch
git submodule status
git checkout --recurse-submodules again
git checkout --recurse-submodules main
git mv part moved
git commit -m moved
git rm -qf moved
git commit -m gone
git tag v1
git notes add -m note
git reset --hard HEAD
git rebase main
git cherry-pick --allow-empty tracked
git bisect start
git bisect reset
git gc
git prune
git archive -o a.tar HEAD
git format-patch -1
git init
"""


@pytest.fixture
def repository(root: Path) -> Path:
    subprocess.run(["sh", "-ec", START], cwd=root, env=PLAIN, check=True, capture_output=True)
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

    told = subprocess.run(
        ["git", "config", "--list"], cwd=repository, env=PLAIN, check=True, capture_output=True
    ).stdout.decode()
    for setting in ("branch.far.remote=origin", "branch.again.merge=refs/heads/far"):
        assert setting in told
    assert "remote.over" not in told


async def test_also_in_a_part_and_in_a_further_tree(
    executor: CommandExecutor, repository: Path
) -> None:
    assert (await run(executor, "git worktree add tree")).exit_code == 0
    for folder in ("part", "tree"):
        for line in ("git checkout -b new", "git commit --allow-empty -m x", "git branch -m newer"):
            outcome = await run(executor, line, folder)
            assert outcome.exit_code == 0, (folder, line, outcome.stderr)


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


@pytest.mark.parametrize(
    ("line", "left"),
    [
        ("git commit -m x", Leave()),
        ("git archive -o x.tar HEAD", Leave(repository=False)),
        ("git format-patch -1", Leave(repository=False)),
        ("git fetch origin", Leave()),
        ("git push origin main", Leave()),
        ("git push -u origin main", Leave(settings=True)),
        ("git push -qu origin main", Leave(settings=True)),
        ("git push --set-up origin main", Leave(settings=True)),
        ("timeout 5 git checkout main", Leave(settings=True)),
        ("git rm x", Leave(pointers=True)),
        ("git worktree add x", Leave(settings=True, pointers=True, trees=True)),
        ("git submodule update", Leave(settings=True, pointers=True, modules=True)),
        ("git reset --recurse-sub", Leave(settings=True, pointers=True, modules=True)),
        ("git config --list", Leave(repository=False)),
        ("xargs git checkout", Leave(repository=False)),
        ("make checkout", Leave(repository=False)),
    ],
)
def test_git_is_left_what_its_words_need(line: str, left: Leave) -> None:
    command, *args = line.split()
    stage = CommandValidator("/ws").stage_of(command, args)
    named = stage._replace(argv=(f"/usr/bin/{stage.argv[0]}", *stage.argv[1:]))

    assert leave_for(named) == left
    assert leave_for(Stage(("/usr/bin/cat", "x"), Profile.WRITE)) == Leave(repository=False)
