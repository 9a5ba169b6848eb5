"""A check that takes long goes on while the question stands, and its facts bring it up to date."""

import asyncio
from collections.abc import Generator
from pathlib import Path

import pytest

from handrail.core.approval import ApprovalStatus
from handrail.core.card import LOOKING, NOT_SURVEYED, Card
from handrail.core.errors import Conflict, ErrorType
from handrail.core.event import EventKind
from handrail.core.execution import Status, ToolExecution
from handrail.core.ids import ClientId
from handrail.core.risk import Finding, RiskLevel
from handrail.core.survey import Survey
from handrail.plane import approvals
from handrail.plane.connections import Connection
from handrail.plane.survey import Refusal
from handrail.server.services import Services
from handrail.store.sqlite import SqliteStore
from handrail.testing import FakeClock
from tests.conftest import Household
from tests.plane.conftest import (
    a_write,
    add_client,
    another_process,
    at_the,
    lines_of,
    look,
    news_of,
    now_of,
    question_of,
)

FACTS = Survey({"exists": False}, (), "+x = 1")
RISKY = Survey({"exists": True}, (Finding("r", "it is run", RiskLevel.HIGH),), "+x = 1")


@pytest.fixture
def connection(services: Services, household: Household) -> Generator[Connection]:
    """The household's machine, connected throughout the test."""
    with services.connections.open(household.client_id, household.workspace.id) as made:
        yield made


async def slow(services: Services, clock: FakeClock, home: Household) -> ToolExecution:
    """A call that a person is asked about while the connected machine still checks it."""
    pending = await services.executor.propose(a_write(home, "call-1"), home.agent)
    clock.advance(2)
    await services.sweeper.sweep()
    waiting = await now_of(services.store, pending.id)
    assert (waiting.status, waiting.surveyed) == (Status.AWAITING_APPROVAL, False)
    return waiting


async def accept(
    services: Services, call: ToolExecution, seen: Survey | Refusal, home: Household
) -> ToolExecution:
    assert call.approval_id is not None
    return await services.surveyor.accept(call.approval_id, seen, home.client, home.project.id)


async def notes_on(services: Services, call: ToolExecution) -> tuple[str, ...]:
    return Card.of(await question_of(services.store, call)).notes


async def requests_to(store: SqliteStore, home: Household, client_id: ClientId) -> list[bool]:
    """The requests to check that a client can still follow."""
    items = await store.read_stream(home.project.id, after=0, client_id=client_id, limit=99)
    asked = [item for item in items if item.event.kind is EventKind.SURVEY_REQUEST]
    return [item.raw_params is not None for item in asked]


@pytest.mark.usefixtures("connection")
async def test_a_question_says_which_machine_is_still_checking(
    services: Services, store: SqliteStore, clock: FakeClock, household: Household
) -> None:
    waiting = await slow(services, clock, household)

    (client,) = await store.list_clients(household.project.id)
    assert await notes_on(services, waiting) == (LOOKING.format(machine=client.name),)
    assert waiting.client_id == household.client_id
    # Asked again: the process that got the first request may have ended.
    assert await requests_to(store, household, household.client_id) == [True, True]


@pytest.mark.usefixtures("connection")
async def test_facts_that_come_late_bring_the_open_question_up_to_date(
    services: Services, store: SqliteStore, clock: FakeClock, household: Household
) -> None:
    waiting = await slow(services, clock, household)
    before = await question_of(store, waiting)
    clock.advance(200)

    judged = await accept(services, waiting, RISKY, household)

    question = await question_of(store, judged)
    assert await now_of(store, waiting.id) == judged
    assert (question.id, question.created_at) == (before.id, before.created_at)
    assert (question.risk_level, question.reasons) == (RiskLevel.HIGH, judged.reasons)
    assert "it is run" in question.reasons
    assert (question.surveyed, question.evidence, question.looking) == (True, "+x = 1", "")
    assert question.digest == judged.digest != before.digest
    assert (question.expires_at - clock.now()).seconds == question.timeout_seconds
    assert (await news_of(store, household))[-1] == (
        EventKind.APPROVAL_REQUEST,
        Status.AWAITING_APPROVAL,
    )
    decider = at_the("console", household)
    with pytest.raises(Conflict, match="not the call that you were shown"):
        await services.approvals.approve_tool(question.id, decider, digest=before.digest)
    answered = await services.approvals.approve_tool(question.id, decider, digest=question.digest)
    assert answered.status is ApprovalStatus.APPROVED


@pytest.mark.usefixtures("connection")
@pytest.mark.parametrize(
    ("seen", "status", "answer", "reason"),
    [
        (
            Survey({"exists": True}, changes_nothing=True),
            Status.APPROVED,
            ApprovalStatus.APPROVED,
            "the check has shown that it needs no approval",
        ),
        (
            Survey({}, (Finding("r", "it is a device", RiskLevel.FORBIDDEN),)),
            Status.FAILED,
            ApprovalStatus.WITHDRAWN,
            "it is a device",
        ),
        (
            Refusal("there is no such folder", ErrorType.VALIDATION),
            Status.FAILED,
            ApprovalStatus.WITHDRAWN,
            "there is no such folder",
        ),
    ],
    ids=["passes", "forbidden", "refused by the machine"],
)
async def test_facts_that_need_no_person_end_the_question_and_say_why(
    services: Services,
    store: SqliteStore,
    clock: FakeClock,
    household: Household,
    seen: Survey | Refusal,
    status: Status,
    answer: ApprovalStatus,
    reason: str,
) -> None:
    waiting = await slow(services, clock, household)

    ended = await accept(services, waiting, seen, household)

    question = await question_of(store, waiting)
    assert (ended.status, question.status) == (status, answer)
    assert question.answer is not None
    assert (question.answer.by, question.answer.reason) == ("handrail", reason)
    assert reason in question.how_it_ended
    news = [kind for kind, _ in await news_of(store, household)]
    assert EventKind.APPROVAL_RESOLVED in news
    with pytest.raises(Conflict, match="the machine's check ended it"):
        await services.approvals.approve_tool(question.id, at_the("console", household))


@pytest.mark.usefixtures("connection")
@pytest.mark.parametrize("is_yes", [True, False])
async def test_facts_that_come_after_the_answer_change_nothing(
    services: Services, store: SqliteStore, clock: FakeClock, household: Household, is_yes: bool
) -> None:
    waiting = await slow(services, clock, household)
    question, decider = await question_of(store, waiting), at_the("console", household)
    if is_yes:
        await services.approvals.approve_tool(question.id, decider, digest=question.digest)
    else:
        await services.approvals.reject_tool(question.id, decider)
    decided, answered = await now_of(store, waiting.id), await question_of(store, waiting)

    for seen in (RISKY, Refusal("no", ErrorType.VALIDATION)):
        with pytest.raises(Conflict, match="too late"):
            await accept(services, waiting, seen, household)

    assert await now_of(store, waiting.id) == decided
    assert await question_of(store, waiting) == answered
    assert (decided.surveyed, decided.digest) == (False, question.digest)


@pytest.mark.usefixtures("connection")
@pytest.mark.parametrize("delay", range(16))
async def test_a_yes_that_crosses_with_the_facts_covers_what_was_shown_or_nothing(
    services: Services, store: SqliteStore, clock: FakeClock, household: Household, delay: int
) -> None:
    waiting = await slow(services, clock, household)
    question = await question_of(store, waiting)

    async def approve_later() -> None:
        approving = services.approvals.approve_tool(
            question.id, at_the("console", household), digest=question.digest
        )
        for _ in range(delay):
            await asyncio.sleep(0)
        await approving

    outcomes = await asyncio.gather(
        accept(services, waiting, RISKY, household), approve_later(), return_exceptions=True
    )

    (refused,) = [one for one in outcomes if isinstance(one, BaseException)]
    assert isinstance(refused, Conflict)
    now, answered = await now_of(store, waiting.id), await question_of(store, waiting)
    is_approved = now.status is not Status.AWAITING_APPROVAL
    assert (now.digest == question.digest) is is_approved
    assert (answered.status is ApprovalStatus.APPROVED) is is_approved
    assert answered.digest == now.digest


async def test_a_yes_to_an_older_card_never_meets_newer_facts(
    services: Services,
    store: SqliteStore,
    clock: FakeClock,
    household: Household,
    connection: Connection,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    del connection
    waiting = await slow(services, clock, household)
    question = await question_of(store, waiting)
    get_user = store.get_user

    async def facts_come_first(user_id: str) -> object:
        monkeypatch.setattr(store, "get_user", get_user)
        await accept(services, waiting, RISKY, household)
        return await store.get_user(household.user.user_id)

    monkeypatch.setattr(store, "get_user", facts_come_first)
    with pytest.raises(Conflict, match="not the call that you were shown"):
        await services.approvals.approve_tool(
            question.id, at_the("console", household), digest=question.digest
        )

    assert (await now_of(store, waiting.id)).status is Status.AWAITING_APPROVAL


async def test_a_machine_that_leaves_is_not_waited_for_and_one_that_comes_is_asked(
    services: Services, store: SqliteStore, clock: FakeClock, household: Household
) -> None:
    client_id, workspace_id = household.client_id, household.workspace.id
    with services.connections.open(client_id, workspace_id):
        waiting = await slow(services, clock, household)
    await services.sweeper.sweep()
    assert await notes_on(services, waiting) == (NOT_SURVEYED,)
    with pytest.raises(Conflict, match="was not given to this client"):
        await accept(services, waiting, FACTS, household)

    with services.connections.open(client_id, workspace_id) as connection:
        await services.surveyor.looks.ask_again(connection)
        assert (await notes_on(services, waiting))[0].startswith("Still checking on")
        assert (await requests_to(store, household, client_id))[2:] == [True]
        judged = await accept(services, waiting, FACTS, household)

    assert (judged.status, judged.surveyed) == (Status.AWAITING_APPROVAL, True)
    assert await notes_on(services, judged) == ()


async def test_a_machine_that_reconnects_before_anyone_noticed_is_asked_again(
    services: Services, store: SqliteStore, clock: FakeClock, household: Household
) -> None:
    with services.connections.open(household.client_id, household.workspace.id):
        await slow(services, clock, household)
    with services.connections.open(household.client_id, household.workspace.id) as connection:
        await services.surveyor.looks.ask_again(connection)

    assert (await requests_to(store, household, household.client_id))[2:] == [True]


async def test_another_machine_of_the_workspace_takes_over_the_check(
    services: Services, store: SqliteStore, clock: FakeClock, household: Household
) -> None:
    other = await add_client(store, household)
    with services.connections.open(household.client_id, household.workspace.id):
        waiting = await slow(services, clock, household)
    with services.connections.open(ClientId(other.subject), household.workspace.id):
        await services.sweeper.sweep()
        assert (await now_of(store, waiting.id)).client_id == other.subject

        with pytest.raises(Conflict, match="was not given to this client"):
            await accept(services, waiting, FACTS, household)


async def test_after_a_restart_the_machine_is_asked_again(
    services: Services, clock: FakeClock, household: Household, tmp_path: Path
) -> None:
    pending = await look(services, household)
    clock.advance(3600)

    async with another_process(tmp_path, clock) as other:
        await other.sweeper.sweep()
        assert await notes_on(other, pending) == (NOT_SURVEYED,)
        connections = other.connections
        with connections.open(household.client_id, household.workspace.id) as connection:
            await other.surveyor.looks.ask_again(connection)
            judged = await accept(other, pending, FACTS, household)

        assert (judged.surveyed, (await question_of(other.store, judged)).surveyed) == (True, True)


@pytest.mark.usefixtures("connection")
async def test_the_last_question_that_an_agent_may_ask_is_brought_up_to_date_too(
    services: Services,
    clock: FakeClock,
    household: Household,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(approvals, "MOST_QUESTIONS", 1)
    waiting = await slow(services, clock, household)

    judged = await accept(services, waiting, FACTS, household)

    assert judged.status is Status.AWAITING_APPROVAL
    assert len(await lines_of(services.store, household, "call.surveyed")) == 2
