"""Bodies about the rules: what they are, what they would say, what a project adds to them."""

from collections import Counter
from typing import Any, Literal, Self

from pydantic import BaseModel, Field

from handrail.core.policy import LayerSummary, RuleLine
from handrail.core.project import Autonomy, Workspace
from handrail.core.risk import Finding
from handrail.core.verdict import Plan, Ruling, Verdict
from handrail.wire.payloads import Body, Label, SessionName

MAX_POLICY_CHARS = 256_000


class PolicyRequest(Body):
    """The text of the policy file in the client's workspace; empty where there is none."""

    text: str = Field(max_length=MAX_POLICY_CHARS)


class PolicyReceipt(BaseModel):
    success: bool = True
    workspace_id: str


class ExplainRequest(Body):
    """A call as an agent would ask for it, and where; with the project's autonomy unless said."""

    tool_name: str = Field(min_length=1, max_length=100)
    tool_params: dict[str, Any]
    session_id: SessionName | None = None
    workspace_id: Label | None = None
    autonomy: Autonomy | None = Field(default=None, strict=False)


class ExplainedFinding(BaseModel):
    rule: str
    layer: Literal["shipped", "operator", "project"]
    risk_level: str
    reason: str

    @classmethod
    def of(cls, finding: Finding) -> Self:
        return cls(
            rule=finding.rule,
            layer=finding.layer.value,
            risk_level=finding.risk.name,
            reason=finding.reason,
        )


class PlanView(BaseModel):
    paths: list[str]
    argv: list[list[str]]
    hosts: list[str]

    @classmethod
    def of(cls, plan: Plan) -> Self:
        argv = [list(words) for words in plan.argv]
        return cls(paths=list(plan.paths), argv=argv, hosts=list(plan.hosts))


class ExplainResponse(BaseModel):
    """What would be said to the call, by its words alone; a look at the machine may add to it."""

    success: bool = True
    ruling: Literal["allow", "ask", "deny"]
    risk_level: str
    reasons: list[str]
    findings: list[ExplainedFinding]
    plan: PlanView
    timeout_seconds: int
    requires_approval: bool
    autonomy: Autonomy
    workspace_id: str | None = None

    @classmethod
    def of(
        cls,
        verdict: Verdict,
        autonomy: Autonomy,
        timeout_seconds: int,
        workspace_id: str | None = None,
    ) -> Self:
        words: dict[Ruling, Literal["allow", "ask", "deny"]] = {
            Ruling.ALLOW: "allow",
            Ruling.ASK: "ask",
            Ruling.DENY: "deny",
        }
        return cls(
            ruling=words[verdict.ruling],
            risk_level=verdict.risk.name,
            reasons=list(verdict.reasons),
            findings=[ExplainedFinding.of(finding) for finding in verdict.findings],
            plan=PlanView.of(verdict.plan),
            timeout_seconds=timeout_seconds,
            requires_approval=verdict.ruling is Ruling.ASK,
            autonomy=autonomy,
            workspace_id=workspace_id,
        )


class RuleView(BaseModel):
    """One row; `note` says where it comes to nothing."""

    kind: str
    name: str
    risk_level: str
    reason: str
    note: str | None

    @classmethod
    def of(cls, line: RuleLine) -> Self:
        return cls(
            kind=line.kind,
            name=line.name,
            risk_level=line.risk.name,
            reason=line.reason,
            note=line.note,
        )


class LayerView(BaseModel):
    """One file: how many rows of each kind, its settings, and the rows themselves."""

    layer: Literal["shipped", "operator", "project"]
    source: str
    workspace_id: str | None
    counts: dict[str, int]
    autonomy: Autonomy | None
    unlisted: str | None
    notes: list[str]
    rules: list[RuleView]

    @classmethod
    def of(cls, summary: LayerSummary) -> Self:
        return cls(
            layer=summary.layer.value,
            source=summary.source,
            workspace_id=summary.workspace_id,
            counts=Counter(line.kind.partition(",")[0] for line in summary.rules),
            autonomy=summary.autonomy,
            unlisted=summary.unlisted,
            notes=list(summary.notes),
            rules=[RuleView.of(line) for line in summary.rules],
        )


class EffectiveView(BaseModel):
    """What holds in one workspace when all layers are taken together."""

    workspace_id: str
    root: str
    autonomy: Autonomy
    unlisted: str

    @classmethod
    def of(cls, workspace: Workspace, autonomy: Autonomy, unlisted: str) -> Self:
        return cls(
            workspace_id=workspace.id, root=workspace.root, autonomy=autonomy, unlisted=unlisted
        )


class PolicyResponse(BaseModel):
    success: bool = True
    layers: list[LayerView]
    effective: list[EffectiveView]
