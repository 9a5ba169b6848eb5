"""What was decided, in numbers: counted as it happens, and for nobody else to see."""

from pathlib import Path
from typing import Any

import pytest

from handrail.app.affairs import Affairs
from handrail.app.build_server import build_services
from handrail.app.config import Config
from handrail.app.home import Home
from handrail.bus.local import LocalBus
from handrail.core.access import Role
from handrail.core.change import Change
from handrail.core.model import Usage
from handrail.plane import approvals
from handrail.policy.rulebook.book import project_rules
from handrail.server.services import Services
from handrail.store.migrate import steps_as_sql
from handrail.store.sqlite import SqliteStore
from handrail.store.sqlite_file import SqliteFile
from handrail.testing import FakeClock
from tests.conftest import Household, settle_in
from tests.server.conftest import (
    Caller,
    a_body,
    approve,
    ask_to_read,
    ask_to_write,
    ask_with_a_look,
    base,
    reject,
    report,
    show,
)
from tests.server.test_isolation import another_project

BAD_INPUT = (400, "urn:handrail:bad-input")
LATER = "?from=2025-12-31T12:00:00Z&to=2026-01-02T00:00:00Z"


@pytest.fixture
def affairs(store: SqliteStore, clock: FakeClock, tmp_path: Path) -> Affairs:
    return Affairs(store, clock, Home(tmp_path / "home"), owner="ada")


@pytest.fixture
def services(store: SqliteStore, bus: LocalBus, clock: FakeClock, affairs: Affairs) -> Services:
    return build_services(store, bus, clock, affairs=affairs)


async def refuse_by_policy(caller: Caller, home: Household) -> None:
    body = a_body("denied", path="../outside")
    token = home.secrets[Role.AGENT]
    told = await caller.ask("POST", f"{base(home)}/tools/execute", token, json=body)
    assert told.body["error_type"] == "denied"


async def a_busy_day(caller: Caller, home: Household, services: Services, clock: FakeClock) -> None:
    """Something of everything, hour after hour."""
    async with caller.listen(home, home.secrets[Role.CLIENT]):
        await report(caller, home, await ask_to_read(caller, home, "read-1"))
        failure = {"status": "failed", "error": "no such file", "error_type": "execution"}
        await report(caller, home, await ask_to_read(caller, home, "read-2"), failure)
        await refuse_by_policy(caller, home)
    clock.advance(3600)
    for number, seconds in enumerate((12.3, 40, 41.9)):
        asked = await ask_to_write(caller, home, f"yes-{number}")
        clock.advance(seconds)
        await approve(caller, home, asked["approval_id"])
    asked = await ask_to_write(caller, home, "no")
    clock.advance(100)
    await reject(caller, home, asked["approval_id"], reason="not now")
    clock.advance(3600)
    await ask_to_write(caller, home, "forgotten", path="a/b.py")
    clock.advance(301)
    await services.approvals.expire_overdue()


def counted(answer: dict[str, Any], outcome: str) -> dict[str, int]:
    """In which hours of the day there were how many."""
    return {point["at"][11:13]: point[outcome] for point in answer["decisions"] if point[outcome]}


@pytest.mark.behaviour("analytics.counted")
async def test_every_decision_is_counted_in_its_hour(
    caller: Caller, services: Services, household: Household, clock: FakeClock
) -> None:
    await a_busy_day(caller, household, services, clock)

    told = await show(caller, household, f"/analytics{LATER}")

    assert told["totals"] == {
        "auto_approved": 2,
        "approved": 3,
        "refused": 1,
        "expired": 1,
        "denied": 1,
        "over_limit": 0,
    }
    assert counted(told, "auto_approved") == {"00": 2}
    assert counted(told, "denied") == {"00": 1}
    assert (counted(told, "approved"), counted(told, "refused")) == ({"01": 3}, {"01": 1})
    assert counted(told, "expired") == {"02": 1}
    assert (told["starts_at"], told["ends_at"]) == ("2025-12-31T12:00:00Z", "2026-01-02T00:00:00Z")
    assert (told["bucket"], len(told["decisions"])) == ("hour", 36)


async def test_questions_over_the_limit_are_not_counted_as_refused_by_a_rule(
    caller: Caller, household: Household, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(approvals, "MOST_QUESTIONS", 2)
    asked = [await ask_to_write(caller, household, f"call-{number}") for number in range(5)]

    told = await show(caller, household, f"/analytics{LATER}")

    assert [one["error_type"] for one in asked[2:]] == ["too_many_questions"] * 3
    assert (told["totals"]["over_limit"], told["totals"]["denied"]) == (3, 0)
    assert told["waiting"] == 2
    assert told["errors"] == []


async def test_by_day_the_same_is_told_in_fewer_buckets(
    caller: Caller, services: Services, household: Household, clock: FakeClock
) -> None:
    await a_busy_day(caller, household, services, clock)

    told = await show(caller, household, f"/analytics{LATER}&bucket=day")

    assert [(point["at"][:10], point["approved"]) for point in told["decisions"]] == [
        ("2025-12-31", 0),
        ("2026-01-01", 3),
    ]


async def test_the_time_to_an_answer_is_held_against_the_time_there_was(
    caller: Caller, services: Services, household: Household, clock: FakeClock
) -> None:
    await a_busy_day(caller, household, services, clock)

    told = await show(caller, household, f"/analytics{LATER}")

    expected = {"answered": 4, "median_ms": 40_000, "p90_ms": 100_000, "timeout_ms": 300_000}
    assert told["waits"] == expected
    assert [point for point in told["wait_points"] if point["answered"]] == [
        {**expected, "at": "2026-01-01T01:00:00Z"}
    ]


async def test_what_was_asked_most_comes_with_a_rule_that_ends_it(
    caller: Caller, services: Services, household: Household, clock: FakeClock
) -> None:
    await a_busy_day(caller, household, services, clock)

    first, second = (await show(caller, household, f"/analytics{LATER}"))["asked"]

    assert first["class_words"] == "writes to *.md in the workspace's top folder"
    assert (first["tool_name"], first["risk_level"]) == ("write_file", "MEDIUM")
    assert (first["asked"], first["approved"], first["refused"]) == (4, 3, 1)
    assert (second["class_words"], second["expired"]) == ("writes to a/**/*.py", 1)
    assert first["refusal"]["file"] == ".handrail/policy.toml"
    (rule,) = project_rules(first["refusal"]["text"]).writes
    assert rule.patterns == ("*.md",)


async def test_what_failed_is_told_by_machine_tool_and_kind(
    caller: Caller, services: Services, household: Household, clock: FakeClock
) -> None:
    await a_busy_day(caller, household, services, clock)
    nonsense = a_body("nonsense", tool_name="no_such_tool")
    token = household.secrets[Role.AGENT]
    await caller.ask("POST", f"{base(household)}/tools/execute", token, json=nonsense)

    errors = (await show(caller, household, f"/analytics{LATER}"))["errors"]

    machine = {"executor": "client", "client_id": household.client_id, "client_name": "here"}
    nobody = {"executor": None, "client_id": None, "client_name": None}
    assert errors == [
        {**nobody, "tool_name": "no_such_tool", "error_type": "validation", "calls": 1},
        {**machine, "tool_name": "read_file", "error_type": "execution", "calls": 1},
    ]


async def test_what_passed_unasked_is_told_with_what_let_it_pass(
    caller: Caller, household: Household
) -> None:
    asked = await ask_with_a_look(caller, household)
    await approve(caller, household, asked["approval_id"], scope="class")
    for number in (1, 2):
        assert (await ask_to_write(caller, household, f"w{number}"))["status"] == "approved"
    await ask_to_read(caller, household, "read")

    told = await show(caller, household, f"/analytics{LATER}")

    words = "writes to *.md in the workspace's top folder"
    assert told["passes"] == [
        {"by": "grant", "words": words, "tool_name": "write_file", "calls": 2},
        {"by": "low_risk", "words": None, "tool_name": "read_file", "calls": 1},
    ]
    assert (told["totals"]["auto_approved"], told["totals"]["approved"]) == (3, 1)


async def test_tokens_are_told_day_by_day_with_the_budget(
    caller: Caller, affairs: Affairs, household: Household, clock: FakeClock, tmp_path: Path
) -> None:
    Config(Home(tmp_path / "home")).set("budget.daily_tokens", "1000")
    for usage in (Usage(700, 100, 600), Usage(50, 10, 0)):
        step = affairs.budget.count(household.user.user_id, usage)
        await affairs.store.submit(Change(household.project.id, clock.now(), (step,)))
        clock.advance(24 * 3600)

    tokens = (await show(caller, household, "/analytics"))["tokens"]

    assert tokens["limit_tokens"] == 1_000
    assert [(one["day"], one["used_tokens"]) for one in tokens["days"]][-2:] == [
        ("2026-01-01", 800),
        ("2026-01-02", 60),
    ]
    assert len(tokens["days"]) == 7


@pytest.mark.behaviour("analytics.own")
async def test_nobody_sees_the_numbers_of_another(
    caller: Caller,
    store: SqliteStore,
    affairs: Affairs,
    services: Services,
    household: Household,
    clock: FakeClock,
) -> None:
    bob = await settle_in(store, clock, "bob", "/bob")
    second = await another_project(store, household, "second")
    step = affairs.budget.count(household.user.user_id, Usage(700, 100, 0))
    await store.submit(Change(household.project.id, clock.now(), (step,)))
    await a_busy_day(caller, household, services, clock)

    stranger = await caller.ask("GET", f"{base(household)}/analytics", bob.secrets[Role.USER])
    of_bob = await show(caller, bob, f"/analytics{LATER}")
    of_second = await show(caller, second, f"/analytics{LATER}")

    assert stranger.problem == (404, "urn:handrail:not-found")
    for told in (of_bob, of_second):
        assert not any(told["totals"].values())
        assert (told["asked"], told["errors"], told["passes"]) == ([], [], [])
        assert told["waits"]["answered"] == 0
    assert sum(day["used_tokens"] for day in of_bob["tokens"]["days"]) == 0
    # The budget is the person's, in all their projects.
    assert sum(day["used_tokens"] for day in of_second["tokens"]["days"]) == 800


@pytest.mark.parametrize(
    ("query", "words"),
    [
        pytest.param("from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z", "before", id="order"),
        pytest.param("from=2025-01-01T00:00:00Z&to=2026-01-01T00:00:00Z", "31 days", id="long"),
        pytest.param("from=2026-01-01T00:00:00", "timezone", id="nowhere"),
        pytest.param("from=yesterday", "from", id="words"),
        pytest.param("bucket=minute", "bucket", id="bucket"),
        pytest.param("to=0001-01-01T00:00:00%2B14:00", "1970", id="long-ago"),
        pytest.param("to=9999-12-31T23:59:59-14:00", "1970", id="far-away"),
    ],
)
async def test_a_span_that_cannot_be_told_is_refused_in_words(
    caller: Caller, household: Household, query: str, words: str
) -> None:
    told = await caller.ask(
        "GET", f"{base(household)}/analytics?{query}", household.secrets[Role.USER]
    )

    assert told.problem == BAD_INPUT
    assert words in told.body["detail"]


async def test_an_older_database_is_counted_as_if_it_had_always_been(
    caller: Caller, services: Services, household: Household, clock: FakeClock, tmp_path: Path
) -> None:
    await a_busy_day(caller, household, services, clock)
    asked = await ask_with_a_look(caller, household, "looked-at")
    await approve(caller, household, asked["approval_id"], scope="class")
    await ask_to_write(caller, household, "granted")
    cancelled = await ask_to_write(caller, household, "cancelled", path="src/x.py")
    await caller.ask(
        "POST",
        f"{base(household)}/tools/{cancelled['tool_id']}/cancel",
        household.secrets[Role.USER],
        json={},
    )
    older = tmp_path / "older.db"
    database = SqliteFile(tmp_path / "handrail.db")
    database.run("VACUUM INTO ?", (str(older),))
    counts = database.run("SELECT * FROM hourly_counts ORDER BY kind, hour, name, detail, value")
    database.close()

    opened = SqliteFile(older)
    opened.run("DROP TABLE hourly_counts")
    opened.run(steps_as_sql("sqlite", "0012", "0013"))
    again = opened.run("SELECT * FROM hourly_counts ORDER BY kind, hour, name, detail, value")
    opened.close()
    assert {row[1] for row in counts} == {"outcome", "pass", "wait", "asked", "error"}
    assert again == counts
