"""Running a call in this process, with no server and no person to ask: only LOW calls run."""

from typing import Any

from handrail.core.errors import BadInput, BrokenTool, ToolError
from handrail.core.hands import Hands
from handrail.core.risk import RiskLevel
from handrail.core.survey import Survey
from handrail.core.tool import JsonObject
from handrail.core.verdict import Ruling, Verdict
from handrail.policy.security import Scene
from handrail.tools.base import AnyTool, ToolParams
from handrail.tools.blame import blaming
from handrail.tools.judgement import judge_call
from handrail.tools.outcome import as_result, as_survey


async def judge_on_machine(
    tool: AnyTool, params: ToolParams, scene: Scene, hands: Hands
) -> tuple[Verdict, Survey]:
    """The verdict after the tool's survey; a call that its words refuse is not surveyed."""
    verdict = judge_call(tool, params, scene)
    if verdict.ruling is Ruling.DENY:
        return verdict, Survey()
    survey = as_survey(tool.name, await tool.survey(params, scene, hands))
    verdict = judge_call(
        tool,
        params,
        scene,
        survey.findings,
        changes_nothing=survey.changes_nothing,
        rehearsed=survey.rehearsed,
    )
    return verdict, survey


async def run_unasked(
    tool: AnyTool, params: JsonObject, scene: Scene, hands: Hands
) -> dict[str, Any]:
    """Run a LOW call. A riskier one is not run; the answer says that it needs an approval."""
    try:
        with blaming(tool.name, "while it ran"):
            checked = tool.read_params(params)
            verdict, survey = await judge_on_machine(tool, checked, scene, hands)
            if verdict.ruling is Ruling.DENY:
                return _not_run("error", verdict, "; ".join(verdict.reasons))
            if verdict.risk > RiskLevel.LOW:
                return _not_run("approval_required", verdict, _who_may_approve(tool, verdict))
            given = await tool.execute(checked, scene, hands, survey.facts)
            result = as_result(tool.name, given)
    except (BadInput, ToolError, BrokenTool) as error:
        return {"status": "error", "success": False, "error": error.message}
    return {**result.as_json(), "status": "success" if result.success else "error"}


def _who_may_approve(tool: AnyTool, verdict: Verdict) -> str:
    return (
        f"{tool.name} was not run: the call is {verdict.risk.name} ({'; '.join(verdict.reasons)}), "
        "and only a person can approve it; send it to a Handrail server"
    )


def _not_run(status: str, verdict: Verdict, error: str) -> dict[str, Any]:
    return {
        "status": status,
        "success": False,
        "error": error,
        "risk_level": verdict.risk.name,
        "reasons": list(verdict.reasons),
    }
