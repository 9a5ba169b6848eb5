"""Review: this machine's own opinion of a call. It trusts nothing it was sent."""

import asyncio
from dataclasses import dataclass
from typing import Any

from handrail.core.audit import canonical
from handrail.core.digest import digest_call
from handrail.core.errors import ApprovalDeniedError
from handrail.core.hands import Hands
from handrail.core.risk import RiskLevel
from handrail.core.survey import Survey
from handrail.core.tool import JsonObject, ToolResult
from handrail.core.verdict import Ruling, Verdict
from handrail.policy.security import Scene
from handrail.tools.base import AnyTool, ToolParams
from handrail.tools.judgement import judge_call
from handrail.tools.registry import ToolRegistry


@dataclass(frozen=True, slots=True)
class Reviewed:
    """A call that this machine would carry out, with what it has seen."""

    tool: AnyTool
    params: ToolParams
    verdict: Verdict
    survey: Survey | None

    @property
    def facts(self) -> JsonObject | None:
        return None if self.survey is None else self.survey.facts

    def digest(self, salt: str, raw: dict[str, Any], *, with_facts: bool) -> str:
        facts = (self.facts or {}) if with_facts else None
        return digest_call(salt, self.tool.name, canonical(raw), self.verdict.plan, facts)


class Reviewer:
    """Reads, judges and surveys with this machine's own tools, rules and hands."""

    def __init__(self, registry: ToolRegistry, scene: Scene, hands: Hands):
        self._registry = registry
        self._scene = scene
        self._hands = hands

    def find_tool(self, tool_name: str) -> AnyTool:
        return self._registry.get(tool_name)

    async def review(
        self, tool_name: str, raw: dict[str, Any], *, seconds: float = 60.0
    ) -> Reviewed:
        """Look at a call as if it came from a stranger.

        Raises:
            BadInput: It cannot be read.
            ToolError: It is refused here, or cannot be done.
            TimeoutError: Looking took longer than that.
        """
        tool, params = self._registry.parse(tool_name, raw)
        verdict = judge_call(tool, params, self._scene)
        _refuse_if_denied(verdict)
        if verdict.risk is RiskLevel.LOW:
            return Reviewed(tool, params, verdict, None)
        async with asyncio.timeout(seconds):
            survey = await tool.survey(params, self._scene, self._hands)
        verdict = judge_call(tool, params, self._scene, survey.findings)
        _refuse_if_denied(verdict)
        return Reviewed(tool, params, verdict, survey)

    async def execute(self, reviewed: Reviewed) -> ToolResult:
        return await reviewed.tool.execute(
            reviewed.params, self._scene, self._hands, reviewed.facts
        )


def _refuse_if_denied(verdict: Verdict) -> None:
    if verdict.ruling is Ruling.DENY:
        raise ApprovalDeniedError("; ".join(verdict.reasons))
