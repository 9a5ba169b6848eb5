"""What Handrail thinks of a call: the verdict, bound by a digest to what it was based on."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import structlog

from handrail.core.digest import digest_call
from handrail.core.errors import BrokenTool
from handrail.core.execution import ToolExecution
from handrail.core.few import Few
from handrail.core.grant import CallClass
from handrail.core.ids import ClientId, SessionId
from handrail.core.project import Autonomy, Place, Workspace
from handrail.core.risk import Finding, RiskLevel, worst
from handrail.core.survey import Survey
from handrail.core.tool import Effect, JsonObject
from handrail.core.verdict import Explained, Ruling, Verdict
from handrail.policy.distrust import Doubt, tainted
from handrail.policy.redaction import mask_text
from handrail.policy.rulebook.book import Rulebook
from handrail.policy.rulebook.rules import Rules
from handrail.policy.security import Scene
from handrail.tools.base import AnyTool, ToolParams
from handrail.tools.blame import blaming
from handrail.tools.judgement import judge_call, may_be_remembered
from handrail.tools.registry import ToolRegistry

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Assessment:
    """A verdict with what a person would be shown; `survey` is None where nobody has looked.

    What is `doubted` passes on no grant: a person looks at each such call.
    """

    tool: AnyTool
    verdict: Verdict
    digest: str
    description: str
    call_class: CallClass | None
    survey: Survey | None
    doubted: bool = False

    def judge(self, pending: ToolExecution, client_id: ClientId | None = None) -> ToolExecution:
        """The call with this judgement written into it; `client_id` is who shall look first."""
        return pending._replace(
            tool_name=self.tool.name,
            digest=self.digest,
            site=self.tool.site,
            effect=self.tool.effect,
            risk_level=self.verdict.risk,
            reasons=tuple(map(mask_text, self.verdict.reasons)),
            requires_approval=self.verdict.ruling is Ruling.ASK,
            surveyed=self.survey is not None,
            client_id=client_id,
            class_key=None if self.call_class is None else self.call_class.key,
        )


class Asked(NamedTuple):
    """What a call says: its parameters also as they were sent, and where some came from."""

    tool_name: str
    tool_params: JsonObject
    params_json: str
    origins: Mapping[str, str] | None = None


class _Known(NamedTuple):
    """A judgement, and what it was based on besides the words."""

    place: Place
    rules: Rules
    assessment: Assessment


class Assessor:
    """Agents say the same again and again: judgement is pure, so what it came to is remembered."""

    def __init__(self, registry: ToolRegistry, rulebook: Rulebook):
        self._registry = registry
        self._rulebook = rulebook
        self._known: Few[tuple[SessionId, str, str], _Known] = Few()

    def assess(
        self,
        asked: Asked,
        place: Place,
        survey: Survey | None = None,
        doubts: Sequence[Doubt] = (),
    ) -> Assessment:
        """Judge a call by its words, where they came from, and what a survey has shown.

        Of a session that is tainted, every call is doubted; `doubts` are further ones.

        Raises:
            BadInput: No tool has that name, or the parameters do not fit it.
            ToolError, BrokenTool: The tool itself could not be asked.
        """
        rules = self._rulebook.rules_for(place.workspace.policy)
        key = (place.session.id, asked.tool_name, asked.params_json)
        by_words_alone = survey is None and not asked.origins and not doubts
        known = self._known.get(key) if by_words_alone else None
        if known is not None and known.rules is rules and known.place == place:
            return known.assessment
        try:
            with blaming(asked.tool_name, "while it was judged"):
                assessment = self._assess(asked, place, rules, survey, doubts)
        except BrokenTool:
            log.exception("tool.broke", tool=asked.tool_name)
            raise
        if by_words_alone and may_be_remembered(asked.tool_params, asked.params_json):
            self._known.keep(key, _Known(place, rules, assessment))
        return assessment

    def _assess(
        self,
        asked: Asked,
        place: Place,
        rules: Rules,
        survey: Survey | None,
        doubts: Sequence[Doubt],
    ) -> Assessment:
        tool, params = self._registry.parse(asked.tool_name, asked.tool_params)
        scene = _scene(place.workspace, place.autonomy, rules)
        seen = () if survey is None else survey.findings
        if place.session.tainted_by is not None:
            doubts = (*doubts, tainted(place.session.tainted_by))
        findings = (*_judge_origins(tool, asked.origins), *seen)
        idle = survey is not None and survey.changes_nothing
        verdict = judge_call(tool, params, scene, findings, doubts, changes_nothing=idle)
        facts: Mapping[str, Any] | None = None if survey is None else survey.facts
        digest = digest_call(
            place.project.digest_salt, tool.name, asked.params_json, verdict.plan, facts
        )
        if verdict.ruling is not Ruling.ASK:
            return Assessment(tool, verdict, digest, "", None, survey, bool(doubts))
        # What came out of somebody's result is part of no class either.
        alone = asked.origins or _is_alarming([*scene.rules.judge_tool(tool.name), *seen])
        kind = None if alone or doubts else _sayable(tool.call_class(params, scene), facts)
        summary = "" if survey is None else survey.summary
        shown = mask_text(summary or tool.preview(params))
        return Assessment(tool, verdict, digest, shown, kind, survey, bool(doubts))

    def parse(self, asked: Asked) -> tuple[AnyTool, ToolParams]:
        """The tool and its parameters.

        Raises:
            BadInput: No tool has that name, or the parameters do not fit it.
        """
        return self._registry.parse(asked.tool_name, asked.tool_params)

    def scene_of(self, place: Place) -> Scene:
        """What a call in this place is judged by, and done by."""
        rules = self._rulebook.rules_for(place.workspace.policy)
        return _scene(place.workspace, place.autonomy, rules)

    def explain(
        self, tool_name: str, tool_params: JsonObject, workspace: Workspace, autonomy: Autonomy
    ) -> Explained:
        """Judge a call that nobody has asked for, by its words alone.

        Raises:
            BadInput: No tool has that name, or the parameters do not fit it.
            ToolError, BrokenTool: The tool itself could not be asked.
        """
        name, own = self._registry.resolve(tool_name, tool_params)
        with blaming(name, "while it was judged"):
            tool, params = self._registry.parse(name, own)
            rules = self._rulebook.rules_for(workspace.policy)
            scene = _scene(workspace, autonomy, rules)
            verdict = judge_call(tool, params, scene)
            kind = None
            if verdict.ruling is Ruling.ASK and not _is_alarming(rules.judge_tool(tool.name)):
                kind = tool.call_class(params, scene)
            words = kind.words if kind is not None and _is_sayable(kind) else None
            return Explained(tool.name, verdict, mask_text(tool.preview(params)), words)


def _scene(workspace: Workspace, autonomy: Autonomy, rules: Rules) -> Scene:
    return Scene(workspace.root, autonomy, workspace.is_boxed, rules)


def _judge_origins(tool: AnyTool, origins: Mapping[str, str] | None) -> list[Finding]:
    """What the agent did not say itself is nobody's word."""
    risk = RiskLevel.MEDIUM if tool.effect is Effect.CHANGE else RiskLevel.LOW
    return [
        Finding("chain.value", f"{name!r} was taken from the result of call {call_id!r}", risk)
        for name, call_id in (origins or {}).items()
    ]


def _is_alarming(findings: Iterable[Finding]) -> bool:
    """What the machine tells, or a rule for the whole tool, is part of no class: none covers it."""
    return worst(findings) >= RiskLevel.HIGH


def _sayable(kind: CallClass | None, facts: JsonObject | None) -> CallClass | None:
    """A class that cannot be told without giving a secret away is not offered.

    Nor is one that is bound to what no machine has seen.
    """
    return kind.bind(facts) if kind is not None and _is_sayable(kind) else None


def _is_sayable(kind: CallClass) -> bool:
    return mask_text(kind.words) == kind.words
