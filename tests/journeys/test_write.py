"""A write that a person decides about, across three processes, whatever dies on the way."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from handrail.core.card import Choice
from handrail.core.grant import Scope
from tests.journeys.conftest import Rig

YES, NO = Choice(approved=True), Choice(approved=False, reason="leave it as it is")

# The first write of a session takes six commits: the session, which is stored before the call is
# judged, then asked, surveyed, approved, claimed, ended. The first commit of a new home adds the
# user.
COMMITS = (2, 3, 4, 5, 6, 7)


def an_addition(path: str = "notes.txt") -> dict[str, Any]:
    """Done twice, it would show."""
    return {"path": path, "content": "and more\n", "mode": "append"}


@pytest.mark.behaviour("write.approved")
async def test_a_person_sees_the_diff_and_approves_the_write(rig: Rig) -> None:
    file = rig.workspace / "config.json"
    file.write_text('{"colour": "red"}\n')
    rig.start_server()
    rig.start_client()

    async with asyncio.TaskGroup() as group:
        params = {"path": "workspace/config.json", "content": '{"colour": "blue"}\n'}
        asking = group.create_task(rig.call("write_file", params, reasoning="blue is nicer"))
        card = await rig.answer(YES)

    assert card.risk_level == "HIGH"
    assert card.description == "Change 1 line in config.json (+1 \N{MINUS SIGN}1)"
    assert (card.reasoning, card.notes, card.needs_second_step) == ("blue is nicer", (), True)
    assert '-{"colour": "red"}\n+{"colour": "blue"}\n' in card.evidence
    assert asking.result()["status"] == "completed"
    assert file.read_text() == '{"colour": "blue"}\n'
    rig.assert_told_once_and_provable(calls=1)


@pytest.mark.behaviour("write.changes-nothing")
@pytest.mark.parametrize("name", ["config.json", "notes.md"], ids=["high", "medium"])
async def test_a_write_that_changes_nothing_passes_without_a_question(rig: Rig, name: str) -> None:
    file = rig.workspace / name
    file.write_text("{}\n")
    before = file.stat()
    rig.start_server()
    rig.start_client()

    answer = await rig.call("write_file", {"path": name, "content": "{}\n"})

    assert answer["status"] == "completed", answer["error"]
    assert answer["result"]["output"] == f"{name} already has this content; nothing was written"
    assert answer["reasons"] == ["it would change nothing"]
    assert (file.stat().st_ino, file.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert rig.rows("SELECT count(*) FROM tool_approvals") == [(0,)]


@pytest.mark.behaviour("write.refused")
async def test_a_refusal_reaches_the_agent_with_its_reason_and_nothing_is_written(
    rig: Rig,
) -> None:
    file = rig.workspace / "notes.txt"
    file.write_text("as it is\n")
    rig.start_server()
    rig.start_client()

    async with asyncio.TaskGroup() as group:
        asking = group.create_task(rig.call("write_file", an_addition()))
        await rig.answer(NO)

    assert asking.result()["status"] == "rejected"
    assert asking.result()["error"].endswith("refused this call: leave it as it is")
    assert file.read_text() == "as it is\n"
    rig.assert_told_once_and_provable(calls=1)


@pytest.mark.behaviour("approval.times-out")
async def test_a_question_that_nobody_answers_ends_as_timeout(rig: Rig) -> None:
    rig.environment["APPROVAL_TIMEOUT_SECONDS"] = "1"
    rig.start_server()
    rig.start_client()

    answer = await rig.call("write_file", an_addition())

    assert (answer["status"], answer["error"]) == ("timeout", "Approval timeout")
    assert not (rig.workspace / "notes.txt").exists()
    assert rig.rows("SELECT status FROM tool_approvals") == [("expired",)]


@pytest.mark.slow
@pytest.mark.behaviour("approval.times-out-while-down")
async def test_a_deadline_that_passes_while_the_server_is_down_still_counts(rig: Rig) -> None:
    rig.environment["APPROVAL_TIMEOUT_SECONDS"] = "2"
    server = rig.start_server()
    rig.start_client()

    async with asyncio.TaskGroup() as group:
        asking = group.create_task(rig.call("write_file", an_addition()))
        await rig.question()
        await asyncio.to_thread(rig.kill, server)
        await asyncio.sleep(2.1)
        await asyncio.to_thread(rig.start_server)

    assert asking.result()["status"] == "timeout"
    rig.assert_told_once_and_provable(calls=1)


@pytest.mark.behaviour("write.stale")
async def test_what_changed_since_the_person_looked_is_not_overwritten(rig: Rig) -> None:
    file = rig.workspace / "notes.txt"
    file.write_text("as it was\n")
    rig.start_server()
    rig.start_client()

    async with asyncio.TaskGroup() as group:
        asking = group.create_task(
            rig.call("write_file", {"path": "notes.txt", "content": "mine\n"})
        )
        await rig.question()
        file.write_text("somebody was faster\n")
        await rig.answer(YES)

    assert (asking.result()["status"], asking.result()["error_type"]) == ("failed", "stale")
    assert file.read_text() == "somebody was faster\n"


@pytest.mark.behaviour("write.unseen")
async def test_without_a_client_the_card_says_that_nobody_looked(rig: Rig) -> None:
    rig.start_server()

    async with asyncio.TaskGroup() as group:
        asking = group.create_task(rig.call("write_file", an_addition()))
        card = await rig.answer(YES)
        await asyncio.to_thread(rig.start_client)

    assert "no machine is connected" in " ".join(card.notes)
    assert card.evidence == ""
    assert asking.result()["status"] == "completed"
    assert (rig.workspace / "notes.txt").read_text() == "and more\n"


@pytest.mark.behaviour("command.forbidden")
async def test_a_forbidden_command_is_refused_and_nobody_is_asked(rig: Rig) -> None:
    rig.start_server()
    rig.start_client()

    answer = await rig.call("execute_command", {"command": "rm", "args": ["-rf", "/"]})

    assert (answer["status"], answer["error_type"]) == ("failed", "denied")
    assert answer["error"].startswith("Command not allowed")
    assert rig.rows("SELECT count(*) FROM tool_approvals") == [(0,)]


@pytest.mark.usefixtures("asks_beforehand")
@pytest.mark.behaviour("command.approved")
async def test_a_command_runs_when_a_person_approves_it(rig: Rig) -> None:
    rig.start_server()
    rig.start_client()

    async with asyncio.TaskGroup() as group:
        params = {"command": "python3", "args": ["-c", "print(1 + 2)"]}
        asking = group.create_task(rig.call("execute_command", params))
        card = await rig.answer(YES)

    assert any("python3 -c runs code from its arguments" in reason for reason in card.reasons)
    assert asking.result()["status"] == "completed"
    assert asking.result()["result"]["stdout"] == "3\n"


@pytest.mark.usefixtures("needs_box")
@pytest.mark.behaviour("command.boxed")
async def test_a_command_that_only_looks_passes_unasked_in_a_box_that_the_record_names(
    rig: Rig,
) -> None:
    (rig.workspace / "three.txt").write_text("1\n2\n3\n")
    rig.start_server()
    rig.start_client()

    answer = await rig.call("execute_command", {"command": "wc", "args": ["-l", "three.txt"]})

    assert (answer["status"], answer["risk_level"]) == ("completed", "LOW")
    assert answer["result"]["stdout"] == "3 three.txt\n"
    box = {"profile": "read", "walls": ["namespaces", "seccomp", "limits"]}
    assert answer["result"]["box"] == box
    ((details,),) = rig.rows("SELECT details FROM audit WHERE action = 'call.ended'")
    assert json.loads(details)["box"] == box


@pytest.mark.behaviour("grant.class")
async def test_a_class_that_was_approved_passes_unasked_and_its_record_says_so(rig: Rig) -> None:
    rig.start_server()
    rig.start_client()

    def a_write(name: str) -> dict[str, Any]:
        return {"path": name, "content": "pass\n"}

    async with asyncio.TaskGroup() as group:
        group.create_task(rig.call("write_file", a_write("src/a.py"), "call-1"))
        await rig.answer(Choice(approved=True, scope=Scope.CLASS))
    second = await rig.call("write_file", a_write("src/deep/b.py"), "call-2")
    async with asyncio.TaskGroup() as group:
        other = group.create_task(rig.call("write_file", a_write("docs/c.md"), "call-3"))
        await rig.answer(NO)

    ((grant,),) = rig.rows("SELECT id FROM grants")
    assert (second["status"], second["approved_by"], second["scope"]) == (
        "completed",
        grant,
        "class",
    )
    assert other.result()["status"] == "rejected"


@pytest.mark.behaviour("grant.session")
async def test_a_whole_session_that_was_approved_is_asked_no_more_and_ends_there(
    rig: Rig,
) -> None:
    rig.start_server()
    rig.start_client()

    async with asyncio.TaskGroup() as group:
        group.create_task(rig.call("write_file", an_addition("a.txt"), "call-1"))
        await rig.answer(Choice(approved=True, scope=Scope.SESSION))
    same = await rig.call("execute_command", {"command": "mkdir", "args": ["made"]}, "call-2")
    async with asyncio.TaskGroup() as group:
        params = an_addition("b.txt")
        other = group.create_task(rig.call("write_file", params, "call-3", session_id="another"))
        await rig.answer(NO)

    assert (same["status"], same["scope"]) == ("completed", "session")
    assert other.result()["status"] == "rejected"


@pytest.mark.slow
@pytest.mark.points(3)
@pytest.mark.behaviour("write.server-dies")
@pytest.mark.parametrize("commit", COMMITS)
@pytest.mark.parametrize("when", ["before", "after"])
async def test_the_server_may_die_at_any_commit_of_a_write(
    rig: Rig, when: str, commit: int
) -> None:
    file = rig.workspace / "notes.txt"
    file.write_text("here\n")
    server = rig.start_server(dies=f"{when}:commit:{commit}")
    rig.start_client()

    async def go_on_after_its_death() -> None:
        assert await asyncio.to_thread(server.wait, 30) == -9
        await asyncio.to_thread(rig.start_server)

    async with asyncio.TaskGroup() as group:
        asking = group.create_task(rig.call("write_file", an_addition()))
        group.create_task(rig.answer(YES))
        group.create_task(go_on_after_its_death())

    assert asking.result()["status"] == "completed"
    assert file.read_text() == "here\nand more\n"
    rig.assert_told_once_and_provable(calls=1)


@pytest.mark.slow
@pytest.mark.points(4)
@pytest.mark.behaviour("write.client-dies")
@pytest.mark.parametrize(
    ("moment", "status", "added"),
    [
        ("before:facts:1", "completed", 1),
        ("after:facts:1", "completed", 1),
        ("before:claim:1", "completed", 1),
        ("after:claim:1", "completed", 1),
        ("before:beginning:1", "completed", 1),
        ("after:beginning:1", "failed", 0),
        ("before:write:1", "failed", 0),
        ("after:write:1", "failed", 1),
        ("before:end:1", "failed", 1),
        ("after:end:1", "completed", 1),
        ("before:report:1", "completed", 1),
        ("after:report:1", "completed", 1),
    ],
)
async def test_the_client_may_die_at_any_step_of_a_write(
    rig: Rig, moment: str, status: str, added: int
) -> None:
    """Where nobody can know how far it came, that is said; nothing is ever done twice."""
    file = rig.workspace / "notes.txt"
    file.write_text("here\n")
    rig.start_server()
    client = rig.start_client(dies=moment)

    async def go_on_after_its_death() -> None:
        assert await asyncio.to_thread(client.wait, 30) == -9
        await asyncio.to_thread(rig.start_client)

    async with asyncio.TaskGroup() as group:
        asking = group.create_task(rig.call("write_file", an_addition()))
        group.create_task(rig.answer(YES))
        group.create_task(go_on_after_its_death())

    ended = asking.result()
    assert ended["status"] == status
    assert ended["error_type"] == (None if status == "completed" else "outcome_unknown")
    assert file.read_text() == "here\n" + "and more\n" * added
    assert leftovers(rig.workspace) == []
    rig.assert_told_once_and_provable(calls=1)


def leftovers(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir() if path.name.startswith(".handrail-")]
