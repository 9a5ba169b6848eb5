"""Questions to people over HTTP: what they are shown, and what their answer does."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from typing import Any

import pytest

from handrail.core.access import Role
from handrail.core.card import LOOKING, NOT_SURVEYED, WHOLE_SESSION
from handrail.policy.redaction import KEPT_CHARS
from handrail.store.sqlite import SqliteStore
from handrail.testing import FakeClock
from tests.conftest import Household, settle_in
from tests.server.conftest import (
    Caller,
    Listener,
    a_result,
    add_machine,
    approve,
    ask_to_write,
    ask_with_a_look,
    base,
    reject,
    report,
    send_facts,
    show,
)

CONFLICT = (409, "urn:handrail:conflict")
NOT_FOUND = (404, "urn:handrail:not-found")
BAD_INPUT = (400, "urn:handrail:bad-input")

DIFF = "--- a/notes.md\n+++ b/notes.md\n@@ -0,0 +1 @@\n+hello\n"


# What is shown


async def test_a_question_shows_all_that_a_person_needs(
    caller: Caller, household: Household
) -> None:
    asked = await ask_with_a_look(caller, household, reasoning="to remember")

    (listed,) = (await show(caller, household, "/approvals"))["approvals"]
    shown = await show(caller, household, f"/approvals/{asked['approval_id']}")

    assert listed == shown
    assert len(shown.pop("digest")) == 64
    assert shown == {
        "approval_id": asked["approval_id"],
        "tool_id": asked["tool_id"],
        "tool_name": "write_file",
        "tool_params": {"path": "notes.md", "content": "hello\n"},
        "description": "Write 1 line to notes.md",
        "risk_level": "MEDIUM",
        "reasons": ["changes a file in the workspace"],
        "reasoning": "to remember",
        "notes": [],
        "masked": 0,
        "evidence": "",
        "offers": [
            {
                "scope": "once",
                "words": "this call, once",
                "warning": None,
                "past": None,
                "past_calls": None,
            },
            {
                "scope": "class",
                "words": "writes to *.md in the workspace's top folder,"
                " for the rest of this session",
                "warning": None,
                "past": "first call of this kind by this agent in this project",
                "past_calls": 0,
            },
            {
                "scope": "project",
                "words": "writes to *.md in the workspace's top folder,"
                " always in this project, in every session of this agent",
                "warning": None,
                "past": "first call of this kind by this agent in this project",
                "past_calls": 0,
            },
            {
                "scope": "session",
                "words": "every call in this session, except network access",
                "warning": WHOLE_SESSION,
                "past": None,
                "past_calls": None,
            },
        ],
        "needs_second_step": False,
        "agent_id": household.agent.subject,
        "agent_name": "test",
        "client_name": "here",
        "editable": ["content"],
        "revised_by": None,
        "revised_at": None,
        "revision": None,
        "session_id": "session-1",
        "timeout_seconds": 300,
        "expires_at": "2026-01-01T00:05:00Z",
        "status": "pending",
        "estimated_duration_ms": None,
        "decided_by": None,
        "decided_at": None,
        "channel": None,
        "scope": None,
        "reason": None,
        "grant_id": None,
    }


async def test_what_nobody_has_looked_at_is_approved_once_and_in_two_steps(
    caller: Caller, household: Household
) -> None:
    asked = await ask_to_write(caller, household)

    shown = await show(caller, household, f"/approvals/{asked['approval_id']}")
    wider = await approve(caller, household, asked["approval_id"], scope="session")

    assert (asked["status"], asked["requires_approval"]) == ("awaiting_approval", True)
    assert (shown["notes"], shown["evidence"]) == ([NOT_SURVEYED], "")
    assert shown["needs_second_step"] is True
    assert [offer["scope"] for offer in shown["offers"]] == ["once"]
    assert wider.problem == BAD_INPUT


async def test_what_is_risky_needs_a_second_step_and_more_time(
    caller: Caller, household: Household
) -> None:
    asked = await ask_with_a_look(caller, household, path="deploy.sh")

    shown = await show(caller, household, f"/approvals/{asked['approval_id']}")

    assert (shown["risk_level"], shown["needs_second_step"]) == ("HIGH", True)
    assert shown["timeout_seconds"] == 600
    assert [offer["scope"] for offer in shown["offers"]] == ["once", "session"]


async def test_secrets_are_shown_to_nobody(caller: Caller, household: Household) -> None:
    asked = await ask_to_write(
        caller, household, content="api_key = open-sesame\n", reasoning="token=open-sesame"
    )

    shown = await show(caller, household, f"/approvals/{asked['approval_id']}")

    assert shown["tool_params"]["content"] == "api_key = [masked]\n"
    assert shown["reasoning"] == "token=[masked]"
    assert "open-sesame" not in json.dumps(shown)


async def test_what_is_long_is_cut_and_counted(caller: Caller, household: Household) -> None:
    asked = await ask_to_write(caller, household, content="x" * (KEPT_CHARS + 1_234))

    shown = await show(caller, household, f"/approvals/{asked['approval_id']}")

    assert shown["tool_params"]["content"] == "x" * KEPT_CHARS + "… [1,234 more characters]"


async def test_questions_are_listed_by_their_state_newest_first(
    caller: Caller, household: Household, clock: FakeClock
) -> None:
    ids: list[str] = []
    for number in range(4):
        ids.append((await ask_to_write(caller, household, f"call-{number}"))["approval_id"])
        clock.advance(1)
    await approve(caller, household, ids[0])
    await reject(caller, household, ids[1])

    async def listed(query: str) -> list[str]:
        body = await show(caller, household, f"/approvals{query}")
        assert body["success"] is True
        assert body["total_count"] == len(body["approvals"])
        return [one["approval_id"] for one in body["approvals"]]

    assert await listed("") == ids[::-1]
    assert await listed("?limit=2") == [ids[3], ids[2]]
    assert await listed("?status=pending") == [ids[3], ids[2]]
    assert await listed("?status=approved") == [ids[0]]
    assert await listed("?status=rejected") == [ids[1]]
    assert await listed("?status=expired") == []


@pytest.mark.parametrize("query", ["status=open", "status=", "limit=0", "limit=1001", "limit=x"])
async def test_a_list_that_cannot_be_is_a_400(
    caller: Caller, household: Household, query: str
) -> None:
    answer = await caller.ask(
        "GET", f"{base(household)}/approvals?{query}", household.secrets[Role.USER]
    )

    assert answer.problem == BAD_INPUT


# Answering


async def test_a_yes_lets_the_call_go_on(caller: Caller, household: Household) -> None:
    asked = await ask_to_write(caller, household)

    answer = await approve(caller, household, asked["approval_id"], channel="console")

    call = await show(caller, household, f"/tools/{asked['tool_id']}")
    question = await show(caller, household, f"/approvals/{asked['approval_id']}")
    assert answer.status == 200
    assert answer.body == {
        "success": True,
        "approval_id": asked["approval_id"],
        "status": "approved",
    }
    assert (call["status"], call["approved_by"], call["scope"]) == ("approved", "ada", "once")
    assert {
        name: question[name]
        for name in ("status", "decided_by", "decided_at", "channel", "scope", "grant_id")
    } == {
        "status": "approved",
        "decided_by": "ada",
        "decided_at": "2026-01-01T00:00:00Z",
        "channel": "console",
        "scope": "once",
        "grant_id": None,
    }


async def test_a_no_ends_the_call_and_the_agent_reads_why(
    caller: Caller, household: Household
) -> None:
    asked = await ask_to_write(caller, household)

    answer = await reject(caller, household, asked["approval_id"], reason="use docs/ instead")

    read = await caller.ask(
        "GET", f"{base(household)}/tools/{asked['tool_id']}", household.secrets[Role.AGENT]
    )
    question = await show(caller, household, f"/approvals/{asked['approval_id']}")
    assert answer.body == {
        "success": True,
        "approval_id": asked["approval_id"],
        "status": "rejected",
    }
    assert (read.body["status"], read.body["error_type"]) == ("rejected", None)
    assert read.body["error"] == "ada refused this call: use docs/ instead"
    assert (question["status"], question["reason"]) == ("rejected", "use docs/ instead")


async def test_a_no_needs_no_reason_and_a_secret_in_one_is_masked(
    caller: Caller, household: Household
) -> None:
    first = await ask_to_write(caller, household, "call-1")
    second = await ask_to_write(caller, household, "call-2")

    await reject(caller, household, first["approval_id"])
    await reject(caller, household, second["approval_id"], reason="password=open-sesame")

    errors = [
        (await show(caller, household, f"/tools/{asked['tool_id']}"))["error"]
        for asked in (first, second)
    ]
    assert errors == ["ada refused this call", "ada refused this call: password=[masked]"]


async def test_the_client_of_a_person_decides_for_them(
    caller: Caller, household: Household
) -> None:
    first = await ask_to_write(caller, household, "call-1")
    second = await ask_to_write(caller, household, "call-2")
    token = household.secrets[Role.CLIENT]

    answers = [
        await approve(caller, household, first["approval_id"], token=token, channel="terminal"),
        await reject(caller, household, second["approval_id"], token=token, channel="terminal"),
    ]

    question = await show(caller, household, f"/approvals/{first['approval_id']}")
    assert [answer.body["status"] for answer in answers] == ["approved", "rejected"]
    assert (question["decided_by"], question["channel"]) == ("ada", "terminal")


@pytest.mark.parametrize(("first", "second"), [(approve, reject), (reject, approve)])
async def test_the_first_answer_counts_and_the_second_is_told_whose_it_was(
    caller: Caller,
    household: Household,
    clock: FakeClock,
    first: Callable[..., Any],
    second: Callable[..., Any],
) -> None:
    asked = await ask_to_write(caller, household)
    clock.advance(61)
    early = await first(caller, household, asked["approval_id"], channel="telegram")
    clock.advance(1)

    late = await second(caller, household, asked["approval_id"])

    assert early.status == 200
    assert late.problem == CONFLICT
    assert late.body["detail"] == (
        f"ada answered first: {early.body['status']} at 00:01:01 UTC from telegram"
    )


@pytest.mark.parametrize(
    ("verb", "words", "others"),
    [
        (approve, {"scope": "once"}, [{"scope": "session"}, {"scope": "once", "digest": "x"}]),
        (
            approve,
            {"scope": "class", "uses": 5, "expires_in_seconds": 60},
            [
                {"scope": "class"},
                {"scope": "class", "uses": 4, "expires_in_seconds": 60},
                {"scope": "class", "uses": 5, "expires_in_seconds": 61},
                {"scope": "session", "uses": 5, "expires_in_seconds": 60},
            ],
        ),
        (reject, {"reason": "not today"}, [{}, {"reason": "never"}]),
    ],
    ids=["once", "class", "no"],
)
async def test_the_same_answer_again_gives_the_decision_as_it_stands(
    caller: Caller,
    household: Household,
    clock: FakeClock,
    verb: Callable[..., Any],
    words: dict[str, Any],
    others: list[dict[str, Any]],
) -> None:
    asked = await ask_with_a_look(caller, household)
    approval_id = asked["approval_id"]
    first = await verb(caller, household, approval_id, channel="console", **words)
    before = await show(caller, household, f"/approvals/{approval_id}")
    clock.advance(5)

    again = await verb(
        caller, household, approval_id, token=household.secrets[Role.CLIENT], **words
    )
    refused = [await verb(caller, household, approval_id, **other) for other in others]

    assert (again.status, again.body) == (200, first.body)
    assert [answer.problem for answer in refused] == [CONFLICT] * len(others)
    assert await show(caller, household, f"/approvals/{approval_id}") == before
    audit = (await show(caller, household, "/audit"))["entries"]
    assert [line["subject"] for line in audit].count(approval_id) == 1


async def test_of_many_answers_at_once_exactly_one_counts(
    caller: Caller, household: Household
) -> None:
    asked = await ask_to_write(caller, household)
    approval_id = asked["approval_id"]

    answers = await asyncio.gather(
        *(
            verb(caller, household, approval_id, token=household.secrets[role])
            for verb in (approve, reject)
            for role in (Role.USER, Role.CLIENT)
            for _ in range(4)
        )
    )

    taken = [answer for answer in answers if answer.status == 200]
    (counted,) = {answer.body["status"] for answer in taken}
    # The same answer by the same person is heard again; the other one is not.
    assert len(taken) == len(answers) / 2
    assert {answer.problem for answer in answers if answer not in taken} == {CONFLICT}
    call = await show(caller, household, f"/tools/{asked['tool_id']}")
    assert call["status"] == counted
    audit = (await show(caller, household, "/audit"))["entries"]
    assert [line["subject"] for line in audit].count(approval_id) == 1


async def test_an_answer_that_comes_too_late_is_a_conflict(
    caller: Caller, household: Household, clock: FakeClock
) -> None:
    asked = await ask_to_write(caller, household)
    clock.advance(300)

    answer = await approve(caller, household, asked["approval_id"])

    call = await show(caller, household, f"/tools/{asked['tool_id']}")
    question = await show(caller, household, f"/approvals/{asked['approval_id']}")
    assert answer.problem == CONFLICT
    assert answer.body["detail"] == "the time to answer ran out at 00:05:00 UTC"
    assert (call["status"], call["error"]) == ("timeout", "Approval timeout")
    assert (question["status"], question["decided_by"]) == ("expired", "handrail")


async def test_an_answer_is_bound_to_what_was_shown(caller: Caller, household: Household) -> None:
    first = await ask_to_write(caller, household, "call-1")
    second = await ask_to_write(caller, household, "call-2", content="other\n")
    digest = (await show(caller, household, f"/approvals/{second['approval_id']}"))["digest"]

    of_another = await approve(caller, household, first["approval_id"], digest=digest)
    of_its_own = await approve(caller, household, second["approval_id"], digest=digest)

    call = await show(caller, household, f"/tools/{first['tool_id']}")
    assert of_another.problem == CONFLICT
    assert "not the call that you were shown" in of_another.body["detail"]
    assert call["status"] == "awaiting_approval"
    assert of_its_own.status == 200


async def test_a_scope_that_is_not_offered_cannot_be_given(
    caller: Caller, household: Household
) -> None:
    asked = await ask_with_a_look(caller, household, path="deploy.sh")

    answer = await approve(caller, household, asked["approval_id"], scope="class")

    assert answer.problem == BAD_INPUT
    assert answer.body["detail"] == "this call can be approved for once or session, not for class"
    assert (await approve(caller, household, asked["approval_id"])).status == 200


# Who may not


def uses_of(approval_id: str) -> list[tuple[str, str, dict[str, Any] | None]]:
    """Everything that can be done with a question."""
    return [
        ("GET", "/approvals", None),
        ("GET", f"/approvals/{approval_id}", None),
        ("POST", f"/approvals/{approval_id}/approve", {"decision": "approved"}),
        ("POST", f"/approvals/{approval_id}/approve", {"decision": "approved", "scope": "session"}),
        ("POST", f"/approvals/{approval_id}/reject", {"reason": "no"}),
        ("POST", f"/approvals/{approval_id}/facts", {"facts": {}}),
        ("GET", "/grants", None),
    ]


async def try_all(
    caller: Caller, home: Household, approval_id: str, token: str | None
) -> set[tuple[int, str]]:
    return {
        (await caller.ask(method, base(home) + path, token, json=body)).problem
        for method, path, body in uses_of(approval_id)
    }


async def is_untouched(caller: Caller, home: Household, asked: dict[str, Any]) -> bool:
    call = await show(caller, home, f"/tools/{asked['tool_id']}")
    question = await show(caller, home, f"/approvals/{asked['approval_id']}")
    return (call["status"], question["status"]) == ("awaiting_approval", "pending")


@pytest.mark.parametrize("surveyed", [True, False])
async def test_an_agent_never_decides_anything(
    caller: Caller, household: Household, surveyed: bool
) -> None:
    """P10."""
    if surveyed:
        async with caller.listen(household, household.secrets[Role.CLIENT]):
            asked = await ask_to_write(caller, household)
            tried = await try_all(
                caller, household, asked["approval_id"], household.secrets[Role.AGENT]
            )
        call = await show(caller, household, f"/tools/{asked['tool_id']}")
        assert call["status"] == "pending"
    else:
        asked = await ask_to_write(caller, household)
        tried = await try_all(
            caller, household, asked["approval_id"], household.secrets[Role.AGENT]
        )
        assert await is_untouched(caller, household, asked)

    assert tried == {(403, "urn:handrail:forbidden")}


async def test_without_a_token_nothing_is_shown_or_decided(
    caller: Caller, household: Household
) -> None:
    asked = await ask_to_write(caller, household)

    for token in (None, "hr_user_" + "x" * 43):
        assert await try_all(caller, household, asked["approval_id"], token) == {
            (401, "urn:handrail:unauthenticated")
        }
    assert await is_untouched(caller, household, asked)


async def test_a_foreign_persons_token_finds_nothing(
    caller: Caller, store: SqliteStore, household: Household, clock: FakeClock
) -> None:
    neighbour = await settle_in(store, clock, "ben", "/ben")
    asked = await ask_to_write(caller, household)
    approval_id = asked["approval_id"]

    for role in (Role.USER, Role.CLIENT):
        token = neighbour.secrets[role]
        assert await try_all(caller, household, approval_id, token) == {NOT_FOUND}
        # Nor under their own roof.
        own = [
            await approve(caller, neighbour, approval_id, token=token),
            await reject(caller, neighbour, approval_id, token=token),
            await caller.ask("GET", f"{base(neighbour)}/approvals/{approval_id}", token),
        ]
        if role is Role.CLIENT:
            own.append(await send_facts(caller, neighbour, approval_id, token=token, facts={}))
        assert {answer.problem for answer in own} == {NOT_FOUND}
        listed = await caller.ask("GET", f"{base(neighbour)}/approvals", token)
        assert listed.body["approvals"] == []
    assert await is_untouched(caller, household, asked)


async def test_a_question_that_is_none_is_not_found(caller: Caller, household: Household) -> None:
    for approval_id in ("apr_none", "%00", "a%20b", "apr_" + "0" * 32):
        answers = [
            await approve(caller, household, approval_id),
            await reject(caller, household, approval_id),
            await send_facts(caller, household, approval_id, facts={}),
            await caller.ask(
                "GET",
                f"{base(household)}/approvals/{approval_id}",
                household.secrets[Role.USER],
            ),
        ]
        assert {answer.problem for answer in answers} == {NOT_FOUND}


# What cannot be read


GOOD: dict[str, dict[str, Any]] = {
    "approve": {"decision": "approved"},
    "reject": {"reason": "no"},
    "facts": {"facts": {}},
}


@pytest.mark.parametrize("verb", GOOD)
async def test_what_cannot_be_read_is_a_400(
    caller: Caller, household: Household, verb: str
) -> None:
    good = json.dumps(GOOD[verb]).encode()
    bodies: dict[str, bytes] = {
        "nothing": b"",
        "half": good[:-1],
        "twice": good * 2,
        "not text": b"\xff\xfe",
        "a list": b"[]",
        "a word": b'"approved"',
        "null": b"null",
        "a form": b"decision=approved",
        "too deep": b'{"reason":' * 51 + b"1" + b"}" * 51,
        "one more field": json.dumps(GOOD[verb] | {"by": "eve"}).encode(),
        "another channel": json.dumps(GOOD[verb] | {"channel": "two words"}).encode(),
    }
    asked = await ask_to_write(caller, household)

    answers = {
        name: await caller.ask(
            "POST",
            f"{base(household)}/approvals/{asked['approval_id']}/{verb}",
            household.secrets[Role.CLIENT],
            data=body,
            headers={"content-type": "application/json"},
        )
        for name, body in bodies.items()
    }

    assert {name: answer.problem for name, answer in answers.items()} == dict.fromkeys(
        bodies, BAD_INPUT
    )
    assert await is_untouched(caller, household, asked)


@pytest.mark.parametrize("verb", GOOD)
async def test_who_may_not_decide_is_told_so_whatever_they_send(
    caller: Caller, household: Household, verb: str
) -> None:
    path = f"{base(household)}/approvals/apr_1/{verb}"

    stranger = await caller.ask("POST", path, json={"by": "eve"})
    agent = await caller.ask("POST", path, household.secrets[Role.AGENT], json={"by": "eve"})

    assert stranger.problem == (401, "urn:handrail:unauthenticated")
    assert agent.problem == (403, "urn:handrail:forbidden")


@pytest.mark.parametrize("verb", GOOD)
async def test_a_body_that_is_too_large_is_not_taken(
    caller: Caller, household: Household, verb: str
) -> None:
    async def endless() -> AsyncGenerator[bytes]:
        for _ in range(40):
            yield b" " * 1_000_000

    answer = await caller.ask(
        "POST",
        f"{base(household)}/approvals/apr_1/{verb}",
        household.secrets[Role.CLIENT],
        data=endless(),
        headers={"content-type": "application/json"},
    )

    assert answer.problem == (413, "urn:handrail:too-large")


@pytest.mark.parametrize(
    ("verb", "body", "field"),
    [
        pytest.param("approve", {}, "decision", id="no-decision"),
        pytest.param("approve", {"decision": "rejected"}, "decision", id="a-yes-that-is-a-no"),
        pytest.param("approve", {"decision": True}, "decision", id="decision-a-flag"),
        pytest.param("approve", {"scope": "forever"}, "scope", id="unknown-scope"),
        pytest.param("approve", {"scope": None}, "scope", id="scope-null"),
        pytest.param("approve", {"uses": 3}, "`uses`", id="uses-for-once"),
        pytest.param("approve", {"expires_in_seconds": 3}, "`uses`", id="expiry-for-once"),
        pytest.param("approve", {"scope": "class", "uses": 0}, "uses", id="no-uses"),
        pytest.param("approve", {"scope": "class", "uses": 10_001}, "uses", id="many-uses"),
        pytest.param("approve", {"scope": "class", "uses": "few"}, "uses", id="uses-a-word"),
        pytest.param(
            "approve",
            {"scope": "class", "expires_in_seconds": 7 * 24 * 3600 + 1},
            "expires_in_seconds",
            id="expires-far-away",
        ),
        pytest.param("approve", {"digest": "0" * 129}, "digest", id="huge-digest"),
        pytest.param("approve", {"digest": 7}, "digest", id="digest-a-number"),
        pytest.param("approve", {"channel": ""}, "channel", id="empty-channel"),
        pytest.param("reject", {"reason": "x" * 2_001}, "reason", id="huge-reason"),
        pytest.param("reject", {"reason": ["no"]}, "reason", id="reason-a-list"),
        pytest.param("reject", {"decision": "approved"}, "decision", id="a-no-that-is-a-yes"),
    ],
)
async def test_fields_of_the_wrong_kind_are_named(
    caller: Caller, household: Household, verb: str, body: dict[str, Any], field: str
) -> None:
    asked = await ask_to_write(caller, household)
    if verb == "approve" and body:
        body = {"decision": "approved"} | body

    answer = await caller.ask(
        "POST",
        f"{base(household)}/approvals/{asked['approval_id']}/{verb}",
        household.secrets[Role.USER],
        json=body,
    )

    assert answer.problem == BAD_INPUT
    assert field in answer.body["detail"]
    assert await is_untouched(caller, household, asked)


# What the machine holds


async def test_the_machine_is_looked_at_before_a_person_is_asked(
    caller: Caller, household: Household
) -> None:
    async with (
        caller.listen(household, household.secrets[Role.CLIENT]) as client,
        caller.listen(household, household.secrets[Role.USER]) as person,
    ):
        asked = await ask_to_write(caller, household, content="api_key = open-sesame\n")
        _, name, request = await client.event()
        _, _, heard = await person.event()
        none_yet = await show(caller, household, "/approvals")
        answer = await send_facts(
            caller,
            household,
            request["approval_id"],
            facts={"exists": False},
            evidence=DIFF + "+token=open-sesame\n",
        )
        question = await show(caller, household, f"/approvals/{request['approval_id']}")

    assert asked["status"] == "pending"
    assert (name, heard["status"]) == ("tool.survey_request", "pending")
    assert request == {
        "approval_id": asked["approval_id"],
        "tool_id": asked["tool_id"],
        "session_id": "session-1",
        "tool_name": "write_file",
        "tool_params": {"path": "notes.md", "content": "api_key = open-sesame\n"},
        "unmasked": False,
        "autonomy": "supervised",
        "epoch": 0,
        "replayed": False,
        "timestamp": "2026-01-01T00:00:00Z",
    }
    assert none_yet["approvals"] == []
    assert answer.body == {
        "success": True,
        "approval_id": asked["approval_id"],
        "status": "awaiting_approval",
    }
    assert (question["masked"], question["evidence"]) == (1, DIFF + "+token=[masked]\n")


async def test_facts_are_part_of_what_is_approved(caller: Caller, household: Household) -> None:
    digests: list[str] = []
    async with caller.listen(household, household.secrets[Role.CLIENT]):
        for number, facts in enumerate(({"exists": False}, {"exists": True}, {})):
            asked = await ask_to_write(caller, household, f"call-{number}")
            await send_facts(caller, household, asked["approval_id"], facts=facts)
            question = await show(caller, household, f"/approvals/{asked['approval_id']}")
            digests.append(question["digest"])

    assert len(set(digests)) == 3


async def test_what_was_seen_can_raise_the_risk_and_not_lower_it(
    caller: Caller, household: Household
) -> None:
    seen = {"rule": "write.over-binary", "reason": "it is binary"}
    async with caller.listen(household, household.secrets[Role.CLIENT]):
        levels: dict[str, str] = {}
        for risk in ("LOW", "MEDIUM", "HIGH", "CRITICAL"):
            asked = await ask_to_write(caller, household, f"call-{risk}")
            await send_facts(
                caller,
                household,
                asked["approval_id"],
                facts={},
                findings=[seen | {"risk": risk}],
            )
            question = await show(caller, household, f"/approvals/{asked['approval_id']}")
            assert "it is binary" in question["reasons"]
            levels[risk] = question["risk_level"]
        forbidden = await ask_to_write(caller, household, "call-forbidden")
        answer = await send_facts(
            caller,
            household,
            forbidden["approval_id"],
            facts={},
            findings=[seen | {"risk": "FORBIDDEN"}],
        )

    assert levels == {
        "LOW": "MEDIUM",
        "MEDIUM": "MEDIUM",
        "HIGH": "HIGH",
        "CRITICAL": "CRITICAL",
    }
    assert answer.body["status"] == "failed"


async def test_what_is_critical_can_be_approved_once_only(
    caller: Caller, household: Household
) -> None:
    seen = {"rule": "many", "reason": "it is much", "risk": "CRITICAL"}
    async with caller.listen(household, household.secrets[Role.CLIENT]):
        asked = await ask_to_write(caller, household)
        await send_facts(caller, household, asked["approval_id"], facts={}, findings=[seen])
    question = await show(caller, household, f"/approvals/{asked['approval_id']}")

    answers = [
        await approve(caller, household, asked["approval_id"], scope=scope)
        for scope in ("session", "class", "once")
    ]

    assert [offer["scope"] for offer in question["offers"]] == ["once"]
    assert [answer.status for answer in answers] == [400, 400, 200]


async def test_what_the_machine_would_refuse_is_put_to_nobody(
    caller: Caller, household: Household
) -> None:
    async with caller.listen(household, household.secrets[Role.CLIENT]):
        asked = await ask_to_write(caller, household)
        answer = await send_facts(
            caller,
            household,
            asked["approval_id"],
            refused={"error": "notes.md is a folder; token=open-sesame", "error_type": "execution"},
        )

    call = await show(caller, household, f"/tools/{asked['tool_id']}")
    assert answer.body["status"] == "failed"
    assert (call["status"], call["error_type"]) == ("failed", "execution")
    assert call["error"] == "notes.md is a folder; token=[masked]"
    assert (await show(caller, household, "/approvals"))["approvals"] == []
    assert (await approve(caller, household, asked["approval_id"])).problem == NOT_FOUND


async def test_only_the_machine_that_was_asked_tells_what_it_holds_and_only_once(
    caller: Caller, store: SqliteStore, household: Household
) -> None:
    _, elsewhere = await add_machine(store, household)
    async with caller.listen(household, household.secrets[Role.CLIENT]):
        asked = await ask_to_write(caller, household)
        approval_id = asked["approval_id"]
        other = await send_facts(caller, household, approval_id, token=elsewhere, facts={})
        person = await send_facts(
            caller, household, approval_id, token=household.secrets[Role.USER], facts={}
        )
        first = await send_facts(caller, household, approval_id, facts={})
        again = await send_facts(caller, household, approval_id, facts={"exists": True})

    assert other.problem == CONFLICT
    assert person.problem == (403, "urn:handrail:forbidden")
    assert first.status == 200
    assert again.problem == CONFLICT
    assert "too late" in again.body["detail"]


async def test_facts_that_come_late_are_taken_and_a_second_time_turned_away(
    caller: Caller, household: Household, clock: FakeClock
) -> None:
    async with (
        caller.listen(household, household.secrets[Role.CLIENT]),
        caller.listen(household, household.secrets[Role.USER]) as person,
    ):
        asked = await ask_to_write(caller, household)
        clock.advance(3)
        await person.event()
        _, name, card = await person.event()
        await send_facts(caller, household, asked["approval_id"], facts={})
        again = await send_facts(caller, household, asked["approval_id"], facts={})

    assert (name, card["notes"]) == ("tool.approval_request", [LOOKING.format(machine="here")])
    assert again.problem == CONFLICT


@pytest.mark.parametrize(
    ("body", "field"),
    [
        pytest.param({}, "facts", id="nothing"),
        pytest.param({"facts": {}, "refused": {"error": "no"}}, "refused", id="both"),
        pytest.param({"facts": []}, "facts", id="facts-a-list"),
        pytest.param({"facts": {}, "evidence": "x" * 1_000_001}, "evidence", id="huge-evidence"),
        pytest.param({"facts": {}, "evidence": ["+"]}, "evidence", id="evidence-a-list"),
        pytest.param({"facts": {}, "findings": [{"rule": "x"}]}, "findings.0", id="half-a-finding"),
        pytest.param(
            {"facts": {}, "findings": [{"rule": "x", "reason": "y", "risk": "SOME"}]},
            "findings.0.risk",
            id="unknown-risk",
        ),
        pytest.param(
            {"facts": {}, "findings": [{"rule": "x", "reason": "y", "risk": "LOW"}] * 101},
            "findings",
            id="endless-findings",
        ),
        pytest.param({"refused": {"error": ""}}, "refused.error", id="no-word-of-why"),
        pytest.param(
            {"refused": {"error": "no", "error_type": "mood"}},
            "refused.error_type",
            id="unknown-error-type",
        ),
    ],
)
async def test_facts_that_do_not_fit_are_named(
    caller: Caller, household: Household, body: dict[str, Any], field: str
) -> None:
    async with caller.listen(household, household.secrets[Role.CLIENT]):
        asked = await ask_to_write(caller, household)

        answer = await send_facts(caller, household, asked["approval_id"], **body)

        call = await show(caller, household, f"/tools/{asked['tool_id']}")
    assert answer.problem == BAD_INPUT
    assert field in answer.body["detail"]
    assert call["status"] == "pending"


@pytest.mark.parametrize(
    "facts",
    [
        pytest.param(b'{"a": NaN}', id="not-a-number"),
        pytest.param(b'{"a": 1e999}', id="endless"),
        pytest.param(b'{"a": "\\ud800"}', id="half-a-character"),
        pytest.param(b'{"\\ud800": 1}', id="half-a-character-as-name"),
    ],
)
async def test_odd_facts_spoil_nothing(caller: Caller, household: Household, facts: bytes) -> None:
    async with caller.listen(household, household.secrets[Role.CLIENT]):
        asked = await ask_to_write(caller, household)

        answer = await caller.ask(
            "POST",
            f"{base(household)}/approvals/{asked['approval_id']}/facts",
            household.secrets[Role.CLIENT],
            data=b'{"facts": %b}' % facts,
            headers={"content-type": "application/json"},
        )

    assert answer.status in (200, 400)
    for path in ("/approvals", "/audit", f"/tools/{asked['tool_id']}"):
        await show(caller, household, path)


# What is told of it


async def answer_in(stream: Listener) -> tuple[int, str, dict[str, Any]]:
    """The answer; before it, the question may be shown again because a machine checks it."""
    while (event := await stream.event())[1] != "approval.resolved":
        pass
    return event


async def test_a_question_reaches_every_listener_and_so_does_its_answer(
    caller: Caller, store: SqliteStore, household: Household
) -> None:
    _, elsewhere = await add_machine(store, household)
    secrets = household.secrets
    asked = await ask_to_write(caller, household, "call-0")
    async with (
        caller.listen(household, secrets[Role.USER]) as person,
        caller.listen(household, secrets[Role.USER]) as other_screen,
        caller.listen(household, elsewhere) as machine,
    ):
        await reject(caller, household, asked["approval_id"], reason="no", channel="console")
        told = [await answer_in(stream) for stream in (person, other_screen, machine)]

    assert told[0] == told[1] == told[2]
    assert told[0][1:] == (
        "approval.resolved",
        {
            "approval_id": asked["approval_id"],
            "tool_id": asked["tool_id"],
            "status": "rejected",
            "decided_by": "ada",
            "channel": "console",
            "decided_at": "2026-01-01T00:00:00Z",
            "scope": None,
            "reason": "no",
            "timestamp": "2026-01-01T00:00:00Z",
        },
    )


async def test_a_card_on_the_stream_is_the_question_that_can_be_read(
    caller: Caller, household: Household
) -> None:
    async with caller.listen(household, household.secrets[Role.USER]) as person:
        asked = await ask_to_write(caller, household, content="token=open-sesame\n", reasoning="so")
        _, name, card = await person.event()
    shown = await show(caller, household, f"/approvals/{asked['approval_id']}")

    assert name == "tool.approval_request"
    assert card == shown | {"timestamp": "2026-01-01T00:00:00Z"}
    assert card["tool_params"]["content"] == "token=[masked]\n"
    assert card["reasoning"] == "so"


async def test_a_deadline_that_passes_is_told_as_an_answer(
    caller: Caller, household: Household, clock: FakeClock
) -> None:
    async with caller.listen(household, household.secrets[Role.USER]) as person:
        asked = await ask_to_write(caller, household)
        await person.event()
        clock.advance(300)
        _, name, resolved = await person.event()

    assert (name, resolved["approval_id"]) == ("approval.resolved", asked["approval_id"])
    assert (resolved["status"], resolved["decided_by"]) == ("expired", "handrail")
    assert resolved["channel"] == "deadline"


async def test_what_is_told_again_never_carries_raw_parameters(
    caller: Caller, household: Household
) -> None:
    token = household.secrets[Role.CLIENT]
    secret = "token=open-sesame\n"
    async with caller.listen(household, token) as client:
        asked = await ask_to_write(caller, household, content=secret)
        live = [await client.event()]
        await send_facts(caller, household, asked["approval_id"], facts={})
        live.append(await client.event())
        full = await show(caller, household, f"/approvals/{asked['approval_id']}/unmasked")
        assert full["tool_params"]["content"] == secret
        await approve(caller, household, asked["approval_id"], digest=full["digest"])
        live += [await client.event(), await client.event()]

    async with caller.listen(household, token, 0) as client:
        again = [await client.event() for _ in range(3)]
        _, _, anew = await client.event()
        await caller.ask(
            "POST",
            f"{base(household)}/tools/{asked['tool_id']}/claim",
            token,
            json={"epoch": anew["epoch"], "key": "this-life"},
        )
        await report(caller, household, asked["tool_id"], a_result())
    async with caller.listen(household, token, 0) as client:
        after_the_end = [await client.event() for _ in range(6)]

    names = [
        "tool.survey_request",
        "tool.approval_request",
        "approval.resolved",
        "tool.execution_signal",
    ]
    assert [name for _, name, _ in live] == names
    # The earlier signal is void, and not told again.
    assert [name for _, name, _ in again] == names[:3]
    carrying = [name for _, name, data in live if "open-sesame" in json.dumps(data)]
    assert carrying == ["tool.survey_request", "tool.execution_signal"]
    assert "open-sesame" not in json.dumps([again, after_the_end])
    assert (again[0][2]["replayed"], again[0][2]["tool_params"]) == (True, None)
    (told,) = [data for _, name, data in after_the_end if name == "tool.execution_signal"]
    assert (told["replayed"], told["tool_params"]) == (True, None)
    # What still stands is offered anew, with everything that is needed.
    assert anew["tool_params"]["content"] == secret


async def test_a_question_told_again_says_that_it_has_been_answered(
    caller: Caller, household: Household
) -> None:
    asked = await ask_to_write(caller, household)
    await approve(caller, household, asked["approval_id"])

    async with caller.listen(household, household.secrets[Role.USER], 0) as person:
        _, name, card = await person.event()

    assert (name, card["status"]) == ("tool.approval_request", "approved")
