"""A person changes a call before approving it: what is judged, asked, done and told."""

import asyncio
import json
from typing import Any

import pytest

from handrail.core.approval import Approval, ApprovalStatus
from handrail.core.card import Card
from handrail.core.errors import BadInput, Conflict, ConflictingCall, TooLarge
from handrail.core.event import EventKind
from handrail.core.execution import Status, ToolExecution
from handrail.core.grant import Scope
from handrail.core.ids import CallId, SessionId
from handrail.core.project import Autonomy
from handrail.core.survey import Survey
from handrail.core.tool import ToolCall
from handrail.plane.survey import Refusal
from handrail.server.services import Services
from handrail.testing import FakeClock
from tests.conftest import Household
from tests.plane.conftest import (
    a_report,
    a_write,
    ask,
    ask_unseen,
    at_the,
    call_of,
    connected,
    lines_of,
    news_of,
    now_of,
    question_of,
    with_autonomy,
)


async def revise(
    services: Services, home: Household, question: Approval, **changes: Any
) -> Approval:
    """Change a call as a screen does: with the digest that came with the full text."""
    decider = at_the("console", home)
    editable = await services.reviser.read(question.id, decider)
    return await services.reviser.revise(question.id, decider, changes, editable.digest)


async def approve(services: Services, home: Household, question: Approval) -> Approval:
    decider = at_the("console", home)
    return await services.approvals.approve_tool(question.id, decider, digest=question.digest)


def a_command(home: Household, command: str = "make build", call_id: str = "call-1") -> ToolCall:
    session, words = SessionId("session-1"), {"command": command}
    return ToolCall(home.project.id, session, CallId(call_id), "run_bash", words)


async def ask_to_run(services: Services, home: Household, command: str = "make build") -> Approval:
    waiting = await services.executor.propose(a_command(home, command), home.agent)
    return await question_of(services.store, waiting)


async def see(services: Services, home: Household, call: ToolExecution, survey: Survey) -> None:
    """Have the machine answer the request to look that was sent last."""
    assert call.approval_id is not None
    await services.surveyor.accept(
        call.approval_id, survey, home.client, home.project.id, call.epoch
    )


# What it becomes


async def test_a_changed_call_waits_for_an_answer_to_what_it_is_now(
    services: Services, household: Household
) -> None:
    question = await ask(services, household)

    changed = await revise(services, household, question, content="x = 2\n")

    call = await call_of(services.store, question)
    assert call.status is Status.AWAITING_APPROVAL
    assert call.tool_params == {"path": "src/a.py", "content": "x = 2\n"}
    assert await services.store.find_approval(question.id) == changed
    assert changed.tool_params == call.tool_params
    assert changed.digest == call.digest != question.digest
    assert changed.status is ApprovalStatus.PENDING
    assert not changed.surveyed


async def test_what_a_person_changed_is_what_a_machine_is_given(
    services: Services, household: Household
) -> None:
    question = await ask_unseen(services, household)
    changed = await revise(services, household, question, content="x = 2\n")

    with connected(services, household.client):
        await approve(services, household, changed)

    call = await call_of(services.store, question)
    items = await services.store.read_stream(
        household.project.id, after=0, client_id=household.client_id, limit=1000
    )
    (signal,) = [one for one in items if one.event.kind is EventKind.EXECUTION_SIGNAL]
    assert call.status is Status.APPROVED
    assert json.loads(signal.raw_params or "") == {"path": "src/a.py", "content": "x = 2\n"}


async def test_an_answer_to_the_call_as_it_was_before_has_no_effect(
    services: Services, household: Household
) -> None:
    question = await ask(services, household)
    await revise(services, household, question, content="x = 2\n")

    with pytest.raises(Conflict, match="not the call that you were shown"):
        await approve(services, household, question)

    assert (await call_of(services.store, question)).status is Status.AWAITING_APPROVAL


async def test_the_card_says_who_changed_what(services: Services, household: Household) -> None:
    question = await ask(services, household, content="x = 1\ny = 1\n")

    card = Card.of(await revise(services, household, question, content="x = 1\ny = 2\n"))

    assert card.revised_by == "ada"
    assert card.revised_at is not None
    assert card.revision == (
        "--- a/content\n+++ b/content\n@@ -1,2 +1,2 @@\n x = 1\n-y = 1\n+y = 2\n"
    )
    assert card.notes[0] == "ada changed this call; the agent is told what was changed."


async def test_a_second_change_is_told_from_what_the_agent_asked(
    services: Services, household: Household
) -> None:
    question = await ask_to_run(services, household, "make build")
    await revise(services, household, question, command="make all")

    changed = await revise(services, household, question, command="make test")

    assert changed.revision is not None
    assert changed.revision.diff.splitlines()[-2:] == ["-make build", "+make test"]


async def test_a_call_that_was_changed_back_still_waits_and_differs_in_nothing(
    services: Services, household: Household
) -> None:
    question = await ask_to_run(services, household, "make build")
    await revise(services, household, question, command="make all")

    changed = await revise(services, household, question, command="make build")

    assert changed.revision is not None
    assert (changed.revision.by, changed.revision.diff) == ("ada", "")
    assert changed.status is ApprovalStatus.PENDING


async def test_arguments_can_be_changed_one_by_one(
    services: Services, household: Household
) -> None:
    words = {"command": "make", "args": ["build", "-j"]}
    session, call_id = SessionId("session-1"), CallId("call-1")
    asked = ToolCall(household.project.id, session, call_id, "execute_command", words)
    waiting = await services.executor.propose(asked, household.agent)
    question = await question_of(services.store, waiting)

    changed = await revise(services, household, question, args=["build", "-n"])

    assert changed.tool_params == {"command": "make", "args": ["build", "-n"]}
    assert changed.revision is not None
    assert changed.revision.diff.splitlines()[2:] == [
        "@@ -1,2 +1,2 @@",
        ' "build"',
        '-"-j"',
        '+"-n"',
    ]


async def test_the_time_to_answer_begins_anew(
    services: Services, household: Household, clock: FakeClock
) -> None:
    question = await ask(services, household)
    clock.advance(200)

    changed = await revise(services, household, question, content="x = 2\n")

    assert changed.expires_at > question.expires_at
    assert changed.created_at == question.created_at


# How it is judged


async def test_a_change_that_the_rules_refuse_changes_nothing(
    services: Services, household: Household
) -> None:
    question = await ask_to_run(services, household)
    before = await call_of(services.store, question)

    with pytest.raises(BadInput, match="would be refused: Command not allowed"):
        await revise(services, household, question, command="rm -rf /")

    assert await call_of(services.store, question) == before
    assert await services.store.find_approval(question.id) == question


async def test_a_change_that_does_not_fit_the_tool_changes_nothing(
    services: Services, household: Household
) -> None:
    question = await ask_to_run(services, household)

    with pytest.raises(BadInput, match="command"):
        await revise(services, household, question, command=["make"])

    assert await services.store.find_approval(question.id) == question


async def test_a_changed_call_is_judged_by_what_it_is_now(
    services: Services, household: Household
) -> None:
    question = await ask_to_run(services, household, "rm -r src")

    changed = await revise(services, household, question, command="make build")

    call = await call_of(services.store, question)
    assert "rm deletes files" in question.reasons
    assert "rm deletes files" not in changed.reasons
    assert (call.risk_level, call.reasons) == (changed.risk_level, changed.reasons)


async def test_a_change_to_something_harmless_still_waits_for_the_person(
    services: Services, household: Household
) -> None:
    question = await ask_to_run(services, household)

    changed = await revise(services, household, question, command="ls")

    call = await call_of(services.store, question)
    assert (call.status, call.requires_approval) == (Status.AWAITING_APPROVAL, True)
    assert changed.description == "Run: ls"
    assert changed.expires_at > changed.created_at


async def test_it_waits_although_its_check_shows_that_it_changes_nothing(
    services: Services, household: Household
) -> None:
    question = await ask(services, household)
    with connected(services, household.client):
        await revise(services, household, question, content="x = 2\n")
        call = await call_of(services.store, question)
        await see(services, household, call, Survey(changes_nothing=True))

    call = await call_of(services.store, question)
    assert (call.status, call.surveyed) == (Status.AWAITING_APPROVAL, True)


async def test_with_full_autonomy_it_still_waits(
    services: Services, store: Any, household: Household
) -> None:
    free = await with_autonomy(store, household, Autonomy.FULL)
    waiting = await services.executor.propose(
        a_write(free, path="run.sh", content="exit\n"), free.agent
    )
    question = await question_of(services.store, waiting)

    await revise(services, free, question, content="exit 1\n")

    assert (await call_of(services.store, question)).status is Status.AWAITING_APPROVAL


# What is seen of it


async def test_the_machine_looks_at_the_changed_call(
    services: Services, household: Household
) -> None:
    question = await ask(services, household)
    with connected(services, household.client):
        changed = await revise(services, household, question, content="x = 2\n")
        call = await call_of(services.store, question)
        assert "Still checking on" in Card.of(changed).notes[1]

        await see(services, household, call, Survey(evidence="+x = 2"))

    shown = await services.store.find_approval(question.id)
    assert shown is not None
    assert (shown.surveyed, shown.evidence) == (True, "+x = 2")
    assert shown.revision == changed.revision
    assert (await approve(services, household, shown)).status is ApprovalStatus.APPROVED


async def test_what_was_seen_of_the_call_before_counts_for_nothing(
    services: Services, household: Household
) -> None:
    question = await ask_unseen(services, household)
    with connected(services, household.client):
        await services.surveyor.looks.follow_connections()
        before = await call_of(services.store, question)
        await revise(services, household, question, content="x = 2\n")

        with pytest.raises(Conflict, match="was changed since"):
            await see(services, household, before, Survey(evidence="+x = 1"))
        with pytest.raises(Conflict, match="was changed since"):
            await services.surveyor.accept(
                question.id, Survey(), household.client, household.project.id
            )

    shown = await services.store.find_approval(question.id)
    assert shown is not None
    assert (shown.surveyed, shown.evidence) == (False, "")


async def test_a_machine_that_connects_later_looks_at_the_changed_call(
    services: Services, household: Household
) -> None:
    question = await ask_unseen(services, household)
    await revise(services, household, question, content="x = 2\n")

    with connected(services, household.client) as connection:
        await services.surveyor.looks.ask_again(connection)
        items = await services.store.read_stream(
            household.project.id, after=0, client_id=household.client_id, limit=1000
        )

    *_, request = [one for one in items if one.event.kind is EventKind.SURVEY_REQUEST]
    assert "x = 2" in (request.raw_params or "")


async def test_a_machine_that_refuses_the_changed_call_ends_it(
    services: Services, household: Household
) -> None:
    question = await ask(services, household)
    with connected(services, household.client):
        await revise(services, household, question, content="x = 2\n")
        call = await call_of(services.store, question)
        assert call.approval_id is not None
        refusal = Refusal("not on this machine", BadInput.error_type)
        await services.surveyor.accept(
            call.approval_id, refusal, household.client, household.project.id, call.epoch
        )

    call = await call_of(services.store, question)
    assert (call.status, call.error) == (Status.FAILED, "not on this machine")


# What may be changed


@pytest.mark.parametrize("name", ["path", "mode", "encoding", "nonsense"])
async def test_only_the_text_of_a_write_can_be_changed(
    services: Services, household: Household, name: str
) -> None:
    question = await ask(services, household)

    with pytest.raises(BadInput, match=f"{name} cannot be changed, only content"):
        await revise(services, household, question, **{name: "other.py"})

    assert await services.store.find_approval(question.id) == question


async def test_other_tools_cannot_be_changed(services: Services, household: Household) -> None:
    session, call_id = SessionId("session-1"), CallId("call-1")
    asked = ToolCall(household.project.id, session, call_id, "delete_file", {"path": "a.py"})
    waiting = await services.executor.propose(asked, household.agent)
    question = await question_of(services.store, waiting)

    with pytest.raises(BadInput, match="calls of delete_file cannot be changed"):
        await services.reviser.read(question.id, at_the("console", household))

    assert question.editable == ()


async def test_a_text_that_lies_in_a_blob_cannot_be_changed(
    services: Services, household: Household
) -> None:
    question = await ask_unseen(services, household, content="x" * 1_100_000)

    assert question.editable == ()


async def test_a_blob_or_a_text_too_long_is_not_taken(
    services: Services, household: Household
) -> None:
    question = await ask(services, household)

    with pytest.raises(BadInput, match="send the text itself"):
        await revise(services, household, question, content={"blob": "0" * 64, "size": 1})
    with pytest.raises(TooLarge, match="1,000,000 bytes"):
        await revise(services, household, question, content="x" * 1_000_001)


async def test_changing_nothing_is_an_error(services: Services, household: Household) -> None:
    question = await ask(services, household)

    with pytest.raises(BadInput, match="approve it as it is"):
        await revise(services, household, question, content="x = 1\n")


# Secrets


async def test_a_person_changes_the_full_text_and_only_its_masked_form_is_kept(
    services: Services, household: Household
) -> None:
    question = await ask(services, household, content="token = 'abcdefgh1'\n")
    decider = at_the("console", household)

    editable = await services.reviser.read(question.id, decider)
    changed = await revise(services, household, question, content="token = 'abcdefgh2'\n")

    assert editable.params == {"content": "token = 'abcdefgh1'\n"}
    assert len(await lines_of(services.store, household, "approval.unmasked")) == 2
    (line,) = await lines_of(services.store, household, "call.revised")
    kept = str((changed, await call_of(services.store, question), line.details))
    assert "abcdefgh" not in kept
    assert "[masked]" in kept


async def test_a_text_with_masked_parts_is_not_taken_for_the_full_one(
    services: Services, household: Household
) -> None:
    question = await ask(services, household, content="token = 'abcdefgh1'\n")

    with pytest.raises(BadInput, match="content has masked parts"):
        await revise(services, household, question, content="token = [masked]\nx = 1\n")


# The record, and what the agent is told


async def test_the_record_says_who_changed_what(services: Services, household: Household) -> None:
    question = await ask_to_run(services, household, "make build")
    await revise(services, household, question, command="make test")

    (line,) = await lines_of(services.store, household, "call.revised")

    call = await call_of(services.store, question)
    told = json.loads(line.details)
    assert (line.actor, line.subject) == (household.user.subject, call.id)
    assert (told["by"], told["channel"], told["approval"]) == ("ada", "console", question.id)
    assert told["digest"] == call.digest
    assert told["changes"].splitlines()[-2:] == ["-make build", "+make test"]


async def test_the_agent_is_told_what_was_changed(services: Services, household: Household) -> None:
    question = await ask_unseen(services, household)
    changed = await revise(services, household, question, content="x = 2\n")
    with connected(services, household.client):
        await approve(services, household, changed)
        call = await call_of(services.store, question)
        report = a_report(call.id, epoch=call.epoch)
        accept = services.receiver.accept
        ended = await accept(report, household.client, household.project.id)
        again = await accept(report, household.client, household.project.id)

    assert again == ended
    told = ended.told_result or {}
    assert ended.result == {"success": True, "content": "hello"}
    assert told["output"].startswith("A person changed this call before approving it:\n--- a/cont")
    assert told["changed_by_person"] == {
        "by": "ada",
        "changes": ended.revision and ended.revision.diff,
    }


async def test_the_same_call_id_still_means_what_the_agent_asked(
    services: Services, household: Household
) -> None:
    question = await ask(services, household)
    await revise(services, household, question, content="x = 2\n")

    again = await services.executor.propose(a_write(household), household.agent)

    assert again.id == question.execution_id
    with pytest.raises(ConflictingCall):
        await services.executor.propose(a_write(household, content="x = 2\n"), household.agent)


async def test_nothing_of_the_full_texts_is_left_after_the_end(
    services: Services, household: Household
) -> None:
    question = await ask(services, household, content="token = 'abcdefgh1'\n")
    await revise(services, household, question, content="token = 'abcdefgh2'\n")

    await services.approvals.reject_tool(question.id, at_the("console", household))

    call = await call_of(services.store, question)
    assert "abcdefgh" not in await services.store.read_raw_params(call)
    assert "abcdefgh" not in await services.store.read_asked_params(call)


# Grants, marks and doubts


async def test_a_changed_call_passes_on_no_grant_and_gives_none(
    services: Services, household: Household
) -> None:
    question = await ask(services, household, path="src/b.py")
    other = await ask(services, household, "call-2", path="src/c.py")
    changed = await revise(services, household, question, content="x = 2\n")
    with connected(services, household.client):
        call = await call_of(services.store, question)
        await services.surveyor.looks.follow_connections()
        await see(services, household, call, Survey())

    await services.approvals.approve_tool(
        other.id, at_the("console", household), scope=Scope.SESSION, digest=other.digest
    )

    shown = await services.store.find_approval(changed.id)
    assert shown is not None
    assert (shown.status, shown.offers) == (ApprovalStatus.PENDING, (Scope.ONCE,))
    again = await revise(services, household, shown, content="x = 3\n")
    assert (await call_of(services.store, again)).status is Status.AWAITING_APPROVAL


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        pytest.param("all of it, but for a word\n", True, id="a-part-is-left"),
        pytest.param("nothing left\n", False, id="nothing-is-left"),
    ],
)
async def test_a_text_keeps_its_mark_while_a_word_of_it_is_left(
    services: Services, household: Household, typed: str, kept: bool
) -> None:
    words = {"path": "a.md", "content": "all that the page said\n"}
    call_id = CallId("call-1")
    asked = ToolCall(
        household.project.id,
        SessionId("session-1"),
        call_id,
        "write_file",
        words,
        origins={"content": "call-0"},
    )
    waiting = await services.executor.propose(asked, household.agent)
    question = await question_of(services.store, waiting)

    changed = await revise(services, household, question, content=typed)

    call = await call_of(services.store, question)
    assert call.origins == ({"content": "call-0"} if kept else None)
    assert any("taken from the result" in reason for reason in changed.reasons) is kept


# Races


async def test_of_two_changes_at_once_one_counts(services: Services, household: Household) -> None:
    question = await ask(services, household)
    decider = at_the("console", household)
    editable = await services.reviser.read(question.id, decider)

    outcomes = await asyncio.gather(
        *(
            services.reviser.revise(question.id, decider, {"content": text}, editable.digest)
            for text in ("x = 2\n", "x = 3\n")
        ),
        return_exceptions=True,
    )

    (changed,) = [one for one in outcomes if isinstance(one, Approval)]
    (late,) = [one for one in outcomes if isinstance(one, Exception)]
    assert isinstance(late, Conflict)
    assert (await call_of(services.store, question)).tool_params == changed.tool_params


async def test_the_same_change_sent_again_is_one(services: Services, household: Household) -> None:
    question = await ask(services, household)
    decider = at_the("console", household)
    editable = await services.reviser.read(question.id, decider)
    change = (question.id, decider, {"content": "x = 2\n"}, editable.digest)

    assert await services.reviser.revise(*change) == await services.reviser.revise(*change)

    assert len(await lines_of(services.store, household, "call.revised")) == 1


async def test_a_change_and_an_approval_at_once_leave_what_was_approved_or_a_question(
    services: Services, household: Household
) -> None:
    question = await ask(services, household)
    decider = at_the("console", household)
    editable = await services.reviser.read(question.id, decider)

    outcomes = await asyncio.gather(
        approve(services, household, question),
        services.reviser.revise(question.id, decider, {"content": "x = 2\n"}, editable.digest),
        return_exceptions=True,
    )

    call = await call_of(services.store, question)
    assert [isinstance(one, Conflict) for one in outcomes].count(True) == 1
    if isinstance(outcomes[0], Conflict):
        assert (call.status, call.tool_params["content"]) == (
            Status.AWAITING_APPROVAL,
            "x = 2\n",
        )
    else:
        assert (call.status, call.tool_params["content"]) == (Status.APPROVED, "x = 1\n")


async def test_facts_that_arrive_while_a_person_types_do_not_spoil_the_change(
    services: Services, household: Household
) -> None:
    question = await ask_unseen(services, household)
    decider = at_the("console", household)
    editable = await services.reviser.read(question.id, decider)
    with connected(services, household.client):
        await services.surveyor.looks.follow_connections()
        await see(services, household, await call_of(services.store, question), Survey())

        changed = await services.reviser.revise(
            question.id, decider, {"content": "x = 2\n"}, editable.digest
        )

    assert changed.tool_params["content"] == "x = 2\n"


async def test_a_change_of_what_another_person_has_changed_is_refused(
    services: Services, household: Household
) -> None:
    question = await ask(services, household)
    decider = at_the("console", household)
    editable = await services.reviser.read(question.id, decider)
    await revise(services, household, question, content="x = 2\n")

    with pytest.raises(Conflict, match="not the call that you were shown"):
        await services.reviser.revise(question.id, decider, {"content": "x = 3\n"}, editable.digest)


async def test_what_is_decided_or_over_cannot_be_changed(
    services: Services, household: Household, clock: FakeClock
) -> None:
    decided = await ask(services, household)
    expired = await ask(services, household, "call-2")
    decider = at_the("console", household)
    digest = (await services.reviser.read(expired.id, decider)).digest
    await services.approvals.reject_tool(decided.id, decider)
    clock.advance(601)

    for question, why in ((decided, "answered first"), (expired, "time to answer ran out")):
        with pytest.raises(Conflict, match=why):
            await services.reviser.revise(question.id, decider, {"content": "x\n"}, digest)


async def test_in_a_session_that_was_stopped_nothing_can_be_changed(
    services: Services, household: Household
) -> None:
    question = await ask(services, household)
    decider = at_the("console", household)
    digest = (await services.reviser.read(question.id, decider)).digest
    await services.stopper.stop_session(question.session_id, decider)

    with pytest.raises(Conflict):
        await services.reviser.revise(question.id, decider, {"content": "x\n"}, digest)

    assert (await now_of(services.store, question.execution_id)).status.is_final


async def test_everybody_hears_of_the_new_question(
    services: Services, household: Household
) -> None:
    question = await ask(services, household)
    before = len(await news_of(services.store, household))

    await revise(services, household, question, content="x = 2\n")

    news = (await news_of(services.store, household))[before:]
    assert news == [(EventKind.APPROVAL_REQUEST, Status.AWAITING_APPROVAL)]
