"""What tools there are, and what became of the calls."""

from handrail.core.access import Role
from handrail.store.sqlite import SqliteStore
from handrail.testing import FakeClock
from handrail.tools.builtin.apply_draft import ApplyDraft
from handrail.tools.builtin.config import ChangeConfig
from handrail.tools.builtin.delete_file import DeleteFile
from handrail.tools.builtin.discard_draft import DiscardDraft
from handrail.tools.builtin.edit_file import EditFile
from handrail.tools.builtin.execute_command import ExecuteCommand
from handrail.tools.builtin.git import Git
from handrail.tools.builtin.http_request import HttpRequest
from handrail.tools.builtin.list_directory import ListDirectory
from handrail.tools.builtin.memory_forget import MemoryForget
from handrail.tools.builtin.memory_recall import MemoryRecall
from handrail.tools.builtin.memory_store import MemoryStore
from handrail.tools.builtin.move_file import MoveFile
from handrail.tools.builtin.read_file import ReadFile
from handrail.tools.builtin.run_bash import RunBash
from handrail.tools.builtin.search_code import SearchCode
from handrail.tools.builtin.self_info import SelfInfo
from handrail.tools.builtin.show_draft import ShowDraft
from handrail.tools.builtin.skill import LoadSkill
from handrail.tools.builtin.write_file import WriteFile
from tests.conftest import Household, settle_in
from tests.server.conftest import Caller, a_body, ask_to_read, base, report


async def test_the_tools_are_listed_with_what_a_model_needs(
    caller: Caller, household: Household
) -> None:
    answer = await caller.ask(
        "GET", f"{base(household)}/tools/available", household.secrets[Role.AGENT]
    )

    assert answer.body == {
        "success": True,
        "tools": [
            {
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.definition.input_schema,
                "requires_approval": asks,
                "risk_level": risk,
                "timeout_seconds": seconds,
            }
            for tool, asks, risk, seconds in (
                (ReadFile(), False, "LOW", 0),
                (WriteFile(), True, "MEDIUM", 300),
                (EditFile(), True, "MEDIUM", 300),
                (MoveFile(), True, "MEDIUM", 300),
                (DeleteFile(), True, "HIGH", 600),
                (ListDirectory(), False, "LOW", 0),
                (SearchCode(), False, "LOW", 0),
                (ExecuteCommand(), True, "MEDIUM", 300),
                (RunBash(), True, "MEDIUM", 300),
                (Git(), True, "MEDIUM", 300),
                (ApplyDraft(), True, "MEDIUM", 300),
                (DiscardDraft(), False, "LOW", 0),
                (ShowDraft(), False, "LOW", 0),
                (MemoryStore(), False, "LOW", 0),
                (MemoryRecall(), False, "LOW", 0),
                (MemoryForget(), True, "MEDIUM", 300),
                (LoadSkill(), False, "LOW", 0),
                (HttpRequest(), True, "HIGH", 600),
                (ChangeConfig(), True, "MEDIUM", 300),
                (SelfInfo(), False, "LOW", 0),
            )
        ],
        "total_count": 20,
    }


async def test_calls_are_listed_newest_first_and_filtered_by_state(
    caller: Caller, household: Household, clock: FakeClock
) -> None:
    path, token = f"{base(household)}/tools/executions", household.secrets[Role.USER]
    made: list[str] = []
    for number in range(3):
        clock.advance(1)
        made.append(await ask_to_read(caller, household, f"call-{number}"))
    async with caller.listen(household, household.secrets[Role.CLIENT]) as stream:
        await stream.told(3)
        await report(caller, household, made[0])

    async def listed(query: str = "") -> list[str]:
        answer = await caller.ask("GET", path + query, token)
        assert (answer.status, answer.body["success"]) == (200, True)
        assert answer.body["total_count"] == len(answer.body["executions"])
        return [call["tool_id"] for call in answer.body["executions"]]

    assert await listed() == made[::-1]
    assert await listed("?limit=2") == [made[2], made[1]]
    assert await listed("?status=completed") == [made[0]]
    assert await listed("?status=executing&limit=1") == [made[2]]
    assert await listed("?status=rejected") == []


async def test_the_bounds_of_a_listing_are_kept(caller: Caller, household: Household) -> None:
    path, token = f"{base(household)}/tools/executions", household.secrets[Role.USER]

    answers = {
        query: (await caller.ask("GET", f"{path}?{query}", token)).status
        for query in ("limit=1", "limit=1000", "limit=0", "limit=1001", "limit=x", "status=open")
    }

    assert answers == {
        "limit=1": 200,
        "limit=1000": 200,
        "limit=0": 400,
        "limit=1001": 400,
        "limit=x": 400,
        "status=open": 400,
    }


async def test_a_call_is_shown_as_its_asker_was_told(caller: Caller, household: Household) -> None:
    asked = await caller.ask(
        "POST",
        f"{base(household)}/tools/execute",
        household.secrets[Role.AGENT],
        json=a_body(reasoning="to know"),
    )

    shown = await caller.ask(
        "GET", f"{base(household)}/tools/{asked.body['tool_id']}", household.secrets[Role.USER]
    )
    listed = await caller.ask(
        "GET", f"{base(household)}/tools/executions", household.secrets[Role.USER]
    )

    assert shown.body == asked.body
    assert listed.body["executions"] == [asked.body]


async def test_an_unknown_call_is_not_found(
    caller: Caller, store: SqliteStore, household: Household, clock: FakeClock
) -> None:
    neighbour = await settle_in(store, clock, "ben", "/ben")
    foreign = await ask_to_read(caller, neighbour)

    for tool_id in ("exe_none", foreign):
        answer = await caller.ask(
            "GET", f"{base(household)}/tools/{tool_id}", household.secrets[Role.USER]
        )
        assert answer.problem == (404, "urn:handrail:not-found")
