"""Words in, verdict out: what Handrail would say to a call, without running anything."""

from handrail.core.project import Autonomy
from handrail.core.tool import JsonObject
from handrail.core.verdict import Plan, Verdict
from handrail.policy.rules import Rules, default_rules
from handrail.policy.security import Scene, SecurityPolicy
from handrail.tools.base import AnyTool, ToolParams
from handrail.tools.catalogue import builtin_registry

_POLICY = SecurityPolicy()


def judge_call(tool: AnyTool, params: ToolParams, scene: Scene) -> Verdict:
    """Judge parsed parameters; server and client both come through here."""
    findings = tool.pre_validate(params, scene)
    plan = Plan() if findings else tool.plan(params, scene)
    return _POLICY.rule(tool.safety_level, findings, autonomy=scene.autonomy, plan=plan)


def judge(
    tool: str,
    params: JsonObject,
    *,
    workspace: str,
    autonomy: Autonomy | str = Autonomy.SUPERVISED,
    isolated: bool = True,
    policy: Rules | None = None,
) -> Verdict:
    """Judge a call by name. Pure: touches no file, no clock and no network.

    Args:
        tool: The tool's name, such as `read_file`.
        params: Its parameters, as an agent would send them.
        workspace: The absolute path of the folder the agent works in.
        autonomy: `read_only`, `supervised` or `full`.
        isolated: Whether commands would run in a proven box.
        policy: Rules to use instead of the shipped ones.

    Raises:
        BadInput: No tool has that name, or the parameters do not fit it.
    """
    known, parsed = builtin_registry().parse(tool, params)
    scene = Scene(workspace, Autonomy(autonomy), isolated, policy or default_rules())
    return judge_call(known, parsed, scene)
