"""Review: this machine's own opinion of a call. It trusts nothing it was sent."""

import asyncio
import platform
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from handrail.core.audit import canonical
from handrail.core.digest import digest_call
from handrail.core.errors import ApprovalDeniedError, BadInput
from handrail.core.few import Few
from handrail.core.hands import Hands
from handrail.core.judging import Judging
from handrail.core.project import Autonomy
from handrail.core.rehearsal import CallRef
from handrail.core.risk import Finding, RiskLevel
from handrail.core.sight import WORKSPACE_PROGRAMS
from handrail.core.survey import Survey
from handrail.core.tool import Effect, JsonObject, ToolResult
from handrail.core.verdict import Ruling, Verdict
from handrail.policy.rulebook.rules import Rules
from handrail.policy.security import Scene
from handrail.tools.base import AnyTool, ToolParams
from handrail.tools.blame import blaming
from handrail.tools.judgement import MOST_JUDGED_INLINE, judge_call, may_be_remembered
from handrail.tools.outcome import as_result, as_survey
from handrail.tools.registry import ToolRegistry

# A look reads files and asks git; on a busy machine with a large repository that takes minutes.
# A rehearsal takes as long as the command.
LOOK_SECONDS = 360.0
# All calls come from one server; which agent asked for them it does not say.
_SERVER = "server"


@dataclass(frozen=True, slots=True)
class Reviewed:
    """A call that this machine would carry out, with what it has seen."""

    tool: AnyTool
    params: ToolParams
    params_json: str
    verdict: Verdict
    survey: Survey | None
    hands: Hands
    call: CallRef | None = None

    @property
    def facts(self) -> JsonObject | None:
        return None if self.survey is None else self.survey.facts

    @property
    def changes(self) -> bool:
        return self.tool.effect is Effect.CHANGE

    def with_facts(self, facts: JsonObject) -> "Reviewed":
        return replace(self, survey=replace(self.survey or Survey(), facts=facts))

    def digest(self, salt: str, *, with_facts: bool) -> str:
        facts = (self.facts or {}) if with_facts else None
        return digest_call(salt, self.tool.name, self.params_json, self.verdict.plan, facts)


class Reviewer:
    """Reads, judges and surveys with this machine's own tools, rules and hands.

    `refresh` is called before each review; it adopts other rules if a policy file has changed.
    Judgement is pure, so verdicts are remembered, except for calls with a secret in them.
    """

    def __init__(
        self,
        registry: ToolRegistry,
        scene: Scene,
        hands: Hands,
        refresh: Callable[[], object] = lambda: None,
        judging: Judging | None = None,
    ):
        """`judging` is where long calls are judged; without it, they are judged here."""
        self._registry = registry
        self._refresh = refresh
        self._scene = scene
        self._hands = hands
        self._judging = judging
        self._known: Few[tuple[str, str], Verdict] = Few()

    def adopt(self, rules: Rules) -> None:
        """Judge by other rules from now on."""
        self._scene = replace(self._scene, rules=rules)
        self._known.clear()

    def get_tool(self, tool_name: str) -> AnyTool:
        """The tool as it is on this machine.

        Raises:
            BadInput: It is not here.
        """
        tool = self._registry.find(tool_name)
        if tool is None:
            raise BadInput(
                f"there is no tool {tool_name!r} on {platform.node()}, where it should run; "
                "install the package or copy the tool file there, then restart the client"
            )
        return tool

    def makes_steps(self, tool_name: str, autonomy: str) -> bool:
        """Whether calls of a tool change the draft of their session."""
        tool = self._registry.find(tool_name)
        return tool is not None and tool.effect is Effect.CHANGE and autonomy == Autonomy.DRAFT

    async def review(
        self,
        tool_name: str,
        raw: dict[str, Any],
        *,
        call: CallRef | None = None,
        autonomy: str = "",
        by_person: bool = False,
        seconds: float = LOOK_SECONDS,
    ) -> Reviewed:
        """Look at a call as if it came from a stranger; a command may be rehearsed for it.

        With the autonomy `draft`, it is looked at and executed in the draft of its session.

        Raises:
            BadInput: It cannot be read.
            ToolError: It is refused here, or cannot be done.
            BrokenTool: The tool broke while it was asked.
            TimeoutError: Looking took longer than that.
        """
        self._refresh()
        tool = self.get_tool(tool_name)
        params_json = canonical(raw)
        known = self._known.get((tool_name, params_json))
        with blaming(tool_name, "on the client"):
            params = tool.read_params(raw)
        scene = self._scene_for(autonomy)
        verdict = await self._judge(scene, tool, raw, params_json) if known is None else known
        _refuse_if_denied(verdict)
        if verdict.risk is RiskLevel.LOW:
            if known is None and may_be_remembered(raw, params_json):
                self._known.keep((tool_name, params_json), verdict)
            hands = self._hands_for(tool, params, call, verdict, scene)
            hands = hands.of_person() if by_person else hands
            return Reviewed(tool, params, params_json, verdict, None, hands, call)
        hands = self._hands_for(tool, params, call, verdict, scene)
        try:
            async with asyncio.timeout(seconds):
                with blaming(tool_name, "on the client"):
                    survey = as_survey(tool_name, await tool.survey(params, scene, hands))
            verdict = await self._judge(scene, tool, raw, params_json, survey)
            _refuse_if_denied(verdict)
        except BaseException:
            await self._leave_draft(hands)
            raise
        return Reviewed(tool, params, params_json, verdict, survey, hands, call)

    def _scene_for(self, autonomy: str) -> Scene:
        """Where no draft can be kept, its autonomy is that of a session that asks a person."""
        if autonomy != Autonomy.DRAFT:
            return self._scene
        return replace(self._scene, autonomy=Autonomy.DRAFT)

    def _hands_for(
        self,
        tool: AnyTool,
        params: ToolParams,
        call: CallRef | None,
        verdict: Verdict,
        scene: Scene,
    ) -> Hands:
        has_draft = scene.autonomy is Autonomy.DRAFT and scene.rehearses
        if call is None or not (has_draft and not tool.decides_drafts):
            return self._hands.for_call(call, verdict)
        return self._hands.for_draft(call, tool.preview(params), verdict)

    async def _leave_draft(self, hands: Hands) -> None:
        """Forget what a call has done in a draft that did not become a step."""
        if hands.in_draft and hands.call is not None:
            await hands.rehearsals.drop(hands.call)

    async def end(self, reviewed: Reviewed) -> None:
        await self._leave_draft(reviewed.hands)

    async def _judge(
        self,
        scene: Scene,
        tool: AnyTool,
        raw: JsonObject,
        params_json: str,
        survey: Survey | None = None,
    ) -> Verdict:
        looked = survey or Survey()
        seen = (looked.findings, looked.changes_nothing, looked.rehearsed)
        case = (tool, raw, scene.workspace, scene.autonomy, scene.isolated, scene.rehearses, *seen)
        if self._judging is None or tool.judged_length(raw, params_json) <= MOST_JUDGED_INLINE:
            return _judge_case(scene.rules, *case)
        return await self._judging.run(_SERVER, _judge_case, scene.rules, *case)

    async def forget(self, call: CallRef) -> None:
        """Drop what is kept to carry out a call."""
        await self._hands.rehearsals.drop(call)

    async def drop_stale(self, call: CallRef) -> str:
        """Drop the rehearsal of a call if it can no longer be applied; returns what has changed."""
        return await self._hands.rehearsals.drop_stale(call)

    async def expect(self, reviewed: Reviewed) -> ToolResult | None:
        """The result of a call where it is certain before anything is changed; else None."""
        tool = reviewed.tool
        with blaming(tool.name, "on the client"):
            hands = reviewed.hands.knowing(reviewed.verdict)
            expected = await tool.expect(reviewed.params, self._scene, hands, reviewed.facts)
        return None if expected is None else _marked(expected, hands)

    async def execute(self, reviewed: Reviewed, *, surveyed: bool = True) -> ToolResult:
        """Do it. Unless it was `surveyed` before a person was asked, it reaches no host.

        Hosts, and programs of the workspace that a bare name means, are known only from a survey.
        Without the survey that a person was shown, neither counts as approved.
        """
        tool, facts = reviewed.tool, reviewed.facts
        by_survey = reviewed.verdict.plan.reaches_out or WORKSPACE_PROGRAMS in (facts or {})
        if by_survey and not surveyed:
            facts = None
        with blaming(tool.name, "on the client"):
            hands = reviewed.hands.knowing(reviewed.verdict)
            given = await tool.execute(reviewed.params, self._scene, hands, facts)
            result = _marked(as_result(tool.name, given), hands)
        is_undoable = tool.effect is Effect.CHANGE and not reviewed.hands.in_draft
        if reviewed.call is None or not is_undoable:
            return result
        return await self.tell_undo(reviewed.call, result)

    def tell_note(self, call: CallRef, result: ToolResult) -> ToolResult:
        """Add to the result of an agent's call what it has to know about its draft."""
        note = self._hands.drafts.take_note(call)
        return replace(result, output=f"{note}\n{result.output}") if note else result

    async def tell_undo(self, call: CallRef, result: ToolResult) -> ToolResult:
        """Add to a result whether the files that the call wrote can be brought back."""
        told = await self._hands.undo.describe(call)
        return replace(result, fields={**result.fields, **told}) if told else result


def _marked(result: ToolResult, hands: Hands) -> ToolResult:
    """The result, which says so if it is about a draft."""
    return replace(result, fields={**result.fields, "draft": True}) if hands.in_draft else result


def _judge_case(
    rules: Rules,
    tool: AnyTool,
    raw: JsonObject,
    workspace: str,
    autonomy: Autonomy,
    isolated: bool,
    rehearses: bool,
    seen: tuple[Finding, ...],
    changes_nothing: bool,
    rehearsed: bool,
) -> Verdict:
    with blaming(tool.name, "on the client"):
        scene = Scene(workspace, autonomy, isolated, rules, rehearses)
        params = tool.read_params(raw)
        return judge_call(
            tool, params, scene, seen, changes_nothing=changes_nothing, rehearsed=rehearsed
        )


def _refuse_if_denied(verdict: Verdict) -> None:
    if verdict.ruling is Ruling.DENY:
        raise ApprovalDeniedError("; ".join(verdict.reasons))
