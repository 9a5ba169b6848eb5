"""What the rules are, in a form that can be listed: layer by layer, row by row."""

from dataclasses import dataclass

from handrail.core.ids import WorkspaceId
from handrail.core.project import Autonomy
from handrail.core.risk import Layer, RiskLevel


@dataclass(frozen=True, slots=True)
class RuleLine:
    """One row of a policy file; `note` says where it comes to nothing."""

    kind: str
    name: str
    risk: RiskLevel
    reason: str
    note: str | None = None


@dataclass(frozen=True, slots=True)
class LayerSummary:
    """What one file says. A project's belongs to the workspace it lies in."""

    layer: Layer
    source: str
    rules: tuple[RuleLine, ...] = ()
    autonomy: Autonomy | None = None
    unlisted: str | None = None
    notes: tuple[str, ...] = ()
    workspace_id: WorkspaceId | None = None
