"""A run is followed to its end, each message heard once and in order, whatever the line does."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from handrail.agent.providers.script import Step
from handrail.app.build_server import build_services
from handrail.bus.local import LocalBus
from handrail.client.api import ApiError, HandrailApi
from handrail.client.following import Follower, Outcome
from handrail.core.access import Role
from handrail.core.card import Choice
from handrail.server.services import Services
from handrail.store.sqlite import SqliteStore
from handrail.testing import FakeClock
from tests.agent.conftest import Lab, Watched, saying, use
from tests.client.conftest import PatientPerson, until
from tests.conftest import Household
from tests.plane.desk import Desk, registry_at
from tests.ports import free_port
from tests.server.conftest import serving

NOTE = Step(text="I note it.", tools=(use("a", "note_asked"),))
SCRIPT = saying(NOTE, "Noted, dear Ada.")


class Ear:
    """Keeps what a follower hears."""

    def __init__(self) -> None:
        self.heard: list[tuple[str, dict[str, Any]]] = []

    async def hear(self, name: str, data: dict[str, Any], call: dict[str, Any] | None) -> None:
        self.heard.append((name, data))

    @property
    def seqs(self) -> list[int]:
        return [data["seq"] for name, data in self.heard if name == "chat.message"]

    def has(self, name: str) -> bool:
        return any(heard == name for heard, _ in self.heard)


def with_agent(
    store: SqliteStore, bus: LocalBus, clock: FakeClock, home: Household, model: Watched
) -> Services:
    desk = Desk()
    plain = build_services(store, bus, clock, registry=registry_at(desk))
    return replace(plain, runs=Lab(plain, home, desk).runs(model))


@pytest.fixture
def services(store: SqliteStore, bus: LocalBus, clock: FakeClock, household: Household) -> Services:
    return with_agent(store, bus, clock, household, Watched(SCRIPT))


def api_of(server: str, home: Household) -> HandrailApi:
    return HandrailApi(server, home.project.id, home.secrets[Role.USER])


async def test_a_person_is_asked_about_the_calls_of_this_conversation_alone(
    services: Services, household: Household
) -> None:
    person, ear = PatientPerson(), Ear()
    async with serving(services) as server, api_of(server, household) as api:
        other = await api.post("/chat/messages", {"text": "Another one.", "session_id": "other"})
        await until(lambda: _has_question(api))
        following = asyncio.create_task(Follower(api, ear.hear, person).follow({"text": "Do it."}))
        card = await person.sees_a_card()
        person.choose(card, Choice(approved=True))
        outcome = await following
        waiting = await api.pending_approvals()

    assert isinstance(outcome, Outcome)
    assert (outcome.status, outcome.answer) == ("done", "Noted, dear Ada.")
    assert (outcome.turns, outcome.calls) == (2, 1)
    assert card.session_id == outcome.session_id
    assert [one.session_id for one in waiting] == [other["run"]["session_id"]]
    assert {data.get("session_id") for _, data in ear.heard} <= {outcome.session_id, None}


async def _has_question(api: HandrailApi) -> bool:
    return bool(await api.pending_approvals())


async def test_nothing_is_lost_when_the_server_comes_back_as_another_one(
    store: SqliteStore, bus: LocalBus, clock: FakeClock, household: Household
) -> None:
    person, ear, port = PatientPerson(), Ear(), free_port()
    before, after = (with_agent(store, bus, clock, household, Watched(SCRIPT)) for _ in range(2))
    async with api_of(f"http://127.0.0.1:{port}", household) as api:
        async with serving(before, port=port):
            follower = Follower(api, ear.hear, person)
            following = asyncio.create_task(follower.follow({"text": "Do it."}))
            card = await person.sees_a_card()
        async with serving(after, port=port):
            person.choose(card, Choice(approved=True))
            async with asyncio.timeout(30):
                outcome = await following

    assert outcome is not None
    assert (outcome.status, outcome.answer) == ("done", "Noted, dear Ada.")
    assert ear.seqs == [1, 2, 3, 4]


async def test_an_answer_in_several_pieces_is_one(
    store: SqliteStore, bus: LocalBus, clock: FakeClock, household: Household
) -> None:
    script = saying(Step(text="One, two,", stop="max_tokens"), " three.")
    services = with_agent(store, bus, clock, household, Watched(script))
    async with serving(services) as server, api_of(server, household) as api:
        outcome = await Follower(api, Ear().hear).follow({"text": "Count."})

    assert outcome is not None
    assert outcome.answer == "One, two, three."


async def test_an_interruption_stops_the_run(services: Services, household: Household) -> None:
    ear = Ear()
    async with serving(services) as server, api_of(server, household) as api:
        follower = Follower(api, ear.hear)
        following = asyncio.create_task(follower.follow({"text": "Do it."}))
        await until(lambda: ear.has("tool.approval_request"))
        follower.interrupt()
        outcome = await following
        left = await api.pending_approvals()

    assert outcome is not None
    assert (outcome.status, outcome.error) == ("stopped", "ada stopped it")
    assert left == []


async def test_before_there_is_a_line_an_interruption_ends_it_at_once(
    household: Household,
) -> None:
    async with api_of(f"http://127.0.0.1:{free_port()}", household) as api:
        follower = Follower(api, Ear().hear)
        follower.interrupt()
        assert await follower.follow({"text": "Do it."}) is None


async def test_a_message_that_is_not_taken_is_told_as_it_was_said(
    services: Services, household: Household
) -> None:
    async with serving(services) as server, api_of(server, household) as api:
        with pytest.raises(ApiError, match="no workspace 'wsp_x'"):
            await Follower(api, Ear().hear).follow({"text": "Do it.", "workspace_id": "wsp_x"})
