"""Numbers for the operator: true, and about nobody in particular."""

from collections.abc import AsyncGenerator
from pathlib import Path

import aiohttp
import pytest
from prometheus_client.parser import text_string_to_metric_families

from handrail.app.build_server import build_services
from handrail.bus.local import LocalBus
from handrail.core.access import Role
from handrail.plane.tally import Tally
from handrail.server.app import create_app
from handrail.server.services import Services
from handrail.store.sqlite import SqliteStore
from handrail.testing import FakeClock
from tests.conftest import Household
from tests.server.conftest import (
    Caller,
    a_body,
    ask_to_read,
    ask_to_write,
    base,
    reject,
    report,
    serving,
)


@pytest.fixture
async def services(
    tmp_path: Path, bus: LocalBus, clock: FakeClock, store: SqliteStore
) -> AsyncGenerator[Services]:
    """Services whose store is counted, as a server's is."""
    tally = Tally()
    counted = SqliteStore(tmp_path / "handrail.db", bus, tally.take_in)
    await counted.open()
    yield build_services(counted, bus, clock, tally=tally)
    await counted.close()


async def samples(caller: Caller) -> dict[str, float]:
    answer = await caller.ask("GET", "/metrics")
    assert (answer.status, answer.media_type) == (200, "text/plain")
    return {
        sample.name
        + "".join(f" {value}" for _, value in sorted(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(answer.body.decode())
        for sample in family.samples
    }


async def test_what_happens_is_told_in_numbers(caller: Caller, household: Household) -> None:
    async with caller.listen(household, household.secrets[Role.CLIENT]) as stream:
        tool_id = await ask_to_read(caller, household)
        await stream.event()
        await report(caller, household, tool_id)
        during = await samples(caller)
    waiting = await ask_to_write(caller, household, "call-2")
    asked = await samples(caller)
    await reject(caller, household, waiting["approval_id"])
    after = await samples(caller)

    assert during["handrail_calls_proposed_total LOW allow read_file"] == 1
    assert during["handrail_calls_ended_total  completed"] == 1
    assert during["handrail_call_seconds_count"] == 1
    assert during["handrail_events_streamed_total"] >= 1
    assert [during["handrail_connected_clients"], after["handrail_connected_clients"]] == [1, 0]
    opened = [numbers["handrail_open_approvals"] for numbers in (during, asked, after)]
    assert opened == [0, 1, 0]
    assert after["handrail_calls_ended_total  rejected"] == 1
    assert after["handrail_decision_seconds_count rejected"] == 1
    assert after["handrail_commit_changes_count"] >= 4


async def test_numbers_name_nobody(caller: Caller, household: Household) -> None:
    body = a_body(path="secret-plans.md") | {"tool_name": "hr_agent_tool", "call_id": "my-call"}
    for name in ("read_file", "hr_agent_tool"):
        sent = body | {"tool_name": name, "call_id": f"my-call-{name}"}
        url = f"{base(household)}/tools/execute"
        await caller.ask("POST", url, household.secrets[Role.AGENT], json=sent)

    told = (await caller.ask("GET", "/metrics")).body.decode()

    assert 'tool="other"' in told
    named = (household.project.id, household.agent.subject, "secret-plans", "my-call", "hr_agent",
             "session-1", household.workspace.root)  # fmt: skip
    assert [word for word in named if word in told] == []


async def test_metrics_are_for_who_calls_from_this_machine_itself(caller: Caller) -> None:
    for header in ("x-forwarded-for", "forwarded", "x-real-ip"):
        answer = await caller.ask("GET", "/metrics", headers={header: "127.0.0.1"})
        assert answer.problem == (403, "urn:handrail:forbidden")
    foreign = await caller.ask("GET", "/metrics", headers={"host": "evil.example"})
    assert foreign.status == 403


async def test_behind_a_proxy_metrics_need_a_token(services: Services) -> None:
    app = create_app(services, origin="https://handrail.example.org")
    assert await look(services, app, None) == 403


async def test_with_a_token_metrics_are_for_its_bearer_alone(services: Services) -> None:
    app = create_app(services, origin="https://handrail.example.org", metrics_token="sesame")
    told = [await look(services, app, token) for token in ("sesame", "Sesame", "", "sesam", None)]
    assert told == [200, 401, 401, 401, 401]


async def look(services: Services, app: object, token: str | None) -> int:
    headers = {} if token is None else {"authorization": f"Bearer {token}"}
    services.room.closed = False
    async with (
        serving(services, app=app) as address,  # pyright: ignore[reportArgumentType]
        aiohttp.ClientSession() as session,
        session.get(f"{address}/metrics", headers=headers) as response,
    ):
        return response.status
