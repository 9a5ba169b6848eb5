"""What every store promises about a call that a person changes while it waits for them."""

from dataclasses import replace
from datetime import timedelta

import pytest

from handrail.bus.local import LocalBus
from handrail.core.approval import Approval
from handrail.core.audit import AuditRecord
from handrail.core.change import Advance, Change, Reoffer, StopSession
from handrail.core.errors import ChangeRefused
from handrail.core.event import EventKind, NewEvent
from handrail.core.execution import Status, ToolExecution
from handrail.core.revision import Revision
from handrail.core.revision_steps import Revise
from handrail.store.sqlite import SqliteStore
from tests.conftest import Household
from tests.contracts.conftest import (
    OpenStore,
    a_question,
    a_session,
    a_waiting_call,
    answering,
    asking,
    moving,
)

ASKED = '{"content":"x = 1\\n","path":"src/a.py"}'
CHANGED = '{"content":"token=open-sesame","path":"src/a.py"}'


def revising(call: ToolExecution, question: Approval) -> Revise:
    """The step by which ada puts another text in the place of the one that was asked."""
    at = call.created_at + timedelta(seconds=5)
    after = call._replace(
        tool_params={"path": "src/a.py", "content": "token=[masked]"},
        digest="judged again",
        epoch=call.epoch + 1,
        origins=None,
        revision=Revision("ada", at, "-x = 1\n+token=[masked]\n"),
    )
    asked = replace(
        question,
        tool_params=after.tool_params,
        digest=after.digest,
        editable=("content",),
        revision=after.revision,
    )
    return Revise(call, after, asked, CHANGED, ASKED)


async def ask(
    store: SqliteStore, home: Household, raw_params: str | None = None
) -> tuple[ToolExecution, Approval]:
    call = a_waiting_call(home, origins={"content": "call-0"})
    question = a_question(call, editable=("content",))
    await store.submit(asking(call, question, home, raw_params))
    return call, question


async def submit(store: SqliteStore, step: Revise) -> None:
    at = step.after.created_at
    news = NewEvent.for_everyone(step.after, EventKind.APPROVAL_REQUEST)
    line = AuditRecord("call.revised", "ada", step.after.id)
    await store.submit(Change(step.after.project_id, at, (step,), (news,), (line,)))


async def refuse(store: SqliteStore, step: Revise) -> None:
    """Nothing of it may be left when it is refused."""
    before = await _state_of(store, step)
    with pytest.raises(ChangeRefused):
        await submit(store, step)
    assert await _state_of(store, step) == before


async def _state_of(store: SqliteStore, step: Revise) -> tuple[object, ...]:
    return (
        await store.find_execution(step.after.id),
        await store.find_approval(step.approval.id),
        await store.read_raw_params(step.after),
        await store.read_asked_params(step.after),
        await store.read_audit(step.after.project_id, after=0, limit=1000),
    )


@pytest.mark.parametrize("raw", [None, ASKED], ids=["raw-record", "masked-record"])
async def test_a_changed_call_is_what_is_read_from_then_on(
    store: SqliteStore, household: Household, open_store: OpenStore, raw: str | None
) -> None:
    call, question = await ask(store, household, raw)
    step = revising(call, question)

    await submit(store, step)

    for reader in (store, await open_store(LocalBus())):
        assert await reader.find_execution(call.id) == step.after
        assert await reader.find_approval(question.id) == step.approval
        assert await reader.read_raw_params(call) == CHANGED
        assert await reader.read_asked_params(call) == ASKED


async def test_what_was_asked_stays_known_after_a_second_change(
    store: SqliteStore, household: Household
) -> None:
    call, question = await ask(store, household)
    first = revising(call, question)
    await submit(store, first)

    await submit(store, replace(revising(first.after, first.approval), raw_params="{}"))

    assert await store.read_raw_params(call) == "{}"
    assert await store.read_asked_params(call) == ASKED


async def test_a_call_that_nobody_has_changed_was_asked_as_it_is(
    store: SqliteStore, household: Household
) -> None:
    call, _ = await ask(store, household, CHANGED)

    assert await store.read_asked_params(call) == CHANGED


async def test_a_client_is_given_the_changed_parameters(
    store: SqliteStore, household: Household, open_store: OpenStore
) -> None:
    call, question = await ask(store, household)
    step = revising(call, question)
    await submit(store, step)
    await store.submit(answering(step.approval, step.after, approved=True))
    approved = await store.find_execution(call.id)
    assert approved is not None
    offer = Reoffer(approved, approved.reoffer(household.client_id))

    await store.submit(moving(offer, EventKind.EXECUTION_SIGNAL))

    for reader in (store, await open_store(LocalBus())):
        *_, item = await reader.read_stream(
            call.project_id, after=0, client_id=household.client_id, limit=100
        )
        assert (item.execution, item.raw_params) == (offer.after, CHANGED)


async def test_both_forms_of_the_parameters_are_gone_with_the_end(
    store: SqliteStore, household: Household
) -> None:
    call, question = await ask(store, household)
    step = revising(call, question)
    await submit(store, step)

    await store.submit(answering(step.approval, step.after, approved=False))

    for text in (await store.read_raw_params(call), await store.read_asked_params(call)):
        assert "open-sesame" not in text


async def test_a_question_that_was_answered_is_not_changed(
    store: SqliteStore, household: Household
) -> None:
    call, question = await ask(store, household)
    await store.submit(answering(question, call, approved=True))

    await refuse(store, revising(call, question))


async def test_a_call_that_has_ended_is_not_changed(
    store: SqliteStore, household: Household
) -> None:
    call, question = await ask(store, household)
    await store.submit(moving(Advance(call, call.advance(Status.TIMEOUT, call.created_at))))

    await refuse(store, revising(call, question))


async def test_a_call_that_was_changed_meanwhile_is_not_changed(
    store: SqliteStore, household: Household
) -> None:
    call, question = await ask(store, household)
    step = revising(call, question)
    await submit(store, step)

    await refuse(store, step)


async def test_a_call_of_a_session_that_was_stopped_is_not_changed(
    store: SqliteStore, household: Household
) -> None:
    call, question = await ask(store, household)
    stop = (StopSession(a_session(household, call.session_id)),)
    await store.submit(Change(call.project_id, call.created_at, stop))

    await refuse(store, revising(call, question))
