"""A command without an effect needs no question, because it was tried where nothing is real."""

import asyncio

import pytest

from handrail.core.card import Choice
from tests.journeys.conftest import Rig

pytestmark = pytest.mark.usefixtures("needs_box")


@pytest.mark.behaviour("rehearsal.no-effect")
async def test_a_command_that_changes_nothing_completes_without_a_question(rig: Rig) -> None:
    (rig.workspace / "check.py").write_text("print(6 * 7)\n")
    rig.start_server()
    rig.start_client()

    answer = await rig.call("run_bash", {"command": "python3 check.py && python3 -c 'print(1)'"})

    assert (answer["status"], answer["risk_level"]) == ("completed", "LOW")
    assert answer["result"]["stdout"] == "42\n1\n"
    assert answer["result"]["rehearsed"] is True
    assert "it changed nothing" in answer["result"]["output"]
    assert rig.rows("SELECT count(*) FROM tool_approvals") == [(0,)]


@pytest.mark.behaviour("rehearsal.no-effect")
async def test_a_command_that_takes_longer_than_a_survey_is_not_asked_about(rig: Rig) -> None:
    rig.start_server()
    rig.start_client()

    answer = await rig.call("run_bash", {"command": "python3 -c 'import time; time.sleep(4)'"})

    assert (answer["status"], answer["risk_level"]) == ("completed", "LOW")
    assert rig.rows("SELECT count(*) FROM tool_approvals") == [(0,)]


@pytest.mark.behaviour("rehearsal.effect")
async def test_a_command_that_would_change_a_file_shows_the_diff_and_applies_it(rig: Rig) -> None:
    (rig.workspace / "src").mkdir()
    (rig.workspace / "src/a.py").write_text("old = 1\n")
    rig.start_server()
    rig.start_client()

    line = "sed -i s/old/new/ src/a.py && date +%N"
    call = asyncio.create_task(rig.call("run_bash", {"command": line}))
    card = await rig.answer(Choice(approved=True))
    answer = await call

    assert "-old = 1\n+new = 1" in card.evidence
    assert (card.risk_level, card.reasons) == ("MEDIUM", ("changes 1 file",))
    assert answer["status"] == "completed"
    assert answer["result"]["changed"] == ["src/a.py"]
    assert (rig.workspace / "src/a.py").read_text() == "new = 1\n"
    # The time that was printed is that of the rehearsal, so it ran once.
    assert answer["result"]["stdout"].strip() in card.evidence


@pytest.mark.behaviour("command.hosts")
async def test_a_command_that_needs_the_network_is_told_how_to_ask_for_it(rig: Rig) -> None:
    fetch = "python3 -c 'import socket; socket.create_connection((\"api.example.com\", 443))'"
    rig.start_server()
    rig.start_client()

    first = await rig.call("run_bash", {"command": fetch})
    asking = {"command": fetch, "hosts": ["api.example.com"]}
    again = asyncio.create_task(rig.call("run_bash", asking, call_id="call-2"))
    card = await rig.answer(Choice(approved=False, reason="not today"))
    second = await again

    assert first["status"] == "completed"
    assert "needs network: api.example.com" in first["result"]["output"]
    assert 'hosts=["api.example.com"]' in first["result"]["output"]
    # The name has come out of a result, so the workspace may have chosen it.
    assert card.risk_level == "CRITICAL"
    assert "it can reach only api.example.com" in card.reasons
    assert second["status"] == "rejected"


@pytest.mark.behaviour("rehearsal.effect")
async def test_effects_are_not_applied_over_a_file_that_was_changed_since(rig: Rig) -> None:
    (rig.workspace / "a.txt").write_text("one\n")
    rig.start_server()
    rig.start_client()

    call = asyncio.create_task(rig.call("run_bash", {"command": "sed -i s/one/two/ a.txt"}))
    await rig.question()
    (rig.workspace / "a.txt").write_text("mine\n")
    await rig.answer(Choice(approved=True))
    answer = await call

    assert (answer["status"], answer["error_type"]) == ("failed", "stale")
    assert (rig.workspace / "a.txt").read_text() == "mine\n"


@pytest.mark.behaviour("rehearsal.effect")
@pytest.mark.parametrize(
    ("moment", "status", "is_applied"),
    [
        ("after:facts:1", "completed", True),
        ("after:beginning:1", "failed", False),
        ("before:apply:1", "failed", False),
        ("after:step:1", "completed", True),
        ("after:apply:1", "completed", True),
        ("after:end:1", "completed", True),
    ],
)
async def test_the_client_may_die_at_any_step_and_the_outcome_is_known(
    rig: Rig, moment: str, status: str, is_applied: bool
) -> None:
    for name in ("a", "b"):
        (rig.workspace / name).write_text("one\n")
    rig.start_server()
    client = rig.start_client(dies=moment)

    async def go_on_after_its_death() -> None:
        assert await asyncio.to_thread(client.wait, 60) == -9
        await asyncio.to_thread(rig.start_client)

    async with asyncio.TaskGroup() as group:
        asking = group.create_task(rig.call("run_bash", {"command": "sed -i s/one/two/ a b"}))
        group.create_task(rig.answer(Choice(approved=True)))
        group.create_task(go_on_after_its_death())

    ended = asking.result()
    assert ended["status"] == status
    assert "outcome_unknown" not in str(ended)
    content = "two\n" if is_applied else "one\n"
    assert [(rig.workspace / name).read_text() for name in ("a", "b")] == [content, content]
    rig.assert_told_once_and_provable(calls=1)
