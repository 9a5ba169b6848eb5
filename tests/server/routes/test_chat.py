"""What a person says to the agent over HTTP, and what they hear of it."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from handrail.agent.providers.script import Script, ScriptedUse, Step
from handrail.agent.runs import AgentRuns
from handrail.app.build_server import build_services
from handrail.bus.local import LocalBus
from handrail.core.access import Role
from handrail.core.ids import RunId, SessionId
from handrail.plane.whispers import Whisper
from handrail.server.services import Services
from handrail.store.sqlite import SqliteStore
from handrail.testing import FakeClock
from tests.agent.conftest import Lab, Watched, saying, use
from tests.conftest import Household, settle_in
from tests.plane.desk import Desk, registry_at
from tests.server.conftest import Answer, Caller, Listener, base, serving

BAD_INPUT = (400, "urn:handrail:bad-input")
SCRIPT = saying(Step(text="I note it.", tools=(use("a", "note_asked"),)), "Noted, dear Ada.")


@pytest.fixture
def model() -> Watched:
    return Watched(SCRIPT)


@pytest.fixture
def services(
    store: SqliteStore, bus: LocalBus, clock: FakeClock, household: Household, model: Watched
) -> Services:
    desk = Desk()
    plain = build_services(store, bus, clock, registry=registry_at(desk))
    return replace(plain, runs=Lab(plain, household, desk).runs(model))


async def say(caller: Caller, home: Household, text: str, **more: Any) -> Answer:
    path, token = f"{base(home)}/chat/messages", home.secrets[Role.USER]
    return await caller.ask("POST", path, token, json={"text": text, **more})


async def read_until(listener: Listener, name: str, **fields: Any) -> list[dict[str, Any]]:
    """Frames up to the one with that name and these fields, the last one included."""
    frames: list[dict[str, Any]] = []
    while True:
        frame = await listener.read()
        assert frame is not None
        if "event" not in frame:
            continue
        frames.append(frame)
        if frame["event"] == name and fields.items() <= frame["data"].items():
            return frames


@pytest.mark.behaviour("chat.travels")
async def test_a_message_begins_a_run_that_is_told_on_the_stream(
    caller: Caller, household: Household, model: Watched
) -> None:
    token = household.secrets[Role.USER]
    async with caller.listen(household, token) as listener:
        answer = await say(caller, household, "Note it.")
        asked = (await read_until(listener, "tool.approval_request"))[-1]["data"]
        approve = f"{base(household)}/approvals/{asked['approval_id']}/approve"
        heard = asyncio.Event()
        model.last = heard.wait
        await caller.ask("POST", approve, token, json={"decision": "approved"})
        frames = await read_until(listener, "chat.delta")
        heard.set()
        frames += await read_until(listener, "chat.run", status="done")

    assert answer.status == 200
    message, run = answer.body["message"], answer.body["run"]
    assert (message["role"], message["seq"], run["status"]) == ("user", 1, "running")
    assert message["run_id"] == run["run_id"]
    assert message["session_id"] == run["session_id"]
    deltas = [frame for frame in frames if frame["event"] == "chat.delta"]
    assert "".join(frame["data"]["text"] for frame in deltas) == "Noted, dear Ada."
    assert {frame["data"]["seq"] for frame in deltas} == {4}
    assert all("id" not in frame for frame in deltas)
    told = [frame["data"] for frame in frames if frame["event"] == "chat.message"]
    assert [one["role"] for one in told] == ["tool", "assistant"]
    assert told[-1]["parts"][0]["text"] == "Noted, dear Ada."
    assert told[-1]["model"] == "a-model"
    assert told[-1]["tokens"] > 0


async def test_a_piece_of_a_message_is_not_told_behind_the_message(
    caller: Caller, household: Household, services: Services
) -> None:
    token = household.secrets[Role.USER]
    async with caller.listen(household, token) as listener:
        run = (await say(caller, household, "Note it.", session_id="talk-1")).body["run"]
        await read_until(listener, "tool.approval_request")
        where = (household.project.id, SessionId("talk-1"), RunId(run["run_id"]))
        services.whispers.tell(Whisper(*where, 2, "too late"))
        services.whispers.tell(Whisper(*where, 9, "in time"))
        (*_, delta) = await read_until(listener, "chat.delta")

    assert delta["data"]["text"] == "in time"


async def test_what_was_said_can_be_read_page_by_page(caller: Caller, household: Household) -> None:
    token = household.secrets[Role.USER]
    async with caller.listen(household, token) as listener:
        run = (await say(caller, household, "Note it.", session_id="talk-1")).body["run"]
        await read_until(listener, "tool.approval_request")
    path = f"{base(household)}/chat/messages"

    whole = await caller.ask("GET", f"{path}?session_id=talk-1", token)
    second = await caller.ask("GET", f"{path}?session_id=talk-1&after=1&limit=1", token)
    none = await caller.ask("GET", f"{path}?session_id=talk-2", token)

    assert [one["seq"] for one in whole.body["messages"]] == [1, 2]
    assert whole.body["run"]["run_id"] == run["run_id"]
    assert second.body["messages"] == whole.body["messages"][1:]
    wish = second.body["messages"][0]["parts"][1]
    assert (wish["type"], wish["name"], wish["input"]) == ("tool_use", "note_asked", {"text": "a"})
    assert wish["call_id"] == f"{run['run_id']}/{wish['tool_use_id']}"
    assert none.body == {"success": True, "messages": [], "run": None}


async def test_conversations_are_listed_the_latest_first(
    caller: Caller, household: Household, clock: FakeClock
) -> None:
    token = household.secrets[Role.USER]
    async with caller.listen(household, token) as listener:
        await say(caller, household, "The  first\none.", session_id="talk-1")
        await read_until(listener, "tool.approval_request")
    clock.advance(5)
    await say(caller, household, "The second one.", session_id="talk-2")

    listed = (await caller.ask("GET", f"{base(household)}/chat/sessions", token)).body["sessions"]

    assert [(one["session_id"], one["title"], one["status"]) for one in listed] == [
        ("talk-2", "The second one.", "running"),
        ("talk-1", "The first one.", "running"),
    ]


async def test_a_run_is_stopped_by_its_person_alone(
    caller: Caller, household: Household, store: SqliteStore, clock: FakeClock
) -> None:
    stranger = await settle_in(store, clock, "eve", "/srv/eve")
    run = (await say(caller, household, "Note it.")).body["run"]
    path = f"/chat/runs/{run['run_id']}/stop"

    by_stranger = await caller.ask("POST", base(stranger) + path, stranger.secrets[Role.USER])
    by_agent = await caller.ask("POST", base(household) + path, household.secrets[Role.AGENT])
    by_person = await caller.ask("POST", base(household) + path, household.secrets[Role.USER])

    assert (by_stranger.status, by_agent.status) == (404, 403)
    assert by_person.body["run"]["status"] == "stopped"
    assert by_person.body["run"]["error"] == "ada stopped it"


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"text": ""},
        {"text": "x" * 100_001},
        {"text": 7},
        {"text": "x", "session_id": ""},
        {"text": "x", "approve": True},
    ],
)
async def test_a_message_that_cannot_be_read_begins_nothing(
    caller: Caller, household: Household, store: SqliteStore, body: dict[str, Any]
) -> None:
    path, token = f"{base(household)}/chat/messages", household.secrets[Role.USER]
    answer = await caller.ask("POST", path, token, json=body)

    assert answer.problem == BAD_INPUT
    assert await store.list_running() == []


@pytest.mark.parametrize(
    "query",
    ["", "?session_id=", "?session_id=a&after=-1", "?session_id=a&limit=0", "?session_id=a&x=1"],
)
async def test_a_question_that_cannot_be_read_is_said_to_be_none(
    caller: Caller, household: Household, query: str
) -> None:
    path, token = f"{base(household)}/chat/messages{query}", household.secrets[Role.USER]
    assert (await caller.ask("GET", path, token)).status == 400


async def test_a_server_without_an_agent_says_so(
    services: Services, household: Household, caller: Caller
) -> None:
    async with serving(replace(services, runs=None)) as address:
        elsewhere = Caller(caller.session, address, caller.document)
        answer = await say(elsewhere, household, "Hello?")

    assert answer.status == 409
    assert "no agent of its own" in answer.body["detail"]
    assert isinstance(services.runs, AgentRuns)


async def test_a_person_says_what_the_agent_may_do_unasked_and_explanations_know_it(
    caller: Caller, household: Household
) -> None:
    where = {"session_id": "talk-1"}
    begun = await say(caller, household, "Note it.", autonomy="full", **where)
    odd = await say(caller, household, "Note it.", autonomy="boundless")
    explained = await caller.ask(
        "POST",
        f"{base(household)}/policy/explain",
        household.secrets[Role.USER],
        json={"tool_name": "note_asked", "tool_params": {"text": "a"}, **where},
    )

    assert begun.status == 200
    assert odd.problem == BAD_INPUT
    assert (explained.body["autonomy"], explained.body["ruling"]) == ("full", "allow")


async def test_an_agent_gives_itself_no_freedom(caller: Caller, household: Household) -> None:
    answer = await caller.ask(
        "POST",
        f"{base(household)}/chat/messages",
        household.secrets[Role.AGENT],
        json={"text": "Note it.", "autonomy": "full"},
    )

    assert answer.status == 403


def as_no_border_would_let_in(levels: int) -> Script:
    deep: Any = "x"
    for _ in range(levels):
        deep = [deep]
    wish = ScriptedUse(name="note", input={"text": deep})
    return saying(Step(text="I note it.", tools=(wish,)), "Noted.")


class TestWhatCannotBeTold:
    """A message that got into the store all the same ends no stream, and spoils no list."""

    @pytest.fixture
    def model(self) -> Watched:
        return Watched(as_no_border_would_let_in(300))

    async def test_the_stream_and_the_lists_go_on_behind_it(
        self, caller: Caller, household: Household
    ) -> None:
        token = household.secrets[Role.USER]
        async with caller.listen(household, token) as listener:
            await say(caller, household, "Note it.", session_id="talk-1")
            frames = await read_until(listener, "chat.run", status="done")

        told = [frame["data"] for frame in frames if frame["event"] == "chat.message"]
        assert [one["role"] for one in told] == ["user", "assistant", "tool", "assistant"]
        assert "cannot be shown" in told[1]["parts"][0]["text"]
        path = f"{base(household)}/chat/messages?session_id=talk-1"
        assert (await caller.ask("GET", path, token)).body["messages"] == told
        calls = await caller.ask("GET", f"{base(household)}/tools/executions", token)
        assert [one["error"] for one in calls.body["executions"]] == [
            "it holds something that cannot be shown"
        ]


@pytest.mark.behaviour("approver.sees-no-chat")
async def test_an_approver_hears_of_the_calls_of_a_conversation_and_of_no_word_in_it(
    caller: Caller, household: Household
) -> None:
    token, approver = household.secrets[Role.USER], household.secrets[Role.APPROVER]
    async with (
        caller.listen(household, token) as owner,
        caller.listen(household, approver) as listener,
    ):
        await say(caller, household, "Note it.")
        asked = (await read_until(listener, "tool.approval_request"))[-1]["data"]
        approve = f"{base(household)}/approvals/{asked['approval_id']}/approve"
        await caller.ask("POST", approve, approver, json={"decision": "approved"})
        heard_by_owner = await read_until(owner, "chat.run", status="done")
        # Everything of the conversation comes before this.
        body = {"session_id": "later", "call_id": "later", "tool_name": "note_asked"}
        later = await caller.ask(
            "POST", f"{base(household)}/tools/execute", household.secrets[Role.AGENT],
            json={**body, "tool_params": {"text": "x"}},
        )  # fmt: skip
        heard = await read_until(listener, "tool.approval_request")
    async with caller.listen(household, approver, last_event_id=0) as late:
        heard += await read_until(late, "tool.approval_request", tool_id=later.body["tool_id"])

    names = {frame["event"] for frame in heard}
    assert "approval.resolved" in names
    assert not {name for name in names if name.startswith("chat.")}
    assert {"chat.message", "chat.run"} <= {frame["event"] for frame in heard_by_owner}
