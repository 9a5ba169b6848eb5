"""The full text of a masked question: who gets it, from whom, and what it is good for."""

import asyncio

import pytest

from handrail.core.approval import Approval
from handrail.core.errors import Conflict, ErrorType, NotFound
from handrail.core.event import EventKind
from handrail.core.execution import Status
from handrail.core.ids import ApprovalId, ProjectId
from handrail.core.survey import Survey
from handrail.plane import unmasking
from handrail.plane.survey import Refusal
from handrail.server.services import Services
from tests.conftest import Household
from tests.plane.conftest import (
    approve_in_full,
    ask,
    ask_unseen,
    at_the,
    connected,
    lines_of,
    look,
    news_of,
    question_of,
)

SECRET = "password='hunter22'"
FACTS = {"exists": False}
SEEN = Survey(FACTS, evidence=f"+{SECRET}", unmasked=f"+{SECRET}")


async def a_masked_question(services: Services, home: Household) -> Approval:
    pending = await look(services, home, content=SECRET)
    assert pending.approval_id is not None
    waiting = await services.surveyor.accept(
        pending.approval_id, SEEN, home.client, home.project.id
    )
    return await question_of(services.store, waiting)


async def unmask(services: Services, home: Household, question: Approval) -> Approval:
    return await services.unmasker.unmask(question.id, home.user, home.project.id)


async def answer(
    services: Services, home: Household, question: Approval, said: Survey | Refusal
) -> None:
    """As the machine does once it is asked to look again."""
    asked_again = (EventKind.SURVEY_REQUEST, Status.AWAITING_APPROVAL)
    while asked_again not in await news_of(services.store, home):
        await asyncio.sleep(0)
    await services.surveyor.accept(question.id, said, home.client, home.project.id)


async def test_the_machine_is_asked_again_and_its_text_is_stored_nowhere(
    services: Services, household: Household
) -> None:
    question = await a_masked_question(services, household)
    assert SECRET not in question.evidence

    with connected(services, household.client):
        async with asyncio.TaskGroup() as group:
            shown = group.create_task(unmask(services, household, question))
            again = group.create_task(unmask(services, household, question))
            await answer(services, household, question, SEEN)

    assert shown.result() == again.result()
    assert shown.result().evidence == f"+{SECRET}"
    assert shown.result().tool_params["content"] == SECRET
    assert await services.store.find_approval(question.id) == question
    reads = await lines_of(services.store, household, "approval.unmasked")
    assert [line.actor for line in reads] == [household.user.subject] * 2


async def test_a_masked_question_is_approved_only_with_the_digest_of_its_full_text(
    services: Services, household: Household
) -> None:
    question = await ask_unseen(services, household, content=SECRET)

    for digest in (None, question.digest, "made up"):
        with pytest.raises(Conflict, match=r"masked|not the call that you were shown"):
            await services.approvals.approve_tool(
                question.id, at_the("console", household), digest=digest
            )

    approved = await approve_in_full(services, question, household)
    assert approved.status == "approved"


async def test_nothing_is_asked_or_recorded_where_nothing_is_masked(
    services: Services, household: Household
) -> None:
    question = await ask(services, household)
    before = await lines_of(services.store, household)

    assert await unmask(services, household, question) == question
    assert await lines_of(services.store, household) == before


@pytest.mark.parametrize(
    "said",
    [
        Survey({"exists": True}, evidence="+other", unmasked="+other"),
        Refusal("no", ErrorType.DENIED),
    ],
)
async def test_other_facts_than_those_of_the_question_are_not_shown(
    services: Services, household: Household, said: Survey | Refusal
) -> None:
    question = await a_masked_question(services, household)

    with connected(services, household.client):
        answering = asyncio.create_task(answer(services, household, question, said))
        with pytest.raises(Conflict, match="the machine has changed since this was asked"):
            await unmask(services, household, question)
        await answering


async def test_a_client_that_cannot_send_the_full_text_is_told_to_be_updated(
    services: Services, household: Household
) -> None:
    question = await a_masked_question(services, household)

    with connected(services, household.client):
        masked = Survey(FACTS, evidence=question.evidence)
        answering = asyncio.create_task(answer(services, household, question, masked))
        with pytest.raises(Conflict, match="is too old to send it; update it"):
            await unmask(services, household, question)
        await answering


async def test_who_comes_after_an_answer_asks_again(
    services: Services, household: Household
) -> None:
    question = await a_masked_question(services, household)

    with connected(services, household.client):
        for _ in range(2):
            async with asyncio.TaskGroup() as group:
                shown = group.create_task(unmask(services, household, question))
                while not services.unmasker._readers:
                    await asyncio.sleep(0)
                assert services.unmasker.take(question.id, SEEN, household.client)
                late = group.create_task(unmask(services, household, question))
                while not services.unmasker._readers:
                    await asyncio.sleep(0)
                assert services.unmasker.take(question.id, SEEN, household.client)
            assert shown.result() == late.result()


async def test_a_machine_that_is_away_or_silent_is_named_as_the_cause(
    services: Services, household: Household, monkeypatch: pytest.MonkeyPatch
) -> None:
    question = await a_masked_question(services, household)

    with pytest.raises(Conflict, match="is not connected"):
        await unmask(services, household, question)
    monkeypatch.setattr(unmasking, "UNMASK_SECONDS", 0.01)
    with connected(services, household.client), pytest.raises(Conflict, match="has not answered"):
        await unmask(services, household, question)
    with pytest.raises(Conflict, match="too late"):
        await services.surveyor.accept(question.id, SEEN, household.client, household.project.id)


async def test_only_open_questions_of_ones_own_project_are_shown(
    services: Services, household: Household
) -> None:
    question = await ask_unseen(services, household, content=SECRET)

    with pytest.raises(NotFound):
        await services.unmasker.unmask(question.id, household.user, ProjectId("prj_other"))
    with pytest.raises(NotFound):
        await services.unmasker.unmask(ApprovalId("apr_none"), household.user, household.project.id)
    await services.approvals.reject_tool(question.id, at_the("console", household))
    with pytest.raises(Conflict, match="rejected"):
        await unmask(services, household, question)
