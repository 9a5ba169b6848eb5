"""Validation and risk of a single call, by the shipped tools and rules. Both use `judge`."""

from handrail.core.risk import Finding, RiskLevel
from handrail.core.tool import JsonObject
from handrail.tools.catalogue import judge

# Relative paths are judged the same in every workspace.
_ANY_WORKSPACE = "/workspace"


def validate_tool_params(
    tool_name: str, tool_params: JsonObject, *, workspace: str = _ANY_WORKSPACE
) -> list[Finding]:
    """The reasons why the call is refused without asking; empty if there are none.

    Raises:
        BadInput: No tool has that name, or the parameters do not fit its schema.
    """
    verdict = judge(tool_name, tool_params, workspace=workspace)
    return [finding for finding in verdict.findings if finding.risk is RiskLevel.FORBIDDEN]


class RiskAssessor:
    """Rates calls in one workspace. `isolated` says whether commands would run in a sandbox."""

    def __init__(self, workspace: str = _ANY_WORKSPACE, *, isolated: bool = True):
        self._workspace = workspace
        self._isolated = isolated

    def assess_tool_risk(self, tool_name: str, tool_params: JsonObject) -> RiskLevel:
        """The risk of one call. `judge` also gives the reasons and the time for an answer.

        Raises:
            BadInput: No tool has that name, or the parameters do not fit its schema.
        """
        return judge(
            tool_name, tool_params, workspace=self._workspace, isolated=self._isolated
        ).risk
