"""Handrail stands between AI agents and the machines of the people they work for."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from handrail.core.errors import HandrailError, ToolError
    from handrail.core.execution import Status, ToolExecution
    from handrail.core.hands import Hands
    from handrail.core.project import Autonomy
    from handrail.core.risk import Finding, RiskLevel
    from handrail.core.tool import Effect, ToolCall, ToolDefinition, ToolResult
    from handrail.core.verdict import Ruling, Verdict
    from handrail.plane.approvals import ApprovalManager
    from handrail.plane.executor import ToolExecutor
    from handrail.policy.injection.report import InjectionReport
    from handrail.policy.injection.scan import scan
    from handrail.policy.security import Scene, SecurityPolicy
    from handrail.policy.validators.paths import PathValidator
    from handrail.tools.base import Tool, ToolParams
    from handrail.tools.catalogue import judge
    from handrail.tools.registry import ToolRegistry
    from handrail.version import __version__

# Loaded on first use, so that small programs stay small.
_HOMES = {
    "ApprovalManager": "handrail.plane.approvals",
    "Autonomy": "handrail.core.project",
    "Effect": "handrail.core.tool",
    "Finding": "handrail.core.risk",
    "HandrailError": "handrail.core.errors",
    "Hands": "handrail.core.hands",
    "InjectionReport": "handrail.policy.injection.report",
    "PathValidator": "handrail.policy.validators.paths",
    "RiskLevel": "handrail.core.risk",
    "Ruling": "handrail.core.verdict",
    "Scene": "handrail.policy.security",
    "SecurityPolicy": "handrail.policy.security",
    "Status": "handrail.core.execution",
    "Tool": "handrail.tools.base",
    "ToolCall": "handrail.core.tool",
    "ToolDefinition": "handrail.core.tool",
    "ToolError": "handrail.core.errors",
    "ToolExecution": "handrail.core.execution",
    "ToolExecutor": "handrail.plane.executor",
    "ToolParams": "handrail.tools.base",
    "ToolRegistry": "handrail.tools.registry",
    "ToolResult": "handrail.core.tool",
    "Verdict": "handrail.core.verdict",
    "__version__": "handrail.version",
    "judge": "handrail.tools.catalogue",
    "scan": "handrail.policy.injection.scan",
}

__all__ = [
    "ApprovalManager",
    "Autonomy",
    "Effect",
    "Finding",
    "HandrailError",
    "Hands",
    "InjectionReport",
    "PathValidator",
    "RiskLevel",
    "Ruling",
    "Scene",
    "SecurityPolicy",
    "Status",
    "Tool",
    "ToolCall",
    "ToolDefinition",
    "ToolError",
    "ToolExecution",
    "ToolExecutor",
    "ToolParams",
    "ToolRegistry",
    "ToolResult",
    "Verdict",
    "__version__",
    "judge",
    "scan",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'handrail' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
