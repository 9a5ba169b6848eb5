"""A change of git is there whole or not at all, and is never put over what another did."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from handrail.core.errors import StaleFileError
from handrail.core.rehearsal import CallRef
from handrail.core.undo import Undone, UndoStatus
from handrail.executors.rehearsal.probe import Proof
from tests.executors.rehearsal.agent import Agent
from tests.executors.rehearsal.git_kills import CUTS, LINE
from tests.executors.rehearsal.repositories import (
    as_same,
    copy_of,
    faults_in,
    locks_in,
    run,
    state_of,
)

REPOSITORY = Path(__file__).parents[3]
PARTS = 4


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("part", range(PARTS))
def test_a_kill_at_any_step_leaves_all_or_nothing(part: int, tmp_path: Path, proof: Proof) -> None:
    program = [sys.executable, "-m", "tests.executors.rehearsal.git_kills"]
    words = [str(tmp_path), str(part), str(PARTS)]
    done = subprocess.run(
        [*program, *words], cwd=REPOSITORY, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["wrong"] == []
    assert len(told["ends"]) * PARTS == CUTS <= told["steps"]
    assert set(told["ends"]) == {"before", "after"}


async def rehearse(agent: Agent, line: str) -> CallRef:
    call, rehearsed = await agent.rehearse(as_same(line))
    assert rehearsed.is_complete, rehearsed.ended_by
    assert rehearsed.outcome.exit_code == 0, rehearsed.outcome.stderr.decode()
    return call


@pytest.mark.parametrize(
    "line",
    [
        LINE,
        "git add untracked.txt",
        "git reset -q --hard HEAD~1",
        "git branch -D feature",
        "git tag -f v1 main",
        "git stash push -qu",
        "git stash drop",
        "git merge -q clash || true",
        "git rebase -q main feature",
        "git config user.name Bob",
        "git worktree add -q wt feature",
        "git init -q sub",
        "rm -rf .git",
    ],
)
async def test_what_was_applied_to_git_is_undone(
    agent: Agent, root: Path, template: Path, line: str
) -> None:
    copy_of(template, root)
    before = state_of(root)
    call = await rehearse(agent, line)
    await agent.kept.apply(call)
    assert state_of(root) != before

    undone = agent.store.undo_all([call.tool_id])

    assert undone == [Undone(call.tool_id, UndoStatus.UNDONE)]
    assert state_of(root) == before
    assert faults_in(root) == []


@pytest.mark.parametrize(
    "meanwhile",
    [
        "git commit -q --allow-empty -m Person",
        "git add untracked.txt; git commit -qm Person",
        "git add untracked.txt",
        "git switch -q ahead",
        "printf 'mine\\n' >> src/x.py",
        "printf 'mine\\n' > new.txt",
        "git branch topic v1",
        "git tag t2 v1",
        # Refs are compared as files, and these put them into another file.
        "git pack-refs --all",
        "git gc -q --prune=now",
    ],
)
async def test_what_a_person_did_to_the_same_meanwhile_stays_and_nothing_is_applied(
    agent: Agent, root: Path, template: Path, meanwhile: str
) -> None:
    copy_of(template, root)
    call = await rehearse(agent, LINE)
    run(meanwhile, root)
    as_left = state_of(root)

    with pytest.raises(StaleFileError):
        await agent.kept.apply(call)

    assert state_of(root) == as_left
    assert faults_in(root) == []


@pytest.mark.parametrize("lock", ["index.lock", "HEAD.lock", "refs/heads/main.lock"])
async def test_a_lock_that_a_persons_git_holds_is_left_alone_and_nothing_is_applied(
    agent: Agent, root: Path, template: Path, lock: str
) -> None:
    copy_of(template, root)
    call = await rehearse(agent, LINE)
    (root / ".git" / lock).write_text("held")
    as_left = state_of(root)

    with pytest.raises(StaleFileError):
        await agent.kept.apply(call)

    assert locks_in(root) == [f".git/{lock}"]
    assert (root / ".git" / lock).read_text() == "held"
    assert state_of(root) == as_left


@pytest.mark.parametrize(
    "meanwhile",
    [
        "touch a.txt; git status",
        "git update-ref refs/remotes/origin/new feature",
        "git fetch -q origin '+refs/heads/*:refs/remotes/again/*'",
        "git update-ref refs/heads/ahead $(git commit-tree -p ahead -m Person 'ahead^{tree}')",
        "git tag person",
    ],
)
async def test_what_a_person_did_elsewhere_meanwhile_stays_beside_what_is_applied(
    agent: Agent, root: Path, template: Path, tmp_path: Path, meanwhile: str
) -> None:
    copy_of(template, root)
    plain = copy_of(template, tmp_path / "plain/ws")
    call = await rehearse(agent, LINE)
    run(meanwhile, root)

    await agent.kept.apply(call)

    run(f"{meanwhile}; {LINE}", plain)
    assert state_of(root) == state_of(plain)
    assert faults_in(root) == []
