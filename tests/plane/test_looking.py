"""What a call would replace on the server is looked at before it is ruled on, and held to."""

import asyncio
from datetime import timedelta

import pytest

from handrail.core.access import Principal, Role, Token, hash_secret
from handrail.core.approval import Approval
from handrail.core.change import Add, Advance, Change, KeepMemory
from handrail.core.errors import ErrorType
from handrail.core.execution import Status, ToolExecution
from handrail.core.ids import OWN_AGENT, CallId, SessionId, TokenId
from handrail.core.memory import Memory
from handrail.core.risk import RiskLevel
from handrail.core.tool import ToolCall
from handrail.knowledge.memory import MemoryKeeper, Owner, PersonalMemories
from handrail.plane import looking
from handrail.plane.approvals import POLICY
from handrail.server.services import Services
from handrail.store.sqlite import SqliteStore
from handrail.testing import FakeClock
from handrail.tools.builtin.memory_store import MemoryStore
from tests.conftest import Household
from tests.plane.conftest import at_the, now_of, question_of
from tests.plane.desk import at_work

KEY = "release-day"
TRUE = "We release on Tuesdays.\nAda signs."
FALSE = "We release on Tuesdays.\nNobody signs."


@pytest.fixture
async def other(store: SqliteStore, clock: FakeClock, household: Household) -> Principal:
    """A second agent of the same person, with a token of its own."""
    at, home = clock.now(), household
    token = Token(
        TokenId("tok_other"), hash_secret("x"), Role.AGENT, "agt_other",
        home.user.user_id, home.project.id, home.workspace.id, "night shift", at,
    )  # fmt: skip
    await store.submit(Change(home.project.id, at, (Add(token),)))
    return token.principal


def memories_of(services: Services, home: Household, actor: str) -> PersonalMemories:
    return services.memories.of(Owner(home.user.user_id, home.project.id, actor))


async def propose(
    services: Services, home: Household, agent: Principal, content: str, call_id: str = "c1"
) -> ToolExecution:
    session = SessionId(f"session of {agent.subject}")
    words = {"key": KEY, "content": content}
    call = ToolCall(home.project.id, session, CallId(call_id), "memory_store", words)
    return await services.executor.propose(call, agent)


async def content_now(services: Services, home: Household) -> str | None:
    found = await services.store.find_memory(home.user.user_id, KEY)
    return None if found is None else found.content


async def settled(services: Services, call: ToolExecution) -> ToolExecution:
    async with asyncio.timeout(20):
        return await services.executor.settle(call.id)


async def asked_about(services: Services, call: ToolExecution) -> Approval:
    assert (call.status, call.risk_level) == (Status.AWAITING_APPROVAL, RiskLevel.MEDIUM)
    return await question_of(services.store, call)


@pytest.mark.behaviour("memory.of-another")
async def test_to_replace_what_another_agent_stored_asks_with_both_texts(
    services: Services, household: Household, other: Principal
) -> None:
    async with at_work(services):
        first = await propose(services, household, other, TRUE)
        assert (await settled(services, first)).status is Status.COMPLETED

        call = await propose(services, household, household.agent, FALSE)

        question = await asked_about(services, call)
        assert question.reasons == (
            "this replaces the memory release-day, which was stored by the agent night shift",
        )
        assert question.surveyed
        assert "-Ada signs.\n+Nobody signs.\n" in question.evidence
        assert await content_now(services, household) == TRUE

        await services.approvals.approve_tool(question.id, at_the("web", household))
        assert (await settled(services, call)).status is Status.COMPLETED
        assert await content_now(services, household) == FALSE

        # From now on it is the memory of the agent that was let replace it.
        back = await propose(services, household, other, TRUE, "c2")
        assert back.status is Status.AWAITING_APPROVAL


async def test_what_an_agent_stored_itself_it_replaces_unasked(
    services: Services, household: Household
) -> None:
    async with at_work(services):
        for number, content in enumerate((TRUE, FALSE)):
            call = await propose(services, household, household.agent, content, f"c{number}")
            ended = await settled(services, call)
            assert (ended.status, ended.risk_level) == (Status.COMPLETED, RiskLevel.LOW)
            assert ended.approved_by == POLICY

    assert await content_now(services, household) == FALSE


@pytest.mark.parametrize(
    ("author", "named"),
    [
        ("the person", "stored by ada"),
        (OWN_AGENT, "stored by Handrail's own agent"),
        ("agt_gone", "stored by the agent agt_gone"),
    ],
)
async def test_the_author_is_named(
    services: Services, household: Household, author: str, named: str
) -> None:
    actor = household.user.user_id if author == "the person" else author
    await memories_of(services, household, actor).store(KEY, TRUE)

    question = await asked_about(
        services, await propose(services, household, household.agent, FALSE)
    )

    assert question.reasons[0].endswith(named)


async def test_a_memory_from_before_authors_were_kept_asks(
    services: Services, household: Household, clock: FakeClock
) -> None:
    old = Memory(KEY, TRUE, "general", clock.now(), clock.now())
    step = KeepMemory(household.user.user_id, old)
    await services.store.submit(Change(household.project.id, clock.now(), (step,)))

    question = await asked_about(
        services, await propose(services, household, household.agent, FALSE)
    )

    assert question.reasons[0].endswith("stored by an unknown agent")


async def test_the_same_text_asks_too_for_it_would_change_hands(
    services: Services, household: Household, other: Principal
) -> None:
    await memories_of(services, household, other.subject).store(KEY, TRUE, "taste")

    question = await asked_about(
        services, await propose(services, household, household.agent, TRUE)
    )

    assert question.evidence == "[the text stays the same]\n[category: taste → general]\n"


async def test_a_change_that_cannot_be_shown_whole_is_high(
    services: Services, household: Household, other: Principal
) -> None:
    await memories_of(services, household, other.subject).store(KEY, TRUE)

    call = await propose(services, household, household.agent, "x" * 19_000)

    assert call.risk_level is RiskLevel.HIGH
    assert call.reasons[-1] == "17,000 characters of long lines are not shown"


async def test_masked_evidence_is_shown_in_full_by_the_server_itself(
    services: Services, household: Household, other: Principal
) -> None:
    await memories_of(services, household, other.subject).store(KEY, "password='hunter22'")
    call = await propose(services, household, household.agent, "password='hunter23'")
    question = await asked_about(services, call)
    assert "hunter" not in question.evidence

    shown = await services.unmasker.unmask(question.id, household.user, household.project.id)

    assert "-password='hunter22'\n+password='hunter23'\n" in shown.evidence


# Held to what was seen


async def test_a_memory_that_changed_after_the_card_was_shown_is_left_as_it_is(
    services: Services, household: Household, other: Principal
) -> None:
    theirs = memories_of(services, household, other.subject)
    await theirs.store(KEY, TRUE)
    call = await propose(services, household, household.agent, FALSE)
    question = await asked_about(services, call)
    await theirs.store(KEY, "We release on Fridays.")

    async with at_work(services):
        await services.approvals.approve_tool(question.id, at_the("web", household))
        ended = await settled(services, call)

    assert (ended.status, ended.error_type) == (Status.FAILED, ErrorType.STALE)
    assert await content_now(services, household) == "We release on Fridays."


async def test_what_passed_unasked_replaces_nothing_that_another_stored_meanwhile(
    services: Services, household: Household, other: Principal
) -> None:
    call = await propose(services, household, household.agent, FALSE)
    assert (call.status, call.risk_level) == (Status.APPROVED, RiskLevel.LOW)
    await memories_of(services, household, other.subject).store(KEY, TRUE)

    async with at_work(services):
        ended = await settled(services, call)

    assert (ended.status, ended.error_type) == (Status.FAILED, ErrorType.STALE)
    assert await content_now(services, household) == TRUE


async def test_what_an_earlier_life_of_the_server_had_replaced_is_not_said_to_be_undone(
    services: Services, household: Household, other: Principal, clock: FakeClock
) -> None:
    await memories_of(services, household, other.subject).store(KEY, TRUE)
    call = await propose(services, household, household.agent, FALSE)
    question = await asked_about(services, call)
    await services.approvals.approve_tool(question.id, at_the("web", household))
    approved = await now_of(services.store, call.id)
    begun = approved.advance(Status.EXECUTING, clock.now(), claim_key="of an earlier life")
    await services.store.submit(
        Change(household.project.id, clock.now(), (Advance(approved, begun),))
    )
    clock.advance(timedelta(seconds=1).total_seconds())
    theirs = await memories_of(services, household, household.agent.subject).find_of_another(KEY)
    assert theirs is not None
    await memories_of(services, household, household.agent.subject).store(
        KEY, FALSE, replaces=theirs.memory.digest
    )

    async with at_work(services):
        ended = await settled(services, call)

    assert (ended.status, ended.error_type) == (Status.FAILED, ErrorType.OUTCOME_UNKNOWN)


# Where looking fails


async def test_a_look_that_takes_too_long_ends_the_call(
    services: Services, household: Household, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def never(*_: object) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(looking, "_MOST_SECONDS", 0.01)
    monkeypatch.setattr(MemoryStore, "survey", never)

    call = await propose(services, household, household.agent, TRUE)

    assert (call.status, call.error_type) == (Status.FAILED, ErrorType.EXECUTION)
    assert call.error == "memory_store took too long to check the current state"


async def test_of_many_that_store_at_once_one_wins_and_none_replaces_another(
    store: SqliteStore, clock: FakeClock, household: Household
) -> None:
    keeper = MemoryKeeper(store, clock)
    agents = [
        keeper.of(Owner(household.user.user_id, household.project.id, f"agt_{number}"))
        for number in range(20)
    ]

    told = await asyncio.gather(
        *[agent.store(KEY, f"by {number}") for number, agent in enumerate(agents)],
        return_exceptions=True,
    )

    kept = [one for one in told if isinstance(one, Memory)]
    assert len(kept) == 1
    found = await store.find_memory(household.user.user_id, KEY)
    assert found is not None
    assert (found.content, found.stored_by) == (kept[0].content, kept[0].stored_by)
