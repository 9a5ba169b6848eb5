"""A person changes a call over HTTP before approving it."""

from functools import partial
from typing import Any

import pytest

from handrail.core.access import Role
from tests.conftest import Household
from tests.server.conftest import (
    Answer,
    Caller,
    approve,
    ask_to_write,
    ask_with_a_look,
    base,
    reject,
    send_facts,
    show,
)

CONFLICT = (409, "urn:handrail:conflict")
NOT_FOUND = (404, "urn:handrail:not-found")
BAD_INPUT = (400, "urn:handrail:bad-input")
FORBIDDEN = (403, "urn:handrail:forbidden")

LINES = "--- a/content\n+++ b/content\n@@ -1,1 +1,1 @@\n-hello\n+good day\n"


async def editable(
    caller: Caller, home: Household, asked: dict[str, Any], role: Role = Role.USER
) -> Answer:
    address = f"{base(home)}/approvals/{asked['approval_id']}/editable"
    return await caller.ask("GET", address, home.secrets[role])


async def revise(
    caller: Caller,
    home: Household,
    asked: dict[str, Any],
    role: Role = Role.USER,
    *,
    digest: str | None = None,
    **params: Any,
) -> Answer:
    """Change a call; with the digest of what can be changed unless another is given."""
    if digest is None:
        digest = (await editable(caller, home, asked)).body["digest"]
    return await caller.ask(
        "POST",
        f"{base(home)}/approvals/{asked['approval_id']}/revise",
        home.secrets[role],
        json={"tool_params": params, "digest": digest, "channel": "console"},
    )


async def test_a_person_reads_and_changes_the_text_and_gets_the_new_card(
    caller: Caller, household: Household
) -> None:
    asked = await ask_with_a_look(caller, household)

    before = await editable(caller, household, asked)
    changed = await revise(caller, household, asked, content="good day\n")

    assert before.body.pop("digest")
    assert before.body == {
        "success": True,
        "approval_id": asked["approval_id"],
        "tool_params": {"content": "hello\n"},
    }
    assert changed.status == 200
    assert changed.body == await show(caller, household, f"/approvals/{asked['approval_id']}")
    assert changed.body["tool_params"] == {"path": "notes.md", "content": "good day\n"}
    assert changed.body["editable"] == ["content"]
    assert changed.body["revised_by"] == "ada"
    assert changed.body["revised_at"]
    assert changed.body["revision"] == LINES
    assert [offer["scope"] for offer in changed.body["offers"]] == ["once"]


async def test_the_call_says_who_changed_it(caller: Caller, household: Household) -> None:
    asked = await ask_to_write(caller, household)
    assert (asked["revised_by"], asked["revised_at"], asked["revision"]) == (None, None, None)

    await revise(caller, household, asked, content="good day\n")

    address = f"{base(household)}/tools/{asked['tool_id']}"
    for role in (Role.AGENT, Role.USER):
        call = (await caller.ask("GET", address, household.secrets[role])).body
        assert (call["revised_by"], call["revision"]) == ("ada", LINES)
        assert call["revised_at"]


async def test_the_digest_of_the_card_is_taken_too(caller: Caller, household: Household) -> None:
    asked = await ask_to_write(caller, household)
    card = await show(caller, household, f"/approvals/{asked['approval_id']}")

    changed = await revise(caller, household, asked, digest=card["digest"], content="good day\n")

    assert changed.status == 200


async def test_a_stale_digest_changes_nothing(caller: Caller, household: Household) -> None:
    asked = await ask_to_write(caller, household)
    first = (await editable(caller, household, asked)).body["digest"]
    await revise(caller, household, asked, content="good day\n")

    late = await revise(caller, household, asked, digest=first, content="good night\n")

    assert late.problem == CONFLICT
    card = await show(caller, household, f"/approvals/{asked['approval_id']}")
    assert card["tool_params"]["content"] == "good day\n"


async def test_an_approval_of_the_card_before_is_no_approval(
    caller: Caller, household: Household
) -> None:
    asked = await ask_to_write(caller, household)
    card = await show(caller, household, f"/approvals/{asked['approval_id']}")
    changed = await revise(caller, household, asked, content="good day\n")

    late = await approve(caller, household, asked["approval_id"], digest=card["digest"])
    approved = await approve(caller, household, asked["approval_id"], digest=changed.body["digest"])

    assert late.problem == CONFLICT
    assert approved.body["status"] == "approved"


@pytest.mark.parametrize(
    ("params", "why"),
    [
        pytest.param({"path": "other.md"}, "path cannot be changed, only content", id="path"),
        pytest.param({"content": 1}, "content:", id="not-a-text"),
        pytest.param({"content": "hello\n"}, "approve it as it is", id="the-same"),
    ],
)
async def test_what_cannot_be_changed_is_told(
    caller: Caller, household: Household, params: dict[str, Any], why: str
) -> None:
    asked = await ask_to_write(caller, household)

    refused = await revise(caller, household, asked, **params)

    assert refused.problem == BAD_INPUT
    assert why in refused.body["detail"]


async def test_a_question_that_was_answered_cannot_be_changed(
    caller: Caller, household: Household
) -> None:
    asked = await ask_to_write(caller, household)
    digest = (await editable(caller, household, asked)).body["digest"]
    await reject(caller, household, asked["approval_id"])

    assert (await editable(caller, household, asked)).problem == CONFLICT
    late = await revise(caller, household, asked, digest=digest, content="good day\n")
    assert late.problem == CONFLICT


@pytest.mark.parametrize("role", [Role.AGENT, Role.APPROVER])
async def test_agents_and_approvers_can_change_nothing(
    caller: Caller, household: Household, role: Role
) -> None:
    asked = await ask_to_write(caller, household)

    assert (await editable(caller, household, asked, role)).problem == FORBIDDEN
    tried = await revise(caller, household, asked, role, content="good day\n")

    assert tried.problem == FORBIDDEN


async def test_the_person_at_the_machine_can_change_it(
    caller: Caller, household: Household
) -> None:
    asked = await ask_to_write(caller, household)

    changed = await revise(caller, household, asked, Role.CLIENT, content="good day\n")

    assert changed.status == 200


async def test_there_is_nothing_to_change_where_there_is_no_question(
    caller: Caller, household: Household
) -> None:
    nothing = {"approval_id": "apr_none"}

    assert (await editable(caller, household, nothing)).problem == NOT_FOUND
    tried = await revise(caller, household, nothing, digest="x", content="good day\n")
    assert tried.problem == NOT_FOUND


async def test_the_machine_is_sent_the_changed_call_and_answers_under_its_epoch(
    caller: Caller, household: Household
) -> None:
    secret = household.secrets[Role.CLIENT]
    async with caller.listen(household, secret) as stream:
        asked = await ask_to_write(caller, household)
        _, name, first = await stream.event()
        await send_facts(caller, household, asked["approval_id"], facts={}, epoch=first["epoch"])
        await stream.event()
        await revise(caller, household, asked, content="good day\n")
        requests = [await stream.event() for _ in range(2)]

    (second,) = [told for _, kind, told in requests if kind == name == "tool.survey_request"]
    assert second["tool_params"]["content"] == "good day\n"
    assert second["epoch"] > first["epoch"]
    answer = partial(send_facts, caller, household, asked["approval_id"])
    late = await answer(facts={"seen": "before"}, epoch=first["epoch"])
    taken = await answer(facts={"seen": "now"}, epoch=second["epoch"])
    assert late.problem == CONFLICT
    assert taken.body["status"] == "awaiting_approval"
