"""Rules about a whole tool: it asks at a higher risk than its calls would, or not at all."""

from dataclasses import dataclass
from fnmatch import fnmatchcase

from handrail.core.risk import Finding, Layer, RiskLevel
from handrail.policy.rulebook.row import RuleRow


@dataclass(frozen=True, slots=True)
class ToolRule:
    """What every call of a tool is at least. `*` in the name stands for anything."""

    name: str
    risk: RiskLevel
    reason: str
    layer: Layer = Layer.SHIPPED

    def covers(self, tool_name: str) -> bool:
        return fnmatchcase(tool_name, self.name)

    def finding(self, tool_name: str) -> Finding:
        return Finding(f"tool.{self.name}", f"{tool_name}: {self.reason}", self.risk).by(self.layer)


def read_tool_rule(row: RuleRow) -> ToolRule:
    row.allow_keys("name", "risk", "reason")
    levels = {level.name.lower(): level for level in RiskLevel if level is not RiskLevel.LOW}
    risk = row.text("risk")
    if risk not in levels:
        raise row.refuse(f"risk is one of {', '.join(levels)}, not {risk!r}")
    return ToolRule(row.text("name"), levels[risk], row.text("reason"), row.layer)
