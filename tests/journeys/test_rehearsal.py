"""A command without an effect needs no question, because it was tried where nothing is real."""

import asyncio

import pytest

from handrail.core.card import Choice
from tests.journeys.conftest import Rig

pytestmark = pytest.mark.usefixtures("needs_box")


@pytest.fixture(autouse=True)
def rehearsing(rig: Rig) -> None:
    rig.home.mkdir(mode=0o700)
    (rig.home / "policy.toml").write_text('[policy]\ncommands = "rehearse"\n')


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
async def test_a_command_that_would_change_a_file_asks_and_says_which(rig: Rig) -> None:
    rig.start_server()
    rig.start_client()

    call = asyncio.create_task(rig.call("run_bash", {"command": 'python3 -c \'open("a","w")\''}))
    card = await rig.answer(Choice(approved=True))
    answer = await call

    assert any("it would change a" in reason for reason in card.reasons)
    assert answer["status"] == "completed"
    assert (rig.workspace / "a").exists()
