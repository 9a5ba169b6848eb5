"""A session that works in a draft: nothing is real before a person has agreed to the sum."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from handrail.core.card import Choice
from tests.executors.rehearsal.repositories import run
from tests.journeys.conftest import Rig

pytestmark = [pytest.mark.usefixtures("needs_box"), pytest.mark.slow]


@pytest.fixture
def drafting(rig: Rig) -> Rig:
    """A server and a client, whose project has the autonomy `draft`."""
    rig.start_server()
    set_autonomy(rig)
    rig.start_client()
    return rig


def set_autonomy(rig: Rig) -> None:
    done = rig.run("autonomy", "draft", "--workspace", str(rig.workspace))
    assert done.returncode == 0, done.stderr


@pytest.mark.behaviour("draft.sum")
async def test_calls_pass_unasked_and_one_card_shows_their_sum(drafting: Rig) -> None:
    workspace = drafting.workspace
    (workspace / "a.txt").write_text("one\n")

    await done(drafting, "write_file", {"path": "a.txt", "content": "two\n"})
    seen = await done(drafting, "read_file", {"path": "a.txt"})
    await done(drafting, "run_bash", {"command": "echo three >> a.txt; mkdir d; cp a.txt d/b.txt"})
    shown = await done(drafting, "execute_command", {"command": "cat", "args": ["d/b.txt"]})
    found = await done(drafting, "search_code", {"pattern": "three"})

    assert "two" in seen["output"]
    assert "two\nthree" in shown["output"]
    assert found["total_count"] == 2
    assert files_in(workspace) == {"a.txt": "one\n"}

    applied, card = await asyncio.gather(
        done(drafting, "apply_draft", {}), drafting.answer(Choice(approved=True))
    )
    assert "+three" in card.evidence
    assert "Write 1 line to a.txt" in card.evidence
    assert applied["changed"] == ["a.txt", "d", "d/b.txt"]
    assert files_in(workspace) == {"a.txt": "two\nthree\n", "d/b.txt": "two\nthree\n"}


@pytest.mark.behaviour("draft.refused")
async def test_a_refused_draft_changes_nothing(drafting: Rig) -> None:
    for name in ("a.txt", "b.txt"):
        await done(drafting, "write_file", {"path": name, "content": "two\n"})

    no = Choice(approved=False, reason="use three")
    answer, card = await asyncio.gather(
        drafting.call("apply_draft", {}, "apply"), drafting.answer(no)
    )

    assert "+two" in card.evidence
    assert answer["status"] == "rejected"
    assert "use three" in answer["error"]
    assert files_in(drafting.workspace) == {}
    assert "two" in (await done(drafting, "read_file", {"path": "a.txt"}))["output"]


@pytest.mark.behaviour("draft.undone")
async def test_an_applied_draft_is_undone_as_a_whole(drafting: Rig) -> None:
    workspace = drafting.workspace
    (workspace / "a.txt").write_text("one\n")
    (workspace / "gone.txt").write_text("gone\n")
    await done(drafting, "edit_file", {"path": "a.txt", "old": "one", "new": "two"})
    await done(drafting, "run_bash", {"command": "rm gone.txt; mkdir d; echo b > d/b.txt"})
    yes = Choice(approved=True)
    applied, _ = await asyncio.gather(done(drafting, "apply_draft", {}), drafting.answer(yes))
    assert applied["can_undo"] is True
    assert files_in(workspace) == {"a.txt": "two\n", "d/b.txt": "b\n"}

    [(call,)] = drafting.rows("SELECT id FROM tool_executions WHERE tool_name = 'apply_draft'")
    undone = await asyncio.to_thread(
        drafting.run, "undo", call, "--yes", "--workspace", str(workspace)
    )

    assert undone.returncode == 0, undone.stdout + undone.stderr
    assert files_in(workspace) == {"a.txt": "one\n", "gone.txt": "gone\n"}


@pytest.mark.behaviour("draft.git")
async def test_git_of_a_draft_reads_what_it_has_written_there(drafting: Rig) -> None:
    workspace = drafting.workspace
    run("git init -q -b main; git config user.name a; git config user.email b", workspace)
    run("echo one > kept.txt; git add .; git commit -qm first", workspace)

    await done(drafting, "edit_file", {"path": "kept.txt", "old": "one", "new": "two"})
    await done(drafting, "move_file", {"path": "kept.txt", "to": "moved.txt"})
    await done(drafting, "git", {"action": "add", "args": ["-A"]})
    staged = await done(drafting, "git", {"action": "status", "args": ["--short"]})
    await done(drafting, "git", {"action": "commit", "args": ["-m", "second"]})
    log = await done(drafting, "git", {"action": "log", "args": ["--format=%s"]})

    assert staged["stdout"].split() == ["D", "kept.txt", "A", "moved.txt"]
    assert log["stdout"].split() == ["second", "first"]
    assert run("git log --format=%s; git status --short", workspace) == "first\n"
    yes = Choice(approved=True)
    await asyncio.gather(done(drafting, "apply_draft", {}), drafting.answer(yes))
    assert run("git log --format=%s; git status --short", workspace) == "second\nfirst\n"


@pytest.mark.behaviour("draft.discarded")
async def test_discarded_steps_are_gone_for_the_session_too(drafting: Rig) -> None:
    for number in range(1, 4):
        await done(drafting, "write_file", {"path": f"{number}.txt", "content": f"{number}\n"})

    discarded = await done(drafting, "discard_draft", {"step": 2})
    listed = await done(drafting, "list_directory", {"path": "."})

    assert discarded["removed"] == [2, 3]
    assert [entry["path"] for entry in listed["files"]] == ["1.txt"]


@pytest.mark.behaviour("draft.restart")
async def test_a_draft_survives_that_client_and_server_are_killed(rig: Rig) -> None:
    server = rig.start_server()
    set_autonomy(rig)
    client = rig.start_client()
    await done(rig, "write_file", {"path": "a.txt", "content": "two\n"})

    rig.kill(client)
    rig.kill(server)
    rig.start_server()
    rig.start_client()

    assert "two" in (await done(rig, "read_file", {"path": "a.txt"}))["output"]
    assert files_in(rig.workspace) == {}


@pytest.mark.behaviour("draft.none")
async def test_where_nothing_is_drafted_there_is_no_draft_to_apply(rig: Rig) -> None:
    rig.start_server()
    rig.start_client()

    answer = await rig.call("apply_draft", {}, "apply")

    assert answer["status"] == "failed"
    assert "this session has no draft" in answer["error"]


async def done(rig: Rig, tool: str, params: dict[str, Any]) -> dict[str, Any]:
    """The result of a call that nobody had to be asked about, or that was approved."""
    count = rig.rows("SELECT count(*) FROM tool_executions")[0][0]
    answer = await rig.call(tool, params, f"call-{count}")
    assert answer["status"] == "completed", answer
    return answer["result"]


def files_in(workspace: Path) -> dict[str, str]:
    return {
        str(path.relative_to(workspace)): path.read_text()
        for path in sorted(workspace.rglob("*"))
        if path.is_file() and ".handrail" not in path.parts
    }
