"""Questions, answers and grants as rows, and back."""

import json
from typing import Any

import msgspec

from handrail.core.approval import Answer, Approval, ApprovalStatus
from handrail.core.audit import canonical
from handrail.core.grant import CallClass, Grant, PastCalls, Scope
from handrail.core.risk import RiskLevel
from handrail.store.approval_statements import SHOWN
from handrail.store.rows import (
    Row,
    from_micros,
    micros_or_none,
    moment_or_none,
    read_revision,
    revision_json,
    to_micros,
)
from handrail.store.schema import grants, tool_approvals

_decode = msgspec.json.Decoder().decode
_APPROVAL_COLUMNS = [column.name for column in tool_approvals.columns]
_GRANT_COLUMNS = [column.name for column in grants.columns]


def approval_row(approval: Approval) -> dict[str, Any]:
    kind = approval.call_class
    return {
        "request_id": approval.id,
        "project_id": approval.project_id,
        "user_id": approval.user_id,
        "execution_id": approval.execution_id,
        "session_id": approval.session_id,
        "agent_id": approval.agent_id,
        "tool_name": approval.tool_name,
        "tool_input": canonical(approval.tool_params),
        "reasoning": approval.reasoning,
        "description": approval.description,
        "risk_level": approval.risk_level.name,
        "reasons": json.dumps(approval.reasons),
        "digest": approval.digest,
        "surveyed": approval.surveyed,
        "evidence": approval.evidence,
        "class_key": None if kind is None else kind.key,
        "class_words": None if kind is None else kind.words,
        "timeout_seconds": approval.timeout_seconds,
        "created_at": to_micros(approval.created_at),
        "expires_at": to_micros(approval.expires_at),
        "metadata": _metadata(approval),
        "estimated_duration_ms": approval.estimated_duration_ms,
        "past_calls": None if approval.past is None else approval.past.calls,
        "past_refused": None if approval.past is None else approval.past.refused,
        **answer_row(approval),
    }


def shown_row(approval: Approval) -> dict[str, Any]:
    """The columns that change when an open question is updated."""
    row = approval_row(approval)
    return {name: row[name] for name in SHOWN}


def _metadata(approval: Approval) -> str | None:
    """The fields without a column of their own."""
    revision = approval.revision
    said = {
        "reaches_out": approval.reaches_out,
        "reserved": approval.reserved,
        "doubted": approval.doubted,
        "by_server": approval.by_server,
        "hosts": approval.hosts,
        "client": approval.client_id,
        "looking": approval.looking,
        "cannot_undo": approval.cannot_undo,
        "editable": approval.editable,
        "revision": None if revision is None else revision_json(revision),
        "origins": approval.origins,
    }
    kept = {name: value for name, value in said.items() if value}
    return canonical(kept) if kept else None


def answer_row(approval: Approval) -> dict[str, Any]:
    """The columns that an answer fills."""
    answer = approval.answer
    return {
        "status": approval.status,
        "responded_by": None if answer is None else answer.by,
        "channel": None if answer is None else answer.channel,
        "responded_at": None if answer is None else to_micros(answer.at),
        "scope": None if answer is None else answer.scope,
        "response": None if answer is None else answer.reason,
        "grant_id": None if answer is None else answer.grant_id,
    }


def grant_row(grant: Grant) -> dict[str, Any]:
    return {
        **{name: getattr(grant, name) for name in _GRANT_COLUMNS},
        "max_risk": grant.max_risk.name,
        "expires_at": micros_or_none(grant.expires_at),
        "created_at": to_micros(grant.created_at),
        "revoked_at": micros_or_none(grant.revoked_at),
    }


def read_approval(row: Row) -> Approval:
    values: dict[str, Any] = dict(zip(_APPROVAL_COLUMNS, row, strict=True))
    kind = values["class_key"]
    said: dict[str, Any] = _decode(values["metadata"] or "{}")
    return Approval(
        id=values["request_id"],
        project_id=values["project_id"],
        user_id=values["user_id"],
        execution_id=values["execution_id"],
        session_id=values["session_id"],
        agent_id=values["agent_id"],
        tool_name=values["tool_name"],
        tool_params=_decode(values["tool_input"]),
        reasoning=values["reasoning"],
        description=values["description"],
        risk_level=RiskLevel[values["risk_level"]],
        reasons=tuple(_decode(values["reasons"])),
        digest=values["digest"],
        surveyed=bool(values["surveyed"]),
        evidence=values["evidence"],
        call_class=None if kind is None else CallClass(kind, values["class_words"]),
        timeout_seconds=values["timeout_seconds"],
        created_at=from_micros(values["created_at"]),
        expires_at=from_micros(values["expires_at"]),
        status=ApprovalStatus(values["status"]),
        answer=_read_answer(values),
        estimated_duration_ms=values["estimated_duration_ms"],
        past=_read_past(values),
        reaches_out=said.get("reaches_out", False),
        reserved=said.get("reserved", False),
        doubted=said.get("doubted", False),
        by_server=said.get("by_server", False),
        hosts=tuple(said.get("hosts", ())),
        origins=tuple(said.get("origins", ())),
        client_id=said.get("client"),
        looking=said.get("looking", ""),
        cannot_undo=said.get("cannot_undo", False),
        editable=tuple(said.get("editable", ())),
        revision=read_revision(said.get("revision")),
    )


def _read_past(values: dict[str, Any]) -> PastCalls | None:
    if values["past_calls"] is None:
        return None
    return PastCalls(values["past_calls"], values["past_refused"])


def _read_answer(values: dict[str, Any]) -> Answer | None:
    if values["responded_at"] is None:
        return None
    return Answer(
        by=values["responded_by"],
        channel=values["channel"],
        at=from_micros(values["responded_at"]),
        scope=None if values["scope"] is None else Scope(values["scope"]),
        reason=values["response"],
        grant_id=values["grant_id"],
    )


def read_grant(row: Row) -> Grant:
    values: dict[str, Any] = dict(zip(_GRANT_COLUMNS, row, strict=True))
    values["max_risk"] = RiskLevel[values["max_risk"]]
    for name in ("expires_at", "created_at", "revoked_at"):
        values[name] = moment_or_none(values[name])
    return Grant(**values)
