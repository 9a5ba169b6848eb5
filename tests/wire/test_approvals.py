"""Bodies about questions are closed and bounded; a question reads the same on every screen."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest
from pydantic import BaseModel, ValidationError

from handrail.core.approval import Answer, Approval, ApprovalStatus
from handrail.core.card import NOT_SURVEYED, Card
from handrail.core.errors import ErrorType
from handrail.core.grant import CallClass, Scope
from handrail.core.ids import (
    ApprovalId,
    ExecutionId,
    GrantId,
    ProjectId,
    SessionId,
    UserId,
)
from handrail.core.masks import cut_mark
from handrail.core.risk import Finding, RiskLevel
from handrail.core.survey import Survey
from handrail.wire.approvals import (
    MAX_GRANT_SECONDS,
    MAX_LASTING_SECONDS,
    MAX_USES,
    ApprovalView,
    ApproveRequest,
    ClaimRequest,
    FactsRequest,
    GrantView,
    RejectRequest,
)

AT = datetime(2026, 1, 1, tzinfo=UTC)
NAMES = {"agt_1": "Claude on my laptop"}

QUESTION = Approval(
    id=ApprovalId("apr_1"),
    project_id=ProjectId("prj_1"),
    user_id=UserId("usr_1"),
    execution_id=ExecutionId("exe_1"),
    session_id=SessionId("session-1"),
    agent_id="agt_1",
    tool_name="write_file",
    tool_params={"path": "a.md", "content": "[masked]"},
    reasoning="because",
    description="Write 1 line to a.md",
    risk_level=RiskLevel.MEDIUM,
    reasons=("one", "two"),
    digest="judged",
    surveyed=True,
    evidence="+hello\n",
    call_class=CallClass("write_file:*.md", "writes to *.md"),
    timeout_seconds=300,
    created_at=AT,
    expires_at=AT + timedelta(seconds=300),
)
ANSWER = Answer(
    by="ada", channel="terminal", at=AT, scope=Scope.CLASS, reason=None, grant_id=GrantId("grt_1")
)
FINDING = {"rule": "x", "reason": "because", "risk": "HIGH"}


def wrong_fields(model: type[BaseModel], body: dict[str, Any]) -> list[str]:
    with pytest.raises(ValidationError) as caught:
        model.model_validate_json(json.dumps(body))
    return [".".join(map(str, line["loc"])) for line in caught.value.errors()]


def test_a_yes_is_for_once_unless_it_says_more() -> None:
    body = ApproveRequest.model_validate({"decision": "approved"})

    assert (body.scope, body.uses, body.expires_in_seconds) == (Scope.ONCE, None, None)
    assert (body.digest, body.channel) == (None, "api")


@pytest.mark.parametrize("scope", ["class", "project", "session"])
def test_a_wider_yes_may_be_limited(scope: str) -> None:
    limits = {"uses": MAX_USES, "expires_in_seconds": MAX_GRANT_SECONDS}
    body = ApproveRequest.model_validate({"decision": "approved", "scope": scope, **limits})

    assert (body.uses, body.expires_in_seconds) == (MAX_USES, MAX_GRANT_SECONDS)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        pytest.param({"decision": "rejected"}, "decision", id="a-no"),
        pytest.param({"decision": None}, "decision", id="null"),
        pytest.param({"scope": "all"}, "scope", id="unknown-scope"),
        pytest.param({"uses": 1}, "", id="uses-for-once"),
        pytest.param({"expires_in_seconds": 1}, "", id="expiry-for-once"),
        pytest.param({"scope": "class", "uses": 0}, "uses", id="no-uses"),
        pytest.param({"scope": "class", "uses": MAX_USES + 1}, "uses", id="too-many-uses"),
        pytest.param({"scope": "class", "uses": 1.5}, "uses", id="half-a-use"),
        pytest.param(
            {"scope": "session", "expires_in_seconds": 0}, "expires_in_seconds", id="at-once"
        ),
        pytest.param(
            {"scope": "project", "expires_in_seconds": MAX_LASTING_SECONDS + 1},
            "expires_in_seconds",
            id="longer-than-a-year",
        ),
        pytest.param(
            {"scope": "session", "expires_in_seconds": MAX_GRANT_SECONDS + 1},
            "expires_in_seconds",
            id="never",
        ),
        pytest.param({"digest": "x" * 129}, "digest", id="long-digest"),
        pytest.param({"channel": "a b"}, "channel", id="channel-with-blank"),
        pytest.param({"channel": "x" * 129}, "channel", id="long-channel"),
        pytest.param({"approved_by": "eve"}, "approved_by", id="extra-field"),
    ],
)
def test_a_yes_that_does_not_fit_names_the_field(change: dict[str, Any], field: str) -> None:
    assert wrong_fields(ApproveRequest, {"decision": "approved"} | change) == [field]


def test_a_no_may_be_silent_and_must_not_be_endless() -> None:
    assert RejectRequest.model_validate({}).reason is None
    assert RejectRequest.model_validate({"reason": "x" * 2_000}).reason == "x" * 2_000
    assert wrong_fields(RejectRequest, {"reason": "x" * 2_001}) == ["reason"]
    assert wrong_fields(RejectRequest, {"reason": 3}) == ["reason"]
    assert wrong_fields(RejectRequest, {"decision": "approved"}) == ["decision"]


def test_facts_become_a_survey() -> None:
    body = FactsRequest.model_validate(
        {"facts": {"exists": False}, "findings": [FINDING], "evidence": "+x\n"}
    )

    assert body.survey == Survey(
        {"exists": False}, (Finding("x", "because", RiskLevel.HIGH),), "+x\n"
    )
    assert body.refused is None


def test_a_refusal_says_why_and_of_which_kind() -> None:
    plain = FactsRequest.model_validate({"refused": {"error": "no"}})
    kind = FactsRequest.model_validate({"refused": {"error": "no", "error_type": "validation"}})

    assert plain.refused is not None
    assert plain.refused.error_type is ErrorType.DENIED
    assert kind.refused is not None
    assert kind.refused.error_type is ErrorType.VALIDATION


@pytest.mark.parametrize(
    ("body", "field"),
    [
        pytest.param({}, "", id="nothing"),
        pytest.param({"facts": None}, "", id="null"),
        pytest.param({"facts": {}, "refused": {"error": "no"}}, "", id="both"),
        pytest.param({"facts": "none"}, "facts", id="facts-a-word"),
        pytest.param({"facts": {}, "findings": [FINDING] * 101}, "findings", id="many-findings"),
        pytest.param(
            {"facts": {}, "findings": [FINDING | {"risk": "high"}]},
            "findings.0.risk",
            id="risk-in-small-letters",
        ),
        pytest.param(
            {"facts": {}, "findings": [FINDING | {"risk": 3}]}, "findings.0.risk", id="risk-3"
        ),
        pytest.param(
            {"facts": {}, "findings": [FINDING | {"rule": ""}]}, "findings.0.rule", id="no-rule"
        ),
        pytest.param(
            {"facts": {}, "findings": [FINDING | {"reason": "x" * 2_001}]},
            "findings.0.reason",
            id="long-reason",
        ),
        pytest.param(
            {"facts": {}, "findings": [FINDING | {"allow": True}]},
            "findings.0.allow",
            id="finding-with-extra-field",
        ),
        pytest.param({"facts": {}, "evidence": "x" * 1_000_001}, "evidence", id="long-evidence"),
        pytest.param({"refused": {"error": ""}}, "refused.error", id="refused-without-a-word"),
        pytest.param({"refused": {"error": "x" * 10_001}}, "refused.error", id="long-refusal"),
        pytest.param({"facts": {}, "approved": True}, "approved", id="extra-field"),
    ],
)
def test_facts_that_do_not_fit_name_the_field(body: dict[str, Any], field: str) -> None:
    assert wrong_fields(FactsRequest, body) == [field]


def test_a_claim_names_one_epoch_and_has_a_key() -> None:
    assert ClaimRequest.model_validate({"epoch": 0, "key": "k"}).epoch == 0
    for epoch in (None, -1, 2**31, "one"):
        assert wrong_fields(ClaimRequest, {"epoch": epoch, "key": "k"}) == ["epoch"]
    for key in (None, "", 7, "k" * 129, "a key"):
        assert wrong_fields(ClaimRequest, {"epoch": 1, "key": key}) == ["key"]
    assert wrong_fields(ClaimRequest, {"epoch": 1, "key": "k", "force": True}) == ["force"]


def test_an_open_question_is_the_card_and_no_answer() -> None:
    view = ApprovalView.of(QUESTION, NAMES).model_dump(mode="json")

    card = msgspec.convert(view, Card)
    assert card == Card.of(QUESTION, NAMES)
    answer = ("decided_by", "decided_at", "channel", "scope", "reason", "grant_id")
    assert {name: view[name] for name in answer} == dict.fromkeys(answer)
    assert set(view) == {*Card.__dataclass_fields__, *answer}


def test_an_answered_question_says_who_where_when_and_how_far() -> None:
    answered = QUESTION.resolve(ApprovalStatus.APPROVED, ANSWER)

    view = ApprovalView.of(answered, NAMES).model_dump(mode="json")

    assert view["status"] == "approved"
    assert (view["decided_by"], view["channel"], view["decided_at"]) == (
        "ada",
        "terminal",
        "2026-01-01T00:00:00Z",
    )
    assert (view["scope"], view["grant_id"], view["reason"]) == ("class", "grt_1", None)


def test_a_question_hides_whose_it_is_and_how_it_is_kept() -> None:
    view = ApprovalView.of(QUESTION, NAMES).model_dump()

    assert {"user_id", "project_id", "call_class", "surveyed"}.isdisjoint(view)


def test_the_agents_words_are_described_as_a_claim() -> None:
    schema = ApprovalView.model_json_schema()["properties"]["reasoning"]

    assert schema["description"] == "The agent's own claim, not a fact."


def test_where_nobody_has_looked_the_card_says_so() -> None:
    unseen = replace(QUESTION, surveyed=False)

    assert ApprovalView.of(unseen, NAMES).notes == [NOT_SURVEYED]
    assert ApprovalView.of(QUESTION, NAMES).notes == []


@pytest.mark.parametrize(
    ("changes", "masked"),
    [
        ({"evidence": ""}, 1),
        ({"evidence": "+[masked]\n+a\n+[masked]\n"}, 2),
        ({"description": "Write 1 line to [masked]"}, 1),
        ({"evidence": "", "tool_params": {"body": f"a{cut_mark(9)}"}}, 1),
        ({"evidence": "", "tool_params": {"headers": {"a": ["[masked]", "b"]}, "n": 1}}, 1),
    ],
)
def test_a_masked_card_says_how_much_and_offers_no_yes(
    changes: dict[str, Any], masked: int
) -> None:
    question = replace(QUESTION, **changes)

    view = ApprovalView.of(question, NAMES)
    assert (view.masked, view.offers) == (masked, [])
    assert view.notes[0].startswith(f"Masked on this card: {masked} part")

    in_full = ApprovalView.of(replace(question, unmasked=True), NAMES)
    assert (in_full.masked, in_full.notes) == (0, [])
    assert [offer.scope for offer in in_full.offers] == ["once", "class", "project", "session"]


def test_a_decided_question_asks_for_no_full_text() -> None:
    answered = replace(QUESTION, evidence="").resolve(ApprovalStatus.APPROVED, ANSWER)

    assert ApprovalView.of(answered, NAMES).masked == 0


def test_only_an_answer_for_the_project_lasts_longer_than_a_week() -> None:
    said = {"decision": "approved", "expires_in_seconds": MAX_GRANT_SECONDS + 1}

    assert ApproveRequest.model_validate({**said, "scope": "project"}).expires_in_seconds
    for scope in ("class", "session"):
        with pytest.raises(ValidationError, match="except with scope `project`"):
            ApproveRequest.model_validate({**said, "scope": scope})


def test_a_grant_is_shown_in_words() -> None:
    grant = QUESTION.grant(Scope.CLASS, UserId("usr_1"), AT, uses=3, lasts_seconds=60)
    assert grant is not None

    view = GrantView.of(grant, "agt_1", AT, False, {"agt_1": "tester"}).model_dump(mode="json")

    assert view == {
        "grant_id": grant.id,
        "granted_by": "usr_1",
        "session_id": "session-1",
        "scope": "class",
        "agent_id": "agt_1",
        "agent_name": "tester",
        "idle": False,
        "last_call_at": "2026-01-01T00:00:00Z",
        "words": "writes to *.md",
        "max_risk": "MEDIUM",
        "uses_left": 3,
        "expires_at": "2026-01-01T00:01:00Z",
        "approval_id": "apr_1",
        "created_at": "2026-01-01T00:00:00Z",
        "revoked_at": None,
    }
    shown = GrantView.of(grant.revoke(AT), "agt_1", AT, False, {"agt_1": "tester"})
    revoked = shown.model_dump(mode="json")
    assert revoked == view | {"revoked_at": "2026-01-01T00:00:00Z"}
