"""Words in, verdict out: what server and client both come through."""

from handrail.core.verdict import Plan, Verdict
from handrail.policy.security import Scene, SecurityPolicy
from handrail.tools.base import AnyTool, ToolParams

_POLICY = SecurityPolicy()


def judge_call(tool: AnyTool, params: ToolParams, scene: Scene) -> Verdict:
    """Judge a tool with checked parameters, without running anything."""
    findings = tool.pre_validate(params, scene)
    plan = Plan() if findings else tool.plan(params, scene)
    return _POLICY.rule(tool.safety_level, findings, autonomy=scene.autonomy, plan=plan)
