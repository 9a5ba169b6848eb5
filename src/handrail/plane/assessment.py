"""What Handrail thinks of a call: the verdict, bound by a digest to what it was based on."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import structlog

from handrail.core.digest import digest_call
from handrail.core.errors import BrokenTool
from handrail.core.execution import ToolExecution
from handrail.core.grant import CallClass
from handrail.core.project import Place
from handrail.core.risk import Finding, RiskLevel, worst
from handrail.core.survey import Survey
from handrail.core.tool import Effect, JsonObject
from handrail.core.verdict import Ruling, Verdict
from handrail.policy.redaction import mask_text
from handrail.policy.rulebook.rules import Rules
from handrail.policy.security import Scene
from handrail.tools.base import AnyTool
from handrail.tools.blame import blaming
from handrail.tools.judgement import judge_call
from handrail.tools.registry import ToolRegistry

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Assessment:
    """A verdict with what a person would be shown; `survey` is None where nobody has looked."""

    tool: AnyTool
    verdict: Verdict
    digest: str
    description: str
    call_class: CallClass | None
    survey: Survey | None

    def judge(self, pending: ToolExecution) -> ToolExecution:
        """The call with this judgement written into it."""
        return pending._replace(
            tool_name=self.tool.name,
            digest=self.digest,
            site=self.tool.site,
            effect=self.tool.effect,
            risk_level=self.verdict.risk,
            reasons=tuple(map(mask_text, self.verdict.reasons)),
            requires_approval=self.verdict.ruling is Ruling.ASK,
            surveyed=self.survey is not None,
        )


class Asked(NamedTuple):
    """What a call says: its parameters also as they were sent, and where some came from."""

    tool_name: str
    tool_params: JsonObject
    params_json: str
    origins: Mapping[str, str] | None = None


class Assessor:
    def __init__(self, registry: ToolRegistry, rules: Rules):
        self._registry = registry
        self._rules = rules

    def assess(self, asked: Asked, place: Place, survey: Survey | None = None) -> Assessment:
        """Judge a call by its words, where they came from, and what a survey has shown.

        Raises:
            BadInput: No tool has that name, or the parameters do not fit it.
            ToolError, BrokenTool: The tool itself could not be asked.
        """
        try:
            with blaming(asked.tool_name, "while it was judged"):
                return self._assess(asked, place, survey)
        except BrokenTool:
            log.exception("tool.broke", tool=asked.tool_name)
            raise

    def _assess(self, asked: Asked, place: Place, survey: Survey | None) -> Assessment:
        tool, params = self._registry.parse(asked.tool_name, asked.tool_params)
        # No box is proven on any machine yet.
        scene = Scene(place.workspace.root, place.project.autonomy, False, self._rules)
        seen = () if survey is None else survey.findings
        verdict = judge_call(tool, params, scene, (*_judge_origins(tool, asked.origins), *seen))
        facts: Mapping[str, Any] | None = None if survey is None else survey.facts
        digest = digest_call(
            place.project.digest_salt, tool.name, asked.params_json, verdict.plan, facts
        )
        if verdict.ruling is not Ruling.ASK:
            return Assessment(tool, verdict, digest, "", None, survey)
        return Assessment(
            tool,
            verdict,
            digest,
            mask_text(tool.preview(params)),
            _class_of(asked, tool.call_class(params, scene), survey),
            survey,
        )


def _judge_origins(tool: AnyTool, origins: Mapping[str, str] | None) -> list[Finding]:
    """What the agent did not say itself is nobody's word."""
    risk = RiskLevel.MEDIUM if tool.effect is Effect.CHANGE else RiskLevel.LOW
    return [
        Finding("chain.value", f"{name!r} was taken from the result of call {call_id!r}", risk)
        for name, call_id in (origins or {}).items()
    ]


def _class_of(asked: Asked, kind: CallClass | None, survey: Survey | None) -> CallClass | None:
    """The class that a person may let pass; none covers what came out of somebody's result."""
    return None if asked.origins or _is_alarming(survey) else _sayable(kind)


def _is_alarming(survey: Survey | None) -> bool:
    """What only the machine could tell is not part of any class, so no class may cover it."""
    return survey is not None and worst(survey.findings) >= RiskLevel.HIGH


def _sayable(kind: CallClass | None) -> CallClass | None:
    """A class that cannot be told without giving a secret away is not offered."""
    return kind if kind is not None and mask_text(kind.words) == kind.words else None
