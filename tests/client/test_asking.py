"""Questions are put to the person who sits here, once each, and their answer is carried back."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from typing import Any

import pytest
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Send
from starlette.types import Scope as AsgiScope

from handrail.app.build_server import build_services
from handrail.bus.local import LocalBus
from handrail.client.api import HandrailApi
from handrail.client.asking import Asking, Resolved
from handrail.client.handler import ToolHandler
from handrail.client.review import Reviewer
from handrail.client.streaming import StreamingClient
from handrail.core.access import Role
from handrail.core.card import Card, Choice
from handrail.core.grant import Scope
from handrail.core.hands import Hands
from handrail.core.ids import ApprovalId, CallId, SessionId
from handrail.core.survey import Survey
from handrail.core.tool import ToolCall
from handrail.plane.decider import Decider
from handrail.policy.security import Scene
from handrail.server.services import Services
from handrail.store.sqlite import SqliteStore
from handrail.testing import FakeClock, FakeCommands, FakeFiles, ScriptedPerson, a_card
from handrail.tools.catalogue import builtin_registry
from tests.client.conftest import (
    PatientPerson,
    Way,
    a_client,
    a_journal,
    facts_of,
    lose_answer,
    meddled,
    turn_away,
    until,
)
from tests.conftest import Household
from tests.ports import free_port
from tests.server.conftest import serving

YES, NO = Choice(approved=True), Choice(approved=False, reason="not now")


def a_write(home: Household, call_id: str = "c1", path: str = "notes.md") -> ToolCall:
    params = {"path": path, "content": "new\n"}
    return ToolCall(home.project.id, SessionId("s"), CallId(call_id), "write_file", params)


async def question(services: Services, home: Household, call_id: str = "c1") -> ApprovalId:
    """A call that a person is asked about, after a look at a machine that holds nothing yet."""
    with services.connections.open(home.client_id, home.workspace.id):
        asked = await services.executor.propose(a_write(home, call_id), home.agent)
    assert asked.approval_id is not None
    seen = Survey(facts_of(None))
    await services.surveyor.accept(asked.approval_id, seen, home.client, home.project.id)
    return asked.approval_id


async def answer(services: Services, home: Household, approval_id: str, *, yes: bool) -> None:
    """Decide on another screen."""
    decider = Decider(home.user, home.project.id, "console")
    if yes:
        await services.approvals.approve_tool(ApprovalId(approval_id), decider)
    else:
        await services.approvals.reject_tool(ApprovalId(approval_id), decider)


async def read(services: Services, approval_id: str) -> tuple[str, str | None, str | None]:
    """How a question stands: its state, from where it was answered, and how far."""
    found = await services.store.find_approval(ApprovalId(approval_id))
    assert found is not None
    if found.answer is None:
        return found.status, None, None
    return found.status, found.answer.channel, found.answer.scope


@pytest.fixture
async def address(services: Services) -> AsyncGenerator[str]:
    async with serving(services) as found:
        yield found


@pytest.fixture
async def api(address: str, household: Household) -> AsyncGenerator[HandrailApi]:
    async with HandrailApi(address, household.project.id, household.secrets[Role.CLIENT]) as opened:
        yield opened


# Asking and answering


@pytest.mark.parametrize(
    ("choice", "stands"),
    [
        pytest.param(YES, ("approved", "script", "once"), id="once"),
        pytest.param(
            Choice(approved=True, scope=Scope.CLASS), ("approved", "script", "class"), id="class"
        ),
        pytest.param(
            Choice(approved=True, scope=Scope.SESSION),
            ("approved", "script", "session"),
            id="session",
        ),
        pytest.param(NO, ("rejected", "script", None), id="no"),
        pytest.param(None, ("pending", None, None), id="left-to-others"),
    ],
)
async def test_what_the_person_chooses_is_what_the_server_hears(
    services: Services,
    household: Household,
    api: HandrailApi,
    choice: Choice | None,
    stands: tuple[str, str | None, str | None],
) -> None:
    approval_id = await question(services, household)
    person = ScriptedPerson(choice)

    await Asking(api, person).catch_up()

    assert [card.approval_id for card in person.cards] == [approval_id]
    assert await read(services, approval_id) == stands
    assert person.told == []


async def test_an_answer_is_bound_to_the_card_that_was_shown(
    services: Services, household: Household, api: HandrailApi
) -> None:
    approval_id = await question(services, household)
    person = ScriptedPerson(YES)

    await Asking(api, person).ask(a_card(approval_id, digest="of another card"))

    assert (await read(services, approval_id))[0] == "pending"
    assert person.told == [
        "Your answer had no effect: "
        "this is not the call that you were shown; read it again before you decide."
    ]


async def test_the_most_urgent_question_comes_first(
    services: Services, household: Household, api: HandrailApi, clock: FakeClock
) -> None:
    slow = await services.executor.propose(a_write(household, "c1", "run.sh"), household.agent)
    clock.advance(1)
    quick = await question(services, household, "c2")
    person = ScriptedPerson()

    await Asking(api, person).catch_up()

    # HIGH has twice the time of MEDIUM, though it was asked earlier.
    assert [card.approval_id for card in person.cards] == [quick, slow.approval_id]


async def test_a_question_is_asked_once_however_often_it_is_told(
    services: Services, household: Household, api: HandrailApi
) -> None:
    await question(services, household)
    person = ScriptedPerson()
    asking = Asking(api, person)

    await asking.catch_up()
    await asking.catch_up()
    await asking.ask(person.cards[0])

    assert len(person.cards) == 1
    assert list(asking.pending) == [person.cards[0].approval_id]


@pytest.mark.parametrize("status", ["approved", "rejected", "expired", "withdrawn"])
async def test_what_has_been_answered_is_not_asked(api: HandrailApi, status: str) -> None:
    person = ScriptedPerson(YES)
    asking = Asking(api, person)

    await asking.ask(a_card(status=status))

    assert person.cards == []
    assert asking.pending == {}


async def test_where_nobody_sits_questions_are_known_and_not_asked(
    services: Services, household: Household, api: HandrailApi
) -> None:
    approval_id = await question(services, household)
    asking = Asking(api, None)

    await asking.catch_up()

    assert list(asking.pending) == [approval_id]
    assert (await read(services, approval_id))[0] == "pending"
    asking.close(Resolved(approval_id, "approved", "ada", "console"))
    assert asking.pending == {}


async def test_a_program_may_answer_in_the_persons_name(
    services: Services, household: Household, api: HandrailApi
) -> None:
    first, second = [await question(services, household, f"c{n}") for n in range(2)]
    asking = Asking(api, None)
    reviewer = Reviewer(
        builtin_registry(), Scene("/workspace"), Hands(FakeFiles({}), FakeCommands({}))
    )
    client = StreamingClient(
        api, lambda line: ToolHandler(reviewer, FakeClock(), line, asking, a_journal()), asking
    )
    await asking.catch_up()

    await client.reject_tool_execution(asking.pending[first], "not now")
    await client.approve_tool_execution(asking.pending[second], Scope.CLASS)

    assert await read(services, first) == ("rejected", "client", None)
    assert await read(services, second) == ("approved", "client", "class")


# Decided elsewhere


@pytest.mark.parametrize(
    ("yes", "words"),
    [
        (True, "Write 1 line to notes.md: approved by ada, from console."),
        (False, "Write 1 line to notes.md: rejected by ada, from console."),
    ],
)
async def test_a_card_that_is_decided_elsewhere_is_taken_away_and_the_person_told_by_whom(
    services: Services, household: Household, yes: bool, words: str
) -> None:
    approval_id, person = await question(services, household), PatientPerson()
    async with (
        serving(services) as server,
        a_client(server, household, FakeFiles({}), person) as handler,
    ):
        await person.sees_a_card()
        assert [card.approval_id for card in handler.pending_approvals] == [approval_id]
        await answer(services, household, approval_id, yes=yes)
        await until(lambda: person.taken_away == [approval_id])
        assert handler.pending_approvals == []

    assert person.told == [words]
    assert (await read(services, approval_id))[1] == "console"


async def test_a_card_whose_time_is_up_is_taken_away(
    services: Services, household: Household, clock: FakeClock
) -> None:
    approval_id, person = await question(services, household), PatientPerson()
    async with serving(services) as server, a_client(server, household, FakeFiles({}), person):
        await person.sees_a_card()
        clock.advance(300)
        await until(lambda: person.taken_away == [approval_id])

    assert person.told == ["Write 1 line to notes.md: expired by handrail, from deadline."]


async def test_the_other_cards_stay(services: Services, household: Household) -> None:
    first, second = [await question(services, household, f"c{n}") for n in range(2)]
    person = PatientPerson()
    async with serving(services) as server, a_client(server, household, FakeFiles({}), person):
        await person.sees_a_card(2)
        await answer(services, household, first, yes=False)
        await until(lambda: person.taken_away == [first])

        assert person.looking_at == [second]


async def test_an_own_answer_is_not_told_as_somebody_elses(
    services: Services, household: Household
) -> None:
    person = PatientPerson()
    await question(services, household)
    async with (
        serving(services) as server,
        a_client(server, household, FakeFiles({}), person) as handler,
    ):
        person.choose(await person.sees_a_card(), NO)
        await until(lambda: handler.pending_approvals == [])

    assert (person.told, person.taken_away) == ([], [])


async def test_who_approved_a_call_is_told_how_it_ended(
    services: Services, household: Household
) -> None:
    person, files = PatientPerson(), FakeFiles({})
    await question(services, household)
    async with serving(services) as server, a_client(server, household, files, person):
        person.choose(await person.sees_a_card(), YES)
        await until(lambda: person.told != [])

    assert files.files == {"notes.md": b"new\n"}
    assert person.told == ["Write 1 line to notes.md: done."]


async def test_an_answer_that_comes_to_nothing_is_told(
    services: Services, household: Household
) -> None:
    approval_id, person = await question(services, household), PatientPerson()

    async def be_faster(app: ASGIApp, scope: AsgiScope, receive: Receive, send: Send) -> None:
        await answer(services, household, approval_id, yes=False)
        await app(scope, receive, send)

    app = meddled(services, "/approve", be_faster)
    async with (
        serving(services, app=app) as server,
        a_client(server, household, FakeFiles({}), person),
    ):
        person.choose(await person.sees_a_card(), YES)
        await until(lambda: person.told != [])

    assert person.told == [
        "Your answer had no effect: ada answered first: rejected at 00:00:00 UTC from console."
    ]
    assert (await read(services, approval_id))[0] == "rejected"


# When the line breaks


@pytest.mark.parametrize(
    "ways",
    [
        pytest.param([lose_answer], id="answer-lost"),
        pytest.param([lose_answer] * 3, id="answers-lost"),
        pytest.param([turn_away(503)], id="server-not-ready"),
    ],
)
async def test_a_choice_is_carried_until_the_server_has_it(
    services: Services, household: Household, ways: list[Way]
) -> None:
    approval_id, person = await question(services, household), ScriptedPerson(YES)
    files = FakeFiles({})
    async with (
        serving(services, app=meddled(services, "/approve", *ways)) as server,
        a_client(server, household, files, person),
    ):
        await until(lambda: files.files == {"notes.md": b"new\n"})

    assert await read(services, approval_id) == ("approved", "script", "once")
    entries = await services.store.read_audit(household.project.id, after=0, limit=100)
    assert [line.action for line in entries].count("approval.approved") == 1


async def test_a_choice_that_arrived_is_not_said_to_have_come_to_nothing(
    services: Services, household: Household
) -> None:
    """Its answer was lost and it was sent again: what was faster, was the very same choice."""
    await question(services, household)
    person = ScriptedPerson(YES)
    async with (
        serving(services, app=meddled(services, "/approve", lose_answer)) as server,
        HandrailApi(server, household.project.id, household.secrets[Role.CLIENT]) as api,
    ):
        await Asking(api, person).catch_up()

    assert person.told == []


async def test_a_choice_made_while_the_server_is_away_is_carried_when_it_is_back(
    store: SqliteStore, bus: LocalBus, clock: FakeClock, household: Household
) -> None:
    person, port = PatientPerson(), free_port()
    first = build_services(store, bus, clock)
    approval_id = await question(first, household)
    async with AsyncExitStack() as stack:
        async with serving(first, port=port) as server:
            await stack.enter_async_context(a_client(server, household, FakeFiles({}), person))
            card = await person.sees_a_card()
        person.choose(card, NO)
        await asyncio.sleep(0.3)  # Some attempts in vain.
        second = build_services(store, bus, clock)
        async with serving(second, port=port):

            async def decided() -> bool:
                return (await read(second, approval_id))[0] == "rejected"

            await until(decided)

    assert person.told == []
    assert len(person.cards) == 1


async def test_who_comes_back_takes_up_what_is_open_and_drops_what_was_answered(
    store: SqliteStore, bus: LocalBus, clock: FakeClock, household: Household
) -> None:
    person, port = PatientPerson(), free_port()
    first = build_services(store, bus, clock)
    answered = await question(first, household, "answered")
    stays = await question(first, household, "stays")
    async with AsyncExitStack() as stack:
        async with serving(first, port=port) as server:
            await stack.enter_async_context(a_client(server, household, FakeFiles({}), person))
            await person.sees_a_card(2)
        # While the line is down one is answered, and another asked.
        second = build_services(store, bus, clock)
        await answer(second, household, answered, yes=False)
        new = await question(second, household, "new")
        async with serving(second, port=port):
            await person.sees_a_card(3)
            await until(lambda: person.taken_away == [answered])
            assert person.looking_at == [stays, new]

    (told,) = person.told
    assert told.startswith("Write 1 line to notes.md: ")
    assert {card.approval_id for card in person.cards} == {answered, stays, new}


async def test_a_question_left_to_others_is_not_asked_again_after_a_break(
    store: SqliteStore, bus: LocalBus, clock: FakeClock, household: Household
) -> None:
    person, port, lines = ScriptedPerson(None), free_port(), list[bool]()
    first = build_services(store, bus, clock)
    await question(first, household)
    async with AsyncExitStack() as stack:
        async with serving(first, port=port) as server:
            await stack.enter_async_context(
                a_client(server, household, FakeFiles({}), person, announce=lines.append)
            )
            await until(lambda: len(person.cards) == 1)
        second = build_services(store, bus, clock)
        async with serving(second, port=port):
            await until(lambda: lines.count(True) == 2)
            # Told of the next, it has caught up with the rest.
            await second.executor.propose(a_write(household, "next"), household.agent)
            await until(lambda: len(person.cards) == 2)

    assert len({card.approval_id for card in person.cards}) == 2


async def test_an_answer_that_crosses_with_the_list_of_questions_takes_the_question_away(
    services: Services, household: Household
) -> None:
    """The list was made before the answer, and arrives after the news of it."""
    approval_id, person = await question(services, household), PatientPerson()
    told = asyncio.Event()

    async def be_slow(app: ASGIApp, scope: AsgiScope, receive: Receive, send: Send) -> None:
        held: list[Any] = []

        async def hold(message: Any) -> None:
            held.append(message)

        await app(scope, receive, hold)
        await answer(services, household, approval_id, yes=False)
        await told.wait()
        for message in held:
            await send(message)

    class Heard(Asking):
        def close(self, resolved: Resolved) -> None:
            super().close(resolved)
            told.set()

    app = meddled(services, "/approvals", be_slow)
    async with (
        serving(services, app=app) as server,
        HandrailApi(server, household.project.id, household.secrets[Role.CLIENT]) as api,
    ):
        asking = Heard(api, person)
        reviewer = Reviewer(
            builtin_registry(), Scene("/workspace"), Hands(FakeFiles({}), FakeCommands({}))
        )
        client = StreamingClient(
            api, lambda line: ToolHandler(reviewer, FakeClock(), line, asking, a_journal()), asking
        )
        running = asyncio.create_task(client.run())
        async with asyncio.timeout(10):
            await told.wait()
        await asyncio.sleep(0.2)
        shown = list(person.looking_at)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)

    assert shown == []


# What must not end the client


async def still_works(server: str, home: Household) -> bool:
    """Whether the client does what it is there for, also a moment later."""
    await asyncio.sleep(0.1)
    async with HandrailApi(server, home.project.id, home.secrets[Role.AGENT]) as agent:
        done = await agent.execute(
            "read_file", {"path": "README.md"}, session_id="s", call_id="later", wait=3
        )
    return done["status"] == "completed"


@pytest.mark.parametrize(
    "body",
    [
        pytest.param({"approvals": [{"approval_id": "apr_1"}]}, id="half-a-card"),
        pytest.param({"approvals": "none"}, id="no-list"),
        pytest.param({}, id="nothing"),
        pytest.param([], id="a-list"),
    ],
)
async def test_a_list_that_cannot_be_read_does_not_end_the_client(
    services: Services, household: Household, body: Any
) -> None:
    said = asyncio.Event()

    async def say(app: ASGIApp, scope: AsgiScope, receive: Receive, send: Send) -> None:
        await JSONResponse(body)(scope, receive, send)
        said.set()

    app = meddled(services, "/approvals", say)
    async with (
        serving(services, app=app) as server,
        a_client(server, household, FakeFiles({"README.md": b"hello"}), PatientPerson()),
    ):
        async with asyncio.timeout(10):
            await said.wait()
        assert await still_works(server, household)


@pytest.mark.parametrize("status", [403, 404, 500, 503])
async def test_a_list_that_is_not_given_does_not_end_the_client(
    services: Services, household: Household, status: int
) -> None:
    app = meddled(services, "/approvals", turn_away(status))
    async with (
        serving(services, app=app) as server,
        a_client(server, household, FakeFiles({"README.md": b"hello"}), PatientPerson()),
    ):
        assert await still_works(server, household)


async def test_a_screen_that_breaks_does_not_end_the_client(
    services: Services, household: Household
) -> None:
    class BrokenScreen(PatientPerson):
        async def ask(self, card: Card) -> Choice | None:
            self.cards.append(card)
            raise OSError("the terminal is gone")

    screen = BrokenScreen()
    await question(services, household)
    async with (
        serving(services) as server,
        a_client(server, household, FakeFiles({"README.md": b"hello"}), screen),
    ):
        await screen.sees_a_card()
        assert await still_works(server, household)


# The end


async def test_dispose_takes_every_card_away(api: HandrailApi) -> None:
    person = PatientPerson()
    asking = Asking(api, person)
    tasks = [asyncio.create_task(asking.ask(a_card(f"apr_{n}"))) for n in range(3)]
    await person.sees_a_card(3)

    asking.dispose()
    await asyncio.gather(*tasks, return_exceptions=True)

    assert sorted(person.taken_away) == ["apr_0", "apr_1", "apr_2"]
    assert person.told == []
