"""The messages of a machine about a call: its facts, a refusal, why it is stale, its result."""

from typing import Any

from handrail.client.messages import Signal
from handrail.client.review import Reviewed
from handrail.core.errors import ErrorType
from handrail.core.rehearsal import has_same_effects
from handrail.core.risk import RiskLevel
from handrail.core.sight import differing, tell_differing
from handrail.core.tool import JsonObject, ToolResult
from handrail.core.verdict import Ruling

# The approver of calls that no person had to be asked about.
BY_POLICY = "policy"

ReportResult = dict[str, Any]


def report_on(tool_id: str, result: ToolResult) -> ReportResult:
    if result.error_type is None:
        return {"tool_id": tool_id, "status": "completed", "result": result.as_json()}
    report: ReportResult = {
        "tool_id": tool_id,
        "status": "failed",
        "error": result.error,
        "error_type": result.error_type,
    }
    return {**report, "result": result.as_json()} if result.fields else report


def find_difference(signal: Signal, reviewed: Reviewed, seen: JsonObject | None) -> str | None:
    """Why this is not what was judged, shown and approved; None if it is.

    A rehearsal with another output is the same if its effects are those that were `seen`.
    """
    if seen is not None and has_same_effects(seen, reviewed.facts):
        reviewed = reviewed.with_facts(seen)
    if reviewed.digest(signal.salt, with_facts=signal.surveyed) != signal.digest:
        if signal.surveyed:
            return tell_differing(differing(seen, reviewed.facts or {}) if seen else ())
        return "the call that arrived is not the one that was judged; nothing was done"
    if reviewed.verdict.ruling is Ruling.DRAFT:
        # A person decides about the sum, which shows what it does.
        return None
    if reviewed.verdict.risk > RiskLevel[signal.risk_level]:
        reasons = "; ".join(reviewed.verdict.reasons)
        return (
            f"this machine rates it as riskier than what was approved; nothing was done: {reasons}"
        )
    if reviewed.verdict.ruling.may_ask and signal.execution_context.approved_by == BY_POLICY:
        reasons = "; ".join(reviewed.verdict.reasons)
        return f"on this machine it needs approval first; nothing was done: {reasons}"
    return None


def as_facts(reviewed: Reviewed, *, unmasked: bool) -> dict[str, Any]:
    survey = reviewed.survey
    if survey is None:
        return {"facts": {}}
    findings = [
        {"rule": one.rule, "reason": one.reason, "risk": one.risk.name} for one in survey.findings
    ]
    evidence = survey.in_full if unmasked else survey.evidence
    return {
        "facts": dict(survey.facts),
        "findings": findings,
        "evidence": evidence,
        "unmasked": unmasked,
        "summary": survey.summary,
        "changes_nothing": survey.changes_nothing,
        "rehearsed": survey.rehearsed,
    }


def as_refusal(error: str, error_type: ErrorType) -> dict[str, Any]:
    return {"refused": {"error": error, "error_type": error_type}}
