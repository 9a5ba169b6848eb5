"""Every event as it comes over the line: who hears it, with which words, and with no others."""

import json
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from handrail.core.access import Role
from handrail.core.card import MASKED as MASKED_CARD
from handrail.core.card import WHOLE_SESSION
from handrail.store.sqlite import SqliteStore
from tests.conftest import Household
from tests.journeys.playing import Play
from tests.server.conftest import Caller, Listener, a_result, add_machine

SECRET = "open-sesame"
CONTENT = f"token={SECRET}\n"
MASKED = "token=[masked]\n"
LATE = timedelta(seconds=60)

Heard = tuple[int, str, dict[str, Any]]


@dataclass(frozen=True)
class Ears:
    """A person, the machine that is to execute, and another machine of the same workspace."""

    person: Listener
    machine: Listener
    bystander: Listener

    async def all_hear(self, name: str) -> dict[str, Any]:
        """The next event of all three, which is the same."""
        heard = [await ear.event() for ear in (self.person, self.machine, self.bystander)]
        assert heard[0] == heard[1] == heard[2]
        assert heard[0][1] == name
        return without_time(heard[0][2])

    async def let_pass(self, count: int) -> None:
        """What is told to the person and to the machine before it matters here."""
        for ear in (self.person, self.machine):
            await ear.told(count)

    async def machine_hears(self, name: str) -> dict[str, Any]:
        """What the machine hears next, and a person as a change of state, under one number."""
        number, told, payload = await self.machine.event()
        heard = await self.person.event()
        assert told == name
        assert heard[:2] == (number, "tool.status")
        assert set(heard[2]) == {"tool_id", "tool_name", "status", "timestamp"}
        assert heard[2]["timestamp"] == payload["timestamp"]
        return without_time(payload)


def without_time(payload: dict[str, Any]) -> dict[str, Any]:
    """A payload without its timestamp, which is ISO 8601, in UTC, and of just now."""
    rest = dict(payload)
    told_at = rest.pop("timestamp")
    assert told_at.endswith("Z")
    assert abs(datetime.now(UTC) - datetime.fromisoformat(told_at)) < LATE
    return rest


@pytest.fixture
async def ears(caller: Caller, newcomers: SqliteStore, ada: Household) -> AsyncGenerator[Ears]:
    _, bystander = await add_machine(newcomers, ada)
    async with (
        caller.listen(ada, ada.secrets[Role.USER]) as person,
        # What is to be done is given to the machine that came first.
        caller.listen(ada, ada.secrets[Role.CLIENT]) as machine,
        caller.listen(ada, bystander) as other,
    ):
        yield Ears(person, machine, other)


@pytest.mark.behaviour("event.survey-request")
async def test_the_machine_is_asked_to_look_with_the_raw_parameters(play: Play, ears: Ears) -> None:
    await play.be_pending(content=CONTENT)

    assert await ears.machine_hears("tool.survey_request") == {
        "approval_id": play.approval_id,
        "tool_id": play.tool_id,
        "session_id": "session-1",
        "tool_name": "write_file",
        "tool_params": {"path": "notes.md", "content": CONTENT},
        "unmasked": False,
        "autonomy": "supervised",
        "epoch": 0,
        "replayed": False,
    }


@pytest.mark.behaviour("event.approval-request")
async def test_a_question_is_put_to_everyone_with_masked_parameters(
    play: Play, ears: Ears, ada: Household
) -> None:
    await play.be_awaiting_approval(content=CONTENT, reasoning="to remember")

    await ears.machine_hears("tool.survey_request")
    asked = await ears.all_hear("tool.approval_request")

    shown = await play.ask(Role.USER, "GET", f"/approvals/{play.approval_id}")
    assert asked == shown.body
    in_full = (await play.ask(Role.USER, "GET", f"/approvals/{play.approval_id}/unmasked")).body
    assert in_full["tool_params"]["content"] == CONTENT
    assert (asked.pop("offers"), asked.pop("masked")) == ([], 1)
    asked["offers"] = in_full["offers"]
    expires_at = datetime.fromisoformat(asked.pop("expires_at"))
    assert abs(expires_at - datetime.now(UTC) - timedelta(seconds=300)) < LATE
    assert len(asked.pop("digest")) == 64
    assert asked == {
        "approval_id": play.approval_id,
        "tool_id": play.tool_id,
        "tool_name": "write_file",
        "tool_params": {"path": "notes.md", "content": MASKED},
        "risk_level": "MEDIUM",
        "reasons": ["changes a file in the workspace"],
        "reasoning": "to remember",
        "agent_id": ada.agent.subject,
        "agent_name": "test",
        "client_name": "here",
        "editable": ["content"],
        "revised_by": None,
        "revised_at": None,
        "revision": None,
        "session_id": "session-1",
        "timeout_seconds": 300,
        "description": "Write 1 line to notes.md",
        "estimated_duration_ms": None,
        "notes": [MASKED_CARD.format(parts="1 part")],
        "evidence": "",
        "offers": [
            {
                "scope": "once",
                "words": "this call, once",
                "warning": None,
                "past": None,
                "past_calls": None,
            },
            {
                "scope": "class",
                "words": "writes to *.md in the workspace's top folder,"
                " for the rest of this session",
                "warning": None,
                "past": "first call of this kind by this agent in this project",
                "past_calls": 0,
            },
            {
                "scope": "project",
                "words": "writes to *.md in the workspace's top folder,"
                " always in this project, in every session of this agent",
                "warning": None,
                "past": "first call of this kind by this agent in this project",
                "past_calls": 0,
            },
            {
                "scope": "session",
                "words": "every call in this session, except network access",
                "warning": WHOLE_SESSION,
                "past": None,
                "past_calls": None,
            },
        ],
        "needs_second_step": False,
        "status": "pending",
        "decided_by": None,
        "decided_at": None,
        "channel": None,
        "scope": None,
        "reason": None,
        "grant_id": None,
    }


@pytest.mark.behaviour("event.resolved")
@pytest.mark.parametrize(
    ("answer", "body", "words"),
    [
        (
            "approve",
            {"decision": "approved", "channel": "console"},
            {"status": "approved", "scope": "once", "reason": None},
        ),
        (
            "reject",
            {"reason": "not now", "channel": "console"},
            {"status": "rejected", "scope": None, "reason": "not now"},
        ),
    ],
)
async def test_an_answer_is_told_to_everyone_with_who_where_and_when(
    play: Play,
    ears: Ears,
    ada: Household,
    answer: str,
    body: dict[str, str],
    words: dict[str, str | None],
) -> None:
    await play.be_awaiting_approval()
    await ears.machine_hears("tool.survey_request")
    await ears.all_hear("tool.approval_request")

    await play.ask(Role.USER, "POST", f"/approvals/{play.approval_id}/{answer}", json=body)

    resolved = await ears.all_hear("approval.resolved")
    assert abs(datetime.fromisoformat(resolved.pop("decided_at")) - datetime.now(UTC)) < LATE
    assert resolved == words | {
        "approval_id": play.approval_id,
        "tool_id": play.tool_id,
        "decided_by": ada.project.name,
        "channel": "console",
    }


@pytest.mark.behaviour("event.execution-signal")
async def test_the_signal_reaches_one_machine_with_the_raw_parameters(
    play: Play, ears: Ears, ada: Household
) -> None:
    await play.be_approved(content=CONTENT)
    await ears.let_pass(3)
    asked = await play.ask(Role.USER, "GET", f"/approvals/{play.approval_id}")

    assert await ears.machine_hears("tool.execution_signal") == {
        "tool_id": play.tool_id,
        "session_id": "session-1",
        "tool_name": "write_file",
        "tool_params": {"path": "notes.md", "content": CONTENT},
        "digest": asked.body["digest"],
        "salt": ada.project.digest_salt,
        "epoch": 1,
        "status": "approved",
        "risk_level": "MEDIUM",
        "surveyed": True,
        "replayed": False,
        "execution_context": {
            "approved": True,
            "approved_by": ada.project.name,
            "scope": "once",
            "autonomy": "supervised",
            "by_person": False,
        },
    }


@pytest.mark.behaviour("event.execution-signal")
async def test_what_nobody_need_be_asked_about_is_signalled_at_once(play: Play, ears: Ears) -> None:
    params = {"path": "README.md"}
    body = {"tool_name": "read_file", "tool_params": params, "session_id": "s", "call_id": "c"}
    asked = await play.ask(Role.AGENT, "POST", "/tools/execute", json=body)

    signal = await ears.machine_hears("tool.execution_signal")

    assert signal["tool_id"] == asked.body["tool_id"]
    assert (signal["status"], signal["risk_level"]) == ("executing", "LOW")
    assert signal["tool_params"] == params
    assert signal["execution_context"]["approved_by"] == "policy"


@pytest.mark.behaviour("event.result-ack")
async def test_a_result_is_acknowledged_to_the_machine_that_sent_it(play: Play, ears: Ears) -> None:
    await play.be_executing()
    await ears.let_pass(5)

    await play.report(a_result())

    assert await ears.machine_hears("tool.result_ack") == {
        "tool_id": play.tool_id,
        "status": "received",
        "receipt_status": "processed",
        "message": "Tool result processed",
    }


@pytest.mark.behaviour("event.status")
async def test_a_change_of_state_is_told_to_everyone_in_four_fields(play: Play, ears: Ears) -> None:
    await play.be_pending(path=".env")

    assert await ears.all_hear("tool.status") == {
        "tool_id": play.tool_id,
        "tool_name": "write_file",
        "status": "failed",
    }


@pytest.mark.behaviour("event.status")
async def test_a_person_hears_each_state_of_a_call_in_its_order(
    play: Play, caller: Caller, ada: Household
) -> None:
    async with caller.listen(ada, ada.secrets[Role.USER]) as person, play.machine():
        await play.be_completed()
        heard = [await person.event() for _ in range(6)]

    assert [(number, name) for number, name, _ in heard] == [
        (1, "tool.status"),
        (2, "tool.approval_request"),
        (3, "approval.resolved"),
        (4, "tool.status"),
        (5, "tool.status"),
        (6, "tool.status"),
    ]
    states = [payload["status"] for _, name, payload in heard if name == "tool.status"]
    assert states == ["pending", "approved", "executing", "completed"]


@pytest.mark.behaviour("event.cancel")
async def test_the_machine_that_has_a_call_hears_that_it_is_to_end(
    play: Play, ears: Ears, ada: Household
) -> None:
    await play.be_executing()
    await ears.let_pass(5)

    body = {"reason": "takes too long"}
    await play.ask(Role.USER, "POST", f"/tools/{play.tool_id}/cancel", json=body)

    assert await ears.machine_hears("tool.cancel") == {
        "tool_id": play.tool_id,
        "message": f"{ada.project.name} cancelled this call: takes too long; it had started, and "
        f"how far it got is unknown",
    }


@pytest.mark.behaviour("event.reset")
@pytest.mark.parametrize("role", [Role.USER, Role.CLIENT])
async def test_who_asks_for_events_that_are_not_there_is_told_to_look_instead(
    caller: Caller, ada: Household, play: Play, role: Role
) -> None:
    await play.be_pending(path=".env")

    async with caller.listen(ada, ada.secrets[role], last_event_id=1_000) as stream:
        number, name, payload = await stream.event()

    assert (number, name) == (1, "stream.reset")
    assert without_time(payload) == {
        "message": "events since the last one you received are gone; read the current state instead"
    }


@pytest.mark.behaviour("event.masked")
async def test_a_secret_travels_to_the_machine_that_executes_and_to_nobody_else(
    play: Play, ears: Ears, caller: Caller, ada: Household
) -> None:
    await play.be_completed(content=CONTENT, reasoning=f"token={SECRET}")
    person = [await ears.person.event() for _ in range(6)]
    machine = [await ears.machine.event() for _ in range(6)]
    bystander = [await ears.bystander.event() for _ in range(3)]
    again: list[Heard] = []
    for role in (Role.USER, Role.CLIENT):
        async with caller.listen(ada, ada.secrets[role], last_event_id=0) as stream:
            again += [await stream.event() for _ in range(6)]

    assert carriers(machine) == ["tool.survey_request", "tool.execution_signal"]
    assert carriers(person) == carriers(bystander) == carriers(again) == []
    # Told again, they say so, and nothing could be executed by them.
    repeated = [payload for _, _, payload in again if "replayed" in payload]
    assert [(one["replayed"], one["tool_params"]) for one in repeated] == [(True, None)] * 2


def carriers(heard: list[Heard]) -> list[str]:
    return [name for _, name, payload in heard if SECRET in json.dumps(payload)]
