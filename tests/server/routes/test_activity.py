"""Looking back over calls, on a screen or as a file."""

import csv
import io
import json
from typing import Any

from handrail.core.access import Role
from handrail.store.sqlite import SqliteStore
from handrail.testing import FakeClock
from tests.conftest import Household
from tests.server.conftest import (
    Answer,
    Caller,
    a_body,
    a_write,
    add_token,
    ask_to_read,
    base,
)


async def look(caller: Caller, home: Household, **query: Any) -> Answer:
    params = {name: str(value) for name, value in query.items()}
    return await caller.ask("GET", f"{base(home)}/activity", home.secrets[Role.USER], params=params)


async def calls_of(caller: Caller, home: Household, **query: Any) -> list[str]:
    answer = await look(caller, home, **query)
    assert answer.status == 200, answer.body
    return [call["call_id"] for call in answer.body["calls"]]


async def export(caller: Caller, home: Household, **query: str) -> Answer:
    return await caller.ask(
        "GET", f"{base(home)}/activity/export", home.secrets[Role.USER], params=query
    )


async def ask_thrice(caller: Caller, home: Household, clock: FakeClock) -> None:
    for number in range(3):
        clock.advance(1)
        await ask_to_read(caller, home, f"call-{number}")


async def test_calls_are_told_newest_first_and_counted_where_that_is_asked(
    caller: Caller, household: Household, clock: FakeClock
) -> None:
    await ask_thrice(caller, household, clock)

    answer = await look(caller, household, limit=2, count="true")

    assert [call["call_id"] for call in answer.body["calls"]] == ["call-2", "call-1"]
    assert answer.body["matching_count"] == 3
    assert (await look(caller, household)).body["matching_count"] is None


async def test_marks_lead_on_from_where_an_answer_ended(
    caller: Caller, household: Household, clock: FakeClock
) -> None:
    await ask_thrice(caller, household, clock)
    first = (await look(caller, household, limit=1)).body["calls"][0]

    older = await calls_of(caller, household, before=first["mark"])
    second = (await look(caller, household, before=first["mark"], limit=1)).body["calls"][0]
    newer = await calls_of(caller, household, after=second["mark"])

    assert older == ["call-1", "call-0"]
    assert newer == ["call-2"]
    assert await calls_of(caller, household, before=first["mark"], offset=1) == ["call-0"]


async def test_each_filter_leaves_out_what_does_not_fit(
    caller: Caller, household: Household, clock: FakeClock, store: SqliteStore
) -> None:
    await ask_thrice(caller, household, clock)
    path, token = f"{base(household)}/tools/execute", household.secrets[Role.AGENT]
    other = a_body("other", session_id="session-2", tool_params={"path": "docs/plan.md"})
    assert (await caller.ask("POST", path, token, json=other)).status == 200

    further = await add_token(store, household, subject="agt_claude", name="Claude")
    body = a_body("claude", session_id="session-3")
    assert (await caller.ask("POST", path, further, json=body)).status == 200

    assert await calls_of(caller, household, session_id="session-2") == ["other"]
    assert await calls_of(caller, household, agent_id="agt_claude") == ["claude"]
    assert len(await calls_of(caller, household, agent_id=household.agent.subject)) == 4
    assert await calls_of(caller, household, agent_id="agt_other") == []
    assert await calls_of(caller, household, text="PLAN.md") == ["other"]
    assert await calls_of(caller, household, tool="write_file") == []
    assert await calls_of(caller, household, risk="CRITICAL") == []
    assert await calls_of(caller, household, status="completed") == []
    assert len(await calls_of(caller, household, risk="LOW", tool="read_file")) == 5


async def test_long_values_are_cut_short(caller: Caller, household: Household) -> None:
    path, token = f"{base(household)}/tools/execute", household.secrets[Role.AGENT]
    body = a_body("long", tool_params={"path": "a/" * 400 + "b"})
    assert (await caller.ask("POST", path, token, json=body)).status == 200

    (call,) = (await look(caller, household)).body["calls"]

    assert call["tool_params"]["path"] == "a/" * 149 + "a…"


async def test_a_large_write_still_says_where(caller: Caller, household: Household) -> None:
    path, token = f"{base(household)}/tools/execute", household.secrets[Role.AGENT]
    body = a_write("large", path="docs/long.md", content="a line of text\n" * 4_000)
    assert (await caller.ask("POST", path, token, json=body)).status == 200

    (call,) = (await look(caller, household)).body["calls"]

    assert call["tool_params"] == {"path": "docs/long.md"}


async def test_a_wrong_question_is_answered_in_words(caller: Caller, household: Household) -> None:
    questions = (
        {"before": "yesterday"},
        {"after": "2026-01-01T00:00:00~exe_1"},
        {"before": "2026-01-01T00:00:00+00:00~"},
        {"status": "odd"},
        {"risk": "low"},
        {"text": ""},
        {"text": "x" * 201},
        {"limit": 0},
        {"limit": 501},
        {"offset": 100_000},
        {"surprise": 1},
    )
    for query in questions:
        answer = await look(caller, household, **query)
        assert answer.problem == (400, "urn:handrail:bad-input"), query
        assert len(answer.body["detail"]) > 10


async def test_lines_of_json_hold_whole_calls(
    caller: Caller, household: Household, clock: FakeClock
) -> None:
    await ask_thrice(caller, household, clock)
    answer = await export(caller, household, format="jsonl", text="readme")

    lines = [json.loads(line) for line in answer.body.decode().splitlines()]
    assert answer.media_type == "application/jsonl"
    assert "attachment" in answer.headers["content-disposition"]
    assert [line["call_id"] for line in lines] == ["call-2", "call-1", "call-0"]
    one = await caller.ask(
        "GET", f"{base(household)}/activity/{lines[0]['tool_id']}", household.secrets[Role.USER]
    )
    assert lines[0] == one.body


async def test_people_are_told_more_of_a_call_than_agents(
    caller: Caller, household: Household
) -> None:
    tool_id = await ask_to_read(caller, household, "call-1")

    token = household.secrets[Role.USER]
    told = await caller.ask("GET", f"{base(household)}/activity/{tool_id}", token)
    usual = await caller.ask("GET", f"{base(household)}/tools/{tool_id}", token)

    more = {name: told.body[name] for name in set(told.body) - set(usual.body)}
    assert len(more.pop("digest")) == 64
    assert more == {
        "surveyed": False,
        "autonomy": "supervised",
        "workspace_id": household.workspace.id,
        "client_id": None,
        "client_name": None,
    }
    assert {name: told.body[name] for name in usual.body} == usual.body


async def test_a_file_goes_on_behind_the_first_few_hundred(
    caller: Caller, household: Household
) -> None:
    path, token = f"{base(household)}/tools/batch", household.secrets[Role.AGENT]
    for batch in range(11):
        calls = [
            {"tool_name": "read_file", "tool_params": {"path": "x"}, "call_id": f"{batch}-{number}"}
            for number in range(20)
        ]
        asked = await caller.ask("POST", path, token, json={"session_id": "many", "calls": calls})
        assert asked.status == 200

    answer = await export(caller, household)

    told = [json.loads(line)["call_id"] for line in answer.body.decode().splitlines()]
    assert sorted(told) == sorted(
        f"{batch}-{number}" for batch in range(11) for number in range(20)
    )


async def test_no_cell_of_a_table_is_a_formula(
    caller: Caller, household: Household, clock: FakeClock
) -> None:
    path, token = f"{base(household)}/tools/execute", household.secrets[Role.AGENT]
    body = a_body("call-1", session_id="@SUM", tool_params={"path": 'a,b\n"c"'})
    assert (await caller.ask("POST", path, token, json=body)).status == 200
    clock.advance(1)
    await ask_to_read(caller, household, "call-2")

    answer = await export(caller, household, format="csv")

    newer, older = csv.DictReader(io.StringIO(answer.body.decode()))
    assert answer.media_type == "text/csv"
    assert newer["tool_params"] == '{"path":"README.md"}'
    assert newer["requires_approval"] == "False"
    assert older["session_id"] == "'@SUM"
    assert json.loads(older["tool_params"]) == {"path": 'a,b\n"c"'}
