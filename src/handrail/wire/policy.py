"""Bodies about the rules: what they are, what they would say, what a project adds to them."""

from collections import Counter
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, Field

from handrail.core.box import Profile, Wall
from handrail.core.policy import LayerSummary, RuleLine
from handrail.core.project import Autonomy, Workspace
from handrail.core.risk import Finding
from handrail.core.verdict import Explained, Plan, Ruling
from handrail.wire.payloads import Body, Label, SessionName, Success

MAX_POLICY_CHARS = 256_000


class PolicyRequest(Body):
    """The policy file in the client's workspace, and what is proven to keep commands in there."""

    text: str = Field(
        max_length=MAX_POLICY_CHARS, description="The file as it is; empty where there is none."
    )
    walls: list[Annotated[Wall, Field(strict=False)]] = Field(
        default=[],
        max_length=len(Wall),
        description="What keeps commands in on this machine; without it, every command asks.",
    )


class PolicyReceipt(BaseModel):
    success: Success = True
    workspace_id: str = Field(description="The folder whose rules these are.")


class AutonomyRequest(Body):
    """How much agents of this project may do without asking."""

    autonomy: Autonomy = Field(
        strict=False,
        description="For all calls from now on, except in conversations with a setting of their "
        "own. Policy files can only lower it.",
    )


class AutonomyResponse(BaseModel):
    success: Success = True
    autonomy: Autonomy = Field(description="The setting of the project.")
    meaning: str = Field(description="The same in words.")

    @classmethod
    def of(cls, autonomy: Autonomy) -> Self:
        return cls(autonomy=autonomy, meaning=autonomy.meaning)


class ExplainRequest(Body):
    """A call as an agent would ask for it, and where; with the project's autonomy unless said."""

    tool_name: str = Field(
        min_length=1, max_length=100, description="The tool, by its name or an alias of it."
    )
    tool_params: dict[str, Any] = Field(description="Its parameters.")
    session_id: SessionName | None = Field(
        default=None, description="Judge as in this session's folder."
    )
    workspace_id: Label | None = Field(default=None, description="Judge as in this folder.")
    autonomy: Autonomy | None = Field(
        default=None, strict=False, description="Judge as if the agent had this much freedom."
    )


class ExplainedFinding(BaseModel):
    rule: str = Field(description="The id of the rule.")
    layer: Literal["shipped", "operator", "project"] = Field(description="Whose rule it is.")
    risk_level: str = Field(description="How bad it is.")
    reason: str = Field(description="Why, in words.")

    @classmethod
    def of(cls, finding: Finding) -> Self:
        return cls(
            rule=finding.rule,
            layer=finding.layer.value,
            risk_level=finding.risk.name,
            reason=finding.reason,
        )


class PlanView(BaseModel):
    paths: list[str] = Field(description="The files it would touch.")
    argv: list[list[str]] = Field(description="The commands it would run.")
    hosts: list[str] = Field(description="The hosts it would reach.")
    profiles: list[Profile] = Field(description="The box of each of the commands.")

    @classmethod
    def of(cls, plan: Plan) -> Self:
        return cls(
            paths=list(plan.paths),
            argv=[list(words) for words in plan.argv],
            hosts=list(plan.hosts),
            profiles=list(plan.profiles),
        )


class ExplainResponse(BaseModel):
    """What would be said to the call, by its words alone; a look at the machine may add to it."""

    success: Success = True
    tool_name: str = Field(description="The tool, by its own name.")
    description: str = Field(description="What would happen, in one sentence.")
    class_words: str | None = Field(
        description="What an approval of its class would cover, where it could have one."
    )
    ruling: Ruling = Field(
        description="Runs at once, is tried first where it can change nothing, asks a person, or "
        "is refused."
    )
    risk_level: str = Field(description="How risky it is.")
    reasons: list[str] = Field(description="Why, in words.")
    findings: list[ExplainedFinding] = Field(description="Why, with the rules.")
    plan: PlanView = Field(description="What would really happen.")
    timeout_seconds: int = Field(description="How long a person would have to answer.")
    requires_approval: bool = Field(description="Whether a person may have to be asked.")
    autonomy: Autonomy = Field(description="The freedom it was judged with.")
    workspace_id: str | None = Field(default=None, description="The folder it was judged in.")

    @classmethod
    def of(
        cls,
        explained: Explained,
        autonomy: Autonomy,
        timeout_seconds: int,
        workspace_id: str | None = None,
    ) -> Self:
        verdict = explained.verdict
        return cls(
            tool_name=explained.tool_name,
            description=explained.description,
            class_words=explained.class_words,
            ruling=verdict.ruling,
            risk_level=verdict.risk.name,
            reasons=list(verdict.reasons),
            findings=[ExplainedFinding.of(finding) for finding in verdict.findings],
            plan=PlanView.of(verdict.plan),
            timeout_seconds=timeout_seconds,
            requires_approval=verdict.ruling.may_ask,
            autonomy=autonomy,
            workspace_id=workspace_id,
        )


class RuleView(BaseModel):
    """One row; `note` says where it comes to nothing."""

    kind: str = Field(description="`path`, `write`, `command` or `tool`.")
    name: str = Field(description="The rule's name.")
    risk_level: str = Field(description="What it comes to.")
    reason: str = Field(description="Why.")
    note: str | None = Field(description="Why it has no effect, where it has none.")

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

    layer: Literal["shipped", "operator", "project"] = Field(description="Whose file it is.")
    source: str = Field(description="Which file it is.")
    workspace_id: str | None = Field(description="For a project's file: the folder it lies in.")
    counts: dict[str, int] = Field(description="How many rows of each kind.")
    autonomy: Autonomy | None = Field(description="The most freedom it leaves an agent.")
    unlisted: str | None = Field(
        description="Whether commands without a row are refused, or asked about."
    )
    notes: list[str] = Field(description="Settings that have no effect, and why.")
    rules: list[RuleView] = Field(description="The rows.")

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

    workspace_id: str = Field(description="The folder.")
    root: str = Field(description="Where it lies.")
    autonomy: Autonomy = Field(description="The freedom an agent has there.")
    unlisted: str = Field(description="Whether commands without a row are refused, or asked about.")

    @classmethod
    def of(cls, workspace: Workspace, autonomy: Autonomy, unlisted: str) -> Self:
        return cls(
            workspace_id=workspace.id, root=workspace.root, autonomy=autonomy, unlisted=unlisted
        )


class PolicyResponse(BaseModel):
    success: Success = True
    layers: list[LayerView] = Field(description="The files, the shipped one first.")
    effective: list[EffectiveView] = Field(description="The rules in force, folder by folder.")
