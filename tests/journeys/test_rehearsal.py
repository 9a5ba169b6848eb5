"""A command without an effect needs no question, because it was tried where nothing is real."""

import asyncio
from collections.abc import Callable

import pytest

from handrail.core.card import Card, Choice
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
async def test_a_card_names_caches_that_are_not_applied(rig: Rig) -> None:
    rig.start_server()
    rig.start_client()
    line = "mkdir __pycache__; echo c > __pycache__/c.pyc; echo x > a.txt"

    call = asyncio.create_task(rig.call("run_bash", {"command": line}))
    card = await rig.answer(Choice(approved=True))
    answer = await call

    assert "[scratch, not applied] __pycache__: 1 file" in card.evidence.splitlines()
    assert answer["status"] == "completed"
    assert not (rig.workspace / "__pycache__").exists()
    assert (rig.workspace / "a.txt").read_text() == "x\n"


@pytest.mark.behaviour("rehearsal.effect")
async def test_a_title_counts_files_and_folders_as_the_reasons_do(rig: Rig) -> None:
    (rig.workspace / "old").mkdir()
    for name in ("a.txt", "b.txt"):
        (rig.workspace / "old" / name).write_text("x\n")
    rig.start_server()
    rig.start_client()

    call = asyncio.create_task(rig.call("run_bash", {"command": "rm -r old"}))
    card = await rig.answer(Choice(approved=True))

    assert (await call)["status"] == "completed"
    assert card.description == "Run: rm -r old: deletes 2 files and 1 folder"
    assert "changes 2 files and 1 folder" in card.reasons
    assert not (rig.workspace / "old").exists()


@pytest.mark.behaviour("rehearsal.effect")
async def test_a_yes_to_what_has_changed_since_asks_again_with_the_new_effect(rig: Rig) -> None:
    path = rig.workspace / "a.txt"
    path.write_text("one\n")
    rig.start_server()
    rig.start_client()

    call = asyncio.create_task(rig.call("run_bash", {"command": "sed -i s/one/two/ a.txt"}))
    first = await changed_before_the_yes(rig, lambda: path.write_text("one of mine\n"))
    second = await rig.answer(Choice(approved=True))
    answer = await call

    assert "-one\n+two" in first.evidence
    assert "-one of mine\n+two of mine" in second.evidence
    assert any("a.txt has other content now, so nothing was" in why for why in second.reasons)
    assert answer["status"] == "completed"
    assert path.read_text() == "two of mine\n"
    assert rig.rows("SELECT status FROM tool_approvals") == [("approved",), ("approved",)]
    assert rig.rows("SELECT count(*) FROM audit WHERE action = 'call.judged_again'") == [(1,)]
    rig.assert_told_once_and_provable(calls=1)


@pytest.mark.behaviour("rehearsal.effect")
async def test_a_call_whose_effect_changes_again_is_not_asked_about_for_ever(rig: Rig) -> None:
    path = rig.workspace / "a.txt"
    path.write_text("one\n")
    rig.start_server()
    rig.start_client()

    call = asyncio.create_task(rig.call("run_bash", {"command": "sed -i s/one/two/ a.txt"}))
    for mine in ("one of mine\n", "one more\n"):
        await changed_before_the_yes(rig, lambda mine=mine: path.write_text(mine))
    answer = await call

    assert (answer["status"], answer["error_type"]) == ("failed", "stale")
    assert path.read_text() == "one more\n"
    assert rig.rows("SELECT count(*) FROM tool_approvals") == [(2,)]


@pytest.mark.behaviour("rehearsal.effect")
async def test_a_call_that_has_no_effect_any_more_is_completed_without_a_second_question(
    rig: Rig,
) -> None:
    path = rig.workspace / "a.txt"
    path.write_text("one\n")
    rig.start_server()
    rig.start_client()

    call = asyncio.create_task(rig.call("run_bash", {"command": "sed -i s/one/two/ a.txt"}))
    await changed_before_the_yes(rig, lambda: path.write_text("two\n"))
    answer = await call

    assert answer["status"] == "completed"
    assert "it changed nothing" in answer["result"]["output"]
    assert rig.rows("SELECT count(*) FROM tool_approvals") == [(1,)]
    rig.assert_told_once_and_provable(calls=1)


@pytest.mark.behaviour("rehearsal.effect")
async def test_what_was_approved_is_applied_though_a_file_that_was_only_read_has_changed(
    rig: Rig,
) -> None:
    (rig.workspace / "from.txt").write_text("shown\n")
    rig.start_server()
    rig.start_client()

    call = asyncio.create_task(
        rig.call(
            "run_bash",
            {"command": "python3 -c \"open('to.txt', 'w').write(open('from.txt').read())\""},
        )
    )
    await changed_before_the_yes(rig, lambda: (rig.workspace / "from.txt").write_text("other\n"))
    answer = await call

    assert answer["status"] == "completed"
    assert (rig.workspace / "to.txt").read_text() == "shown\n"
    assert rig.rows("SELECT count(*) FROM tool_approvals") == [(1,)]


async def changed_before_the_yes(rig: Rig, change: Callable[[], object]) -> Card:
    """Wait for the question, change something, and say yes to what was shown."""
    await rig.question()
    change()
    return await rig.answer(Choice(approved=True))


@pytest.mark.points(3)
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


@pytest.mark.behaviour("rehearsal.effect")
async def test_a_client_that_does_not_rehearse_has_the_calls_of_another_asked_about_at_once(
    rig: Rig,
) -> None:
    rig.start_server()
    client = rig.start_client()
    call = asyncio.create_task(
        rig.call("run_bash", {"command": "python3 -c 'import time; time.sleep(25)'"})
    )
    async with asyncio.timeout(20):
        while rig.rows("SELECT status FROM tool_executions") != [("pending",)]:
            await asyncio.sleep(0.05)
    rig.kill(client)
    (rig.home / "policy.toml").write_text('[policy]\ncommands = "ask"\n')
    rig.start_client()

    async with asyncio.timeout(20):
        while not (card := await rig.question()).evidence:
            await asyncio.sleep(0.1)
    await rig.answer(Choice(approved=False))

    assert (await call)["status"] == "rejected"
    assert card.risk_level == "HIGH", card.reasons
