"""What Handrail thinks of a call: the verdict, bound by a digest to what it was based on."""

from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple

import structlog

from handrail.core.audit import canonical
from handrail.core.box import Profile
from handrail.core.digest import digest_call
from handrail.core.errors import BrokenTool
from handrail.core.execution import ToolExecution
from handrail.core.few import Few
from handrail.core.grant import CallClass
from handrail.core.ids import ClientId, SessionId
from handrail.core.judging import Judging
from handrail.core.project import Autonomy, Place, Workspace
from handrail.core.risk import Finding, RiskLevel, worst
from handrail.core.survey import Survey
from handrail.core.tool import Effect, JsonObject
from handrail.core.verdict import Explained, Verdict
from handrail.policy.distrust import Doubt, tainted
from handrail.policy.effects import class_of_effects
from handrail.policy.redaction import mask, mask_text
from handrail.policy.rulebook.book import Rulebook
from handrail.policy.rulebook.rules import Rules
from handrail.policy.security import Scene
from handrail.tools.base import AnyTool, ToolParams
from handrail.tools.blame import blaming
from handrail.tools.judgement import MOST_JUDGED_INLINE, judge_call, may_be_remembered
from handrail.tools.registry import ToolRegistry

# To mask a character takes 0.4 µs.
_MOST_MASKED_INLINE = 10_000

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Assessment:
    """A verdict with what a person would be shown; `survey` is None where nobody has looked.

    What is `doubted` passes on no grant: a person looks at each such call. What `lasts` is known
    to be final by its words alone.
    """

    tool: AnyTool
    verdict: Verdict
    digest: str
    description: str
    call_class: CallClass | None
    survey: Survey | None
    doubted: bool = False
    lasts: bool = False

    @property
    def beyond_session(self) -> bool:
        """True if an answer for the whole session does not cover the call."""
        return self.verdict.plan.reaches_out or self.tool.reserved

    @property
    def cannot_undo(self) -> bool:
        """Whether no person can take it back; False also where that is not known yet."""
        plan, survey = self.verdict.plan, self.survey
        runs = any(profile is not Profile.READ for profile in plan.profiles)
        for_real = not plan.rehearses or (survey is not None and not survey.rehearsed)
        return self.lasts or (runs and for_real)

    def judge(self, pending: ToolExecution, client_id: ClientId | None = None) -> ToolExecution:
        """The call with this judgement written into it; `client_id` is who shall look first."""
        return pending._replace(
            tool_name=self.tool.name,
            digest=self.digest,
            site=self.tool.site,
            effect=self.tool.effect,
            risk_level=self.verdict.risk,
            reasons=tuple(map(mask_text, self.verdict.reasons)),
            requires_approval=self.verdict.ruling.may_ask,
            surveyed=self.survey is not None,
            client_id=client_id,
            class_key=None if self.call_class is None else self.call_class.key,
        )


class Asked(NamedTuple):
    """What a call says: its parameters also as they were sent, and where some came from.

    One that `was_changed` by a person belongs to no class, and is always put to a person.
    """

    tool_name: str
    tool_params: JsonObject
    params_json: str
    origins: Mapping[str, str] | None = None
    was_changed: bool = False


class _Case(NamedTuple):
    """What a judgement depends on besides the rules.

    No class is offered for a call that `is_alone`; one that is `always_described` need not be put
    to a person to be.
    """

    tool: AnyTool
    tool_params: JsonObject
    root: str
    is_boxed: bool
    rehearses: bool
    autonomy: Autonomy
    is_alone: bool = False
    findings: tuple[Finding, ...] = ()
    survey: Survey | None = None
    doubts: tuple[Doubt, ...] = ()
    always_described: bool = False


class _Judged(NamedTuple):
    """`description` is what a person is shown; `kind` the class that they are offered."""

    verdict: Verdict
    description: str
    kind: CallClass | None
    lasts: bool = False


class _Known(NamedTuple):
    """A judgement, and what it was based on besides the words."""

    place: Place
    rules: Rules
    assessment: Assessment


class Assessor:
    """Agents say the same again and again: judgement is pure, so what it came to is remembered."""

    def __init__(self, registry: ToolRegistry, rulebook: Rulebook, judging: Judging | None = None):
        """`judging` is where long calls are judged; without it, they are judged here."""
        self._registry = registry
        self._rulebook = rulebook
        self._judging = judging
        self._known: Few[tuple[SessionId, str, str], _Known] = Few()

    async def assess(
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
        is_alone = bool(asked.origins or doubts or asked.was_changed)
        by_words_alone = survey is None and not is_alone
        known = self._known.get(key) if by_words_alone else None
        if known is not None and known.rules is rules and known.place == place:
            return known.assessment
        tool = self._registry.get(asked.tool_name)
        if place.session.tainted_by is not None:
            doubts = (*doubts, tainted(place.session.tainted_by))
        case = _Case(
            tool,
            asked.tool_params,
            place.workspace.root,
            place.workspace.is_boxed,
            place.workspace.rehearses,
            place.autonomy,
            # What came out of an earlier result is part of no class.
            is_alone=is_alone or bool(doubts),
            findings=tuple(_judge_origins(tool, asked.origins)),
            survey=survey,
            doubts=tuple(doubts),
            always_described=asked.was_changed,
        )
        judged = await self._judge(
            place.session.opened_by,
            case,
            rules,
            tool.judged_length(asked.tool_params, asked.params_json),
        )
        verdict, facts = judged.verdict, None if survey is None else survey.facts
        with _logging_breaks(tool.name), blaming(tool.name, "while it was judged"):
            digest = digest_call(
                place.project.digest_salt, tool.name, asked.params_json, verdict.plan, facts
            )
        kind = None if judged.kind is None else judged.kind.bind(facts)
        assessment = Assessment(
            tool, verdict, digest, judged.description, kind, survey, bool(doubts), judged.lasts
        )
        if by_words_alone and may_be_remembered(asked.tool_params, asked.params_json):
            self._known.keep(key, _Known(place, rules, assessment))
        return assessment

    async def mask(self, agent: str, params: JsonObject, size: int) -> JsonObject:
        """Parameters without their secrets.

        Raises:
            NotJudged, Conflict: As `Judging` says, where there are so many that it takes long.
        """
        if self._judging is None or size <= _MOST_MASKED_INLINE:
            return mask(params)
        return await self._judging.run(agent, _mask, None, params)

    async def _judge(self, agent: str, case: _Case, rules: Rules, size: int) -> _Judged:
        with _logging_breaks(case.tool.name):
            if self._judging is None or size <= MOST_JUDGED_INLINE:
                return _judge_case(rules, case)
            return await self._judging.run(agent, _judge_case, rules, case)

    def parse(self, asked: Asked) -> tuple[AnyTool, ToolParams]:
        """The tool and its parameters.

        Raises:
            BadInput: No tool has that name, or the parameters do not fit it.
        """
        return self._registry.parse(asked.tool_name, asked.tool_params)

    def scene_of(self, place: Place) -> Scene:
        """What a call in this place is judged by, and done by."""
        rules = self._rulebook.rules_for(place.workspace.policy)
        workspace = place.workspace
        boxes = (workspace.is_boxed, rules, workspace.rehearses)
        return Scene(workspace.root, place.autonomy, *boxes)

    async def explain(
        self,
        tool_name: str,
        tool_params: JsonObject,
        workspace: Workspace,
        autonomy: Autonomy,
        agent: str,
    ) -> Explained:
        """Judge a call that nobody has asked for, by its words alone, on behalf of `agent`.

        Raises:
            BadInput: No tool has that name, or the parameters do not fit it.
            ToolError, BrokenTool: The tool itself could not be asked.
        """
        name, own = self._registry.resolve(tool_name, tool_params)
        tool = self._registry.get(name)
        rules = self._rulebook.rules_for(workspace.policy)
        boxes = (workspace.is_boxed, workspace.rehearses)
        case = _Case(tool, own, workspace.root, *boxes, autonomy, always_described=True)
        size = tool.judged_length(own, canonical(own))
        judged = await self._judge(agent, case, rules, size)
        words = None if judged.kind is None else judged.kind.words
        return Explained(tool.name, judged.verdict, judged.description, words)


@contextmanager
def _logging_breaks(tool_name: str) -> Generator[None]:
    try:
        yield
    except BrokenTool:
        log.exception("tool.broke", tool=tool_name)
        raise


def _mask(_shared: None, params: JsonObject) -> JsonObject:
    return mask(params)


def _judge_case(rules: Rules, case: _Case) -> _Judged:
    """All that depends on the words of a call; a long one is judged in another process."""
    tool, looked = case.tool, case.survey or Survey()
    with blaming(tool.name, "while it was judged"):
        params = tool.read_params(case.tool_params)
        scene = Scene(case.root, case.autonomy, case.is_boxed, rules, case.rehearses)
        seen = looked.findings
        findings = (*case.findings, *seen)
        verdict = judge_call(
            tool,
            params,
            scene,
            findings,
            case.doubts,
            changes_nothing=looked.changes_nothing,
            rehearsed=looked.rehearsed,
        )
        asks = verdict.ruling.may_ask
        kind = None
        by_name = rules.judge_tool(tool.name, *tool.ruled_as)
        if asks and not case.is_alone and not _is_alarming([*by_name, *seen]):
            own = tool.call_class(params, scene)
            kind = _sayable(class_of_effects(looked.facts) if looked.rehearsed else own)
        is_described = asks or case.always_described
        words = (looked.summary or tool.preview(params)) if is_described else ""
        return _Judged(verdict, mask_text(words), kind, asks and tool.lasts(params))


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


def _sayable(kind: CallClass | None) -> CallClass | None:
    """A class that cannot be told without giving a secret away is not offered."""
    return kind if kind is not None and mask_text(kind.words) == kind.words else None
