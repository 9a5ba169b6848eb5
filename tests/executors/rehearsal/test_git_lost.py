"""Content and commits that git would keep nowhere afterwards are told as a loss, and no others."""

from pathlib import Path

import pytest

from handrail.core.effects import GitWeight
from tests.executors.rehearsal.agent import Agent
from tests.executors.rehearsal.repositories import as_same, copy_of, run


async def lost_by(agent: Agent, line: str) -> list[str]:
    """The losses that are told of a line."""
    _, rehearsed = await agent.rehearse(as_same(line))
    assert rehearsed.is_complete, rehearsed.ended_by
    assert rehearsed.outcome.exit_code == 0, rehearsed.outcome.stderr.decode()
    notes = rehearsed.effects.git.notes
    assert GitWeight.REFUSED not in [note.weight for note in notes], notes
    return [note.words for note in notes if note.weight is GitWeight.LOSS]


# A commit that only the log of the branch names.
ONLY_IN_LOG = (
    "git branch topic; git update-ref refs/heads/topic"
    " $(git commit-tree -p main -m precious main^{tree}); git update-ref refs/heads/topic main"
)


@pytest.mark.parametrize(
    "line", ["git branch -q -D topic", "git branch -q -D topic; git branch other main"]
)
async def test_a_branch_whose_log_alone_names_a_commit_is_a_loss_when_it_goes(
    agent: Agent, root: Path, template: Path, line: str
) -> None:
    copy_of(template, root)
    run(ONLY_IN_LOG, root)

    (lost,) = await lost_by(agent, line)

    assert "precious" in lost


async def test_the_log_of_a_removed_worktree_is_a_loss_where_it_alone_names_a_commit(
    agent: Agent, root: Path, template: Path
) -> None:
    copy_of(template, root)
    run(
        "git worktree add -q --detach wt; git -C wt commit -q --allow-empty -m precious;"
        " git -C wt checkout -q main~1",
        root,
    )

    (lost,) = await lost_by(agent, "git worktree remove wt")

    assert "precious" in lost


@pytest.mark.parametrize(
    ("line", "setup"),
    [
        (
            "git branch -q -d topic",
            "git switch -qc topic; git commit -q --allow-empty -m one;"
            " git commit -q --allow-empty --amend -m two; git switch -q main; git merge -q topic",
        ),
        ("git branch -q -m topic renamed", ONLY_IN_LOG),
        ("git branch -q -D topic", f"{ONLY_IN_LOG}; git branch copy topic@{{1}}"),
    ],
)
async def test_a_branch_goes_without_a_loss_if_its_commits_are_found_elsewhere(
    agent: Agent, root: Path, template: Path, line: str, setup: str
) -> None:
    copy_of(template, root)
    run(setup, root)

    assert await lost_by(agent, line) == []


PARTLY_STAGED = "echo precious >> a.txt; git add a.txt; echo later >> a.txt"


@pytest.mark.parametrize(
    "line",
    [
        "git reset -q",
        "git reset -q a.txt",
        "git restore --staged a.txt",
        "git rm -q --cached -f a.txt",
        "git read-tree HEAD",
        "git checkout -q HEAD -- a.txt",
        "git update-index --force-remove a.txt",
        "git update-index --cacheinfo 100644,$(git rev-parse HEAD~1:a.txt),a.txt",
        "rm .git/index",
        "git stash -q; git stash drop -q",
        "git switch -q -f feature",
    ],
)
async def test_a_content_that_only_the_index_has_is_a_loss_when_it_is_no_longer_staged(
    agent: Agent, root: Path, template: Path, line: str
) -> None:
    copy_of(template, root)
    run(PARTLY_STAGED, root)

    lost = await lost_by(agent, line)

    assert "a.txt as it is staged" in " ".join(lost)


async def test_a_staged_content_is_a_loss_where_the_file_is_as_git_had_it(
    agent: Agent, root: Path, template: Path
) -> None:
    """The index gets the present content of the file, but that is none that was staged."""
    copy_of(template, root)
    run("echo precious >> a.txt; git add a.txt; git show HEAD:a.txt > a.txt", root)

    (lost,) = await lost_by(agent, "git reset -q")

    assert "a.txt as it is staged" in lost


@pytest.mark.parametrize(
    ("line", "setup"),
    [
        ("git commit -qm part", PARTLY_STAGED),
        (
            "git commit -qm part; git switch -q -f feature; git switch -q main",
            "echo >> a.txt; git add a.txt",
        ),
        ("git stash -q", PARTLY_STAGED),
        ("git stash pop -q --index", f"{PARTLY_STAGED}; git stash -q"),
        ("git stash pop -q", "echo new >> a.txt; git add a.txt; git stash -q"),
        ("git add a.txt", PARTLY_STAGED),
        ("git commit -qam whole", PARTLY_STAGED),
        ("git mv a.txt b.txt", PARTLY_STAGED),
        ("git reset -q", "echo new >> a.txt; git add a.txt"),
        ("git rm -q --cached new.txt", "echo new > new.txt; git add new.txt"),
        ("git reset -q", "git add -N untracked.txt"),
        ("git reset -q", "git mv a.txt b.txt"),
        ("git reset -q", "git show feature:src/f.py > src/f.py; git add .; rm src/f.py"),
    ],
)
async def test_what_is_staged_goes_without_a_loss_if_its_content_is_kept(
    agent: Agent, root: Path, template: Path, line: str, setup: str
) -> None:
    copy_of(template, root)
    run(setup, root)

    assert await lost_by(agent, line) == []


async def test_a_stash_that_is_taken_back_without_its_index_loses_what_was_staged(
    agent: Agent, root: Path, template: Path
) -> None:
    copy_of(template, root)
    run(f"{PARTLY_STAGED}; git stash -q", root)

    (lost,) = await lost_by(agent, "git stash pop -q")

    assert "not what was staged in it: a.txt" in lost


SUBMODULE = (
    "git -c protocol.file.allow=always submodule --quiet add $PWD/stock/lib lib;"
    " git commit -qm Submodule"
)


@pytest.mark.parametrize("edit", ["echo precious >> lib/l.txt", "echo precious > lib/new.txt"])
async def test_a_file_of_a_submodule_is_a_loss_where_its_repository_does_not_have_it(
    agent: Agent, root: Path, template: Path, edit: str
) -> None:
    copy_of(template, root)
    run(f"{SUBMODULE}; {edit}", root)

    (lost,) = await lost_by(agent, "git submodule --quiet deinit -f lib")

    assert edit.split()[-1] in lost
