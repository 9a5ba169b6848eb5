"""A card says what a commit would record and what a push would send, and a yes is bound to it."""

import subprocess
from pathlib import Path

import pytest

from handrail.core.sight import SeenRecord
from handrail.core.stage import Stage
from handrail.executors.commands.executor import CommandExecutor
from handrail.policy.validators.commands import CommandValidator
from tests.executors.git.shell import PLAIN

START = """
git init -qb main . && echo x > a.txt && echo y > b.txt && git add . && git commit -qm first
echo more > a.txt && git add a.txt && echo later > b.txt
"""


@pytest.fixture
def place(root: Path, executor: CommandExecutor) -> CommandExecutor:
    subprocess.run(["bash", "-ec", START], cwd=root, check=True, env=PLAIN)
    return executor


def git(root: Path, *words: str) -> None:
    subprocess.run(["git", *words], cwd=root, check=True, env=PLAIN)


async def seen(executor: CommandExecutor, *words: str) -> SeenRecord:
    stage: Stage = CommandValidator(executor.root).stage_of("git", words)
    [step] = (await executor.look([stage])).steps
    assert step.record is not None
    return step.record


@pytest.mark.parametrize("words", [("-m", "x"), ("-am", "x"), ("--only", "-mx", "b.txt")])
async def test_all_changes_since_the_last_commit_are_told_and_pinned(
    place: CommandExecutor, root: Path, words: tuple[str, ...]
) -> None:
    before = await seen(place, "commit", *words)
    (root / "b.txt").write_text("another\n")
    changed = await seen(place, "commit", *words)
    git(root, "add", "b.txt")
    staged = await seen(place, "commit", *words)

    assert before.told == "staged: M a.txt; not staged: M b.txt"
    assert staged.told == "staged: M a.txt, M b.txt; not staged: nothing"
    assert len({before.mark, changed.mark, staged.mark}) == 3


async def test_the_same_staged_on_another_commit_is_another_thing(
    place: CommandExecutor, root: Path
) -> None:
    before = await seen(place, "commit", "--amend", "--no-edit")
    git(root, "commit", "-q", "--allow-empty", "--only", "-m", "between")
    after = await seen(place, "commit", "--amend", "--no-edit")

    assert before.told == after.told
    assert before.mark != after.mark


async def test_a_push_is_bound_to_the_branches_as_they_are(
    place: CommandExecutor, root: Path
) -> None:
    git(root, "remote", "add", "origin", "https://example.com/a.git")
    before = await seen(place, "push", "origin", "main")
    git(root, "commit", "-qm", "second")
    after = await seen(place, "push", "origin", "main")

    assert before.told.startswith("all branches and tags; main is at ")
    assert "first" in before.told
    assert "second" not in before.told
    assert "second" in after.told
    assert before.mark != after.mark


async def test_names_that_act_on_a_terminal_are_shown_by_escapes(
    place: CommandExecutor, root: Path
) -> None:
    (root / "c\x1b[2J").touch()
    git(root, "add", "-A")

    assert "A c\\x1b[2J" in (await seen(place, "commit", "-m", "x")).told


async def test_what_cannot_be_told_is_said_to_be_so(executor: CommandExecutor) -> None:
    record = await seen(executor, "commit", "-m", "x")

    assert record.told.startswith("the input of git commit cannot be read before the call: ")
    assert record.mark == ""


async def test_a_card_for_a_push_lists_the_commits_that_no_remote_branch_has(
    place: CommandExecutor, root: Path
) -> None:
    git(root, "remote", "add", "origin", "https://example.com/a.git")
    git(root, "update-ref", "refs/remotes/origin/main", "main")
    assert (await seen(place, "push")).told.endswith(" first")

    for number in range(10):
        git(root, "commit", "-q", "--allow-empty", "-m", f"later {number}")

    _, _, listed = (await seen(place, "push")).told.partition("no remote branch has ")
    assert [f"later {number}" in listed for number in range(10)] == [False] * 2 + [True] * 8
    assert listed.endswith(" and more")
