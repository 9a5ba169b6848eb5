"""What a rehearsed command would do to git is told, and applied as git would have done it."""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from handrail.core.effects import GitWeight
from handrail.core.errors import PathValidationError
from handrail.core.rehearsal import REHEARSAL, CallRef, Rehearsed
from tests.executors.rehearsal.agent import Agent
from tests.executors.rehearsal.conftest import snapshot
from tests.executors.rehearsal.repositories import (
    as_same,
    copy_of,
    faults_in,
    reflogs_of,
    run,
    state_of,
)

TABLE = Path(__file__).with_name("git_commands.toml")


@dataclass(frozen=True)
class Row:
    """A command, what is done before it, its exit code, and what is to be told of it.

    Where `notes` are None, none is asked for; an empty list forbids them.
    """

    command: str
    setup: str = ""
    notes: list[tuple[str, str]] | None = None
    refused: bool = False
    exit: int = 0

    @property
    def loses(self) -> bool:
        return any(weight == GitWeight.LOSS.name for weight, _ in self.notes or ())

    def prepare(self, template: Path, folder: Path) -> Path:
        copy_of(template, folder)
        run(self.setup, folder)
        return folder


def rows() -> list[Row]:
    groups: dict[str, list[dict[str, Any]]] = tomllib.loads(TABLE.read_text(encoding="utf-8"))
    return [Row(**row) for group in groups.values() for row in group]


def named(row: Row) -> str:
    return f"{row.setup}; {row.command}" if row.setup else row.command


def row_of(command: str) -> Row:
    return next(row for row in rows() if row.command == command)


async def rehearse(agent: Agent, row: Row) -> tuple[CallRef, Rehearsed]:
    call, rehearsed = await agent.rehearse(as_same(row.command))
    assert rehearsed.is_complete, rehearsed.ended_by
    assert rehearsed.outcome.exit_code == row.exit, rehearsed.outcome.stderr.decode()
    return call, rehearsed


def check_notes(row: Row, rehearsed: Rehearsed) -> None:
    notes = rehearsed.effects.git.notes
    for weight, fragment in row.notes or ():
        words = [note.words.lower() for note in notes if note.weight is GitWeight[weight]]
        assert any(fragment.lower() in one for one in words), (weight, fragment, notes)
    if row.notes == []:
        assert notes == ()
    heaviest = GitWeight.LOSS if row.loses else GitWeight.SETTING
    assert [note for note in notes if note.weight < heaviest] == []


@pytest.mark.parametrize("row", [row for row in rows() if not row.refused], ids=named)
async def test_a_command_is_told_and_applied_as_git_would_have_done_it(
    agent: Agent, root: Path, template: Path, tmp_path: Path, row: Row
) -> None:
    row.prepare(template, root)
    plain = row.prepare(template, tmp_path / "plain/ws")
    before = snapshot(root)

    call, rehearsed = await rehearse(agent, row)

    assert snapshot(root) == before
    check_notes(row, rehearsed)
    await agent.kept.apply(call)
    run(row.command, plain, row.exit)
    assert state_of(root) == state_of(plain)
    assert reflogs_of(root) == reflogs_of(plain)
    assert faults_in(root) == []


@pytest.mark.parametrize("row", [row for row in rows() if row.refused], ids=named)
async def test_a_command_is_refused_that_would_have_git_run_or_trust_another(
    agent: Agent, root: Path, template: Path, row: Row
) -> None:
    row.prepare(template, root)
    before = snapshot(root)

    call, rehearsed = await rehearse(agent, row)

    assert GitWeight.REFUSED in [note.weight for note in rehearsed.effects.git.notes]
    with pytest.raises(PathValidationError):
        await agent.kept.apply(call)
    assert snapshot(root) == before


async def test_a_folder_that_git_cannot_rename_in_a_rehearsal_is_moved_by_a_shell(
    agent: Agent, root: Path, template: Path, tmp_path: Path
) -> None:
    plain = Row("git mv docs manual").prepare(template, tmp_path / "plain/ws")
    copy_of(template, root)
    assert "Invalid cross-device link" in await agent.output("git mv docs manual")

    call, rehearsed = await rehearse(agent, Row("mv docs manual && git add -A docs manual"))
    await agent.kept.apply(call)
    run("git mv docs manual", plain)

    assert [note.weight for note in rehearsed.effects.git.notes] == [GitWeight.CHANGE] * 2
    assert state_of(root) == state_of(plain)


@pytest.mark.parametrize(
    "command",
    [
        "git add untracked.txt",
        "git commit --allow-empty -qm Empty",
        "git switch -qc topic",
        "git merge clash",
        "git stash drop",
        "git config user.name Bob",
        "git worktree add -q wt feature",
        "rm -rf .git",
        "touch .git/index.lock",
    ],
)
async def test_without_a_yes_a_command_leaves_another_state_than_git_would(
    agent: Agent, root: Path, template: Path, tmp_path: Path, command: str
) -> None:
    """So the comparison of the other tests can fail."""
    row = row_of(command)
    row.prepare(template, root)
    plain = row.prepare(template, tmp_path / "plain/ws")

    await rehearse(agent, row)
    run(row.command, plain, row.exit)

    assert state_of(root) != state_of(plain)


@pytest.mark.parametrize(
    "row",
    [
        Row("git add -A", r"printf 'y = 2\n' >> src/x.py"),
        Row("git commit -qam 'Change x'", r"printf 'y = 2\n' >> src/x.py"),
        Row("git switch -qc topic"),
        Row("git stash push -qm work", r"printf 'y = 2\n' >> src/x.py"),
        Row("git merge -q ahead"),
        Row("git merge -q --no-edit feature"),
        Row("git rebase -q main feature"),
        Row("git reset HEAD~1"),
        Row("git reset -q --hard HEAD~1"),
    ],
    ids=named,
)
async def test_a_step_of_ordinary_work_is_told_in_a_few_lines(
    agent: Agent, root: Path, template: Path, row: Row
) -> None:
    row.prepare(template, root)

    _, rehearsed = await rehearse(agent, row)

    assert 1 <= len(rehearsed.effects.git.notes) <= 3


@pytest.mark.parametrize(
    ("line", "quoted"),
    [
        ("git commit -q --allow-empty -m 'fine” by “Bob'", "“fine\\u{201d} by \\u{201c}Bob”"),
        ("git -c user.name='Al” x' tag -am 'v”' t", " “v\\u{201d}”"),
        ("GIT_AUTHOR_NAME='Al” y' git commit -q --allow-empty -m x", "“Al\\u{201d} y <"),
        ("echo >> a.txt; git stash -qm 'x” y'", "“On main: x\\u{201d} y”"),
        ("git reset -q --hard HEAD~1", "“a, b”"),
    ],
)
async def test_words_of_others_do_not_leave_their_quotation(
    agent: Agent, root: Path, template: Path, line: str, quoted: str
) -> None:
    Row(line, "git commit -q --allow-empty -m 'a, b'").prepare(template, root)

    _, rehearsed = await rehearse(agent, Row(line))

    assert quoted in " ".join(note.words for note in rehearsed.effects.git.notes)


ORDINARY = [
    ("git add untracked.txt", ""),
    ("git add -A && git commit -qm both", "echo new >> a.txt"),
    ("git commit -qam 'Change x'", "echo new >> a.txt"),
    ("git stash -q && git stash apply -q", "echo new >> a.txt"),
    ("git stash -qu", "echo new >> a.txt"),
    ("git merge -q ahead", ""),
    ("git switch -q feature", ""),
    ("git revert --no-edit HEAD", ""),
    ("git cherry-pick feature~1", ""),
    ("git rebase -q main feature", ""),
    ("git merge -q --no-edit feature", ""),
    ("git worktree add -q wt feature", ""),
    ("git add run.sh", "echo true > run.sh; chmod +x run.sh"),
    ("git update-index --chmod=-x run.sh", "echo true > run.sh; chmod +x run.sh; git add run.sh"),
    (
        "git reset -q",
        "echo true > run.sh; chmod +x run.sh; git add run.sh; git commit -qm run; git rm -q run.sh",
    ),
]


@pytest.mark.parametrize(("line", "setup"), ORDINARY)
async def test_local_git_is_what_keeps_to_contents_that_were_there(
    agent: Agent, root: Path, template: Path, line: str, setup: str
) -> None:
    Row(line, setup).prepare(template, root)

    _, rehearsed = await rehearse(agent, Row(line))

    assert rehearsed.facts[REHEARSAL]["git"] == "local"


BROUGHT_IN = [
    "echo evil | git hash-object -w --stdin && git tag t",
    "B=$(echo evil | git hash-object -w --stdin) && git update-index --cacheinfo 100644,$B,a.txt",
    "B=$(echo evil | git hash-object -w --stdin)"
    " && T=$(printf '100644 blob %s\\ta.txt\\n' $B | git mktree)"
    " && git branch evil $(git commit-tree -m fine $T)",
    "echo evil > a.txt && git commit -qam fine && git switch -q feature",
    "echo evil > a.txt && git stash -q",
    "git notes add -m evil HEAD",
    "GIT_WORK_TREE=/tmp/t git status; mkdir -p /tmp/t && cd /tmp/t && echo evil > a.txt"
    " && export GIT_DIR=$OLDPWD/.git GIT_WORK_TREE=/tmp/t && git add a.txt",
]


@pytest.mark.parametrize("line", BROUGHT_IN)
async def test_local_git_brings_in_no_content_by_way_of_git_alone(
    agent: Agent, root: Path, template: Path, line: str
) -> None:
    """Else a later checkout would write it into a file, as a content that git had before."""
    copy_of(template, root)

    _, rehearsed = await rehearse(agent, Row(line))

    assert rehearsed.facts[REHEARSAL]["git"] == "other"
    assert "that no file of the folder has" in " ".join(
        note.words for note in rehearsed.effects.git.notes
    )
