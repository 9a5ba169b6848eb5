"""Handrail stands between AI agents and the machines of the people they work for."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from handrail.client.handler import ToolHandler
    from handrail.client.streaming import StreamingClient
    from handrail.core.errors import (
        ApprovalDeniedError,
        CommandExecutionError,
        FileOperationError,
        HandrailError,
        PathValidationError,
        ToolError,
    )
    from handrail.core.execution import Status, ToolExecution
    from handrail.core.hands import Hands
    from handrail.core.project import Autonomy
    from handrail.core.risk import Finding, RiskLevel, ToolSafety
    from handrail.core.tool import Effect, ToolCall, ToolDefinition, ToolResult, ToolSpec
    from handrail.core.verdict import Ruling, Verdict
    from handrail.executors.commands.executor import CommandExecutor
    from handrail.executors.files.filesystem import FileSystemExecutor
    from handrail.plane.agent_tools import AgentTools
    from handrail.plane.approvals import ApprovalManager
    from handrail.plane.executor import ToolExecutor
    from handrail.policy.injection.checked import needs_injection_check
    from handrail.policy.injection.report import InjectionReport
    from handrail.policy.injection.scan import scan
    from handrail.policy.security import Scene, SecurityPolicy
    from handrail.policy.validators.commands import CommandValidator
    from handrail.policy.validators.paths import PathValidator
    from handrail.policy.validators.sizes import SizeLimiter
    from handrail.tools.assess import RiskAssessor, validate_tool_params
    from handrail.tools.base import Tool, ToolParams
    from handrail.tools.catalogue import builtin_registry, judge
    from handrail.tools.names import ToolName
    from handrail.tools.registry import ToolRegistry
    from handrail.version import __version__

# Loaded on first use, so that small programs stay small.
_HOMES = {
    "AgentTools": "handrail.plane.agent_tools",
    "ApprovalDeniedError": "handrail.core.errors",
    "ApprovalManager": "handrail.plane.approvals",
    "Autonomy": "handrail.core.project",
    "CommandExecutionError": "handrail.core.errors",
    "CommandExecutor": "handrail.executors.commands.executor",
    "CommandValidator": "handrail.policy.validators.commands",
    "Effect": "handrail.core.tool",
    "FileOperationError": "handrail.core.errors",
    "FileSystemExecutor": "handrail.executors.files.filesystem",
    "Finding": "handrail.core.risk",
    "HandrailError": "handrail.core.errors",
    "Hands": "handrail.core.hands",
    "InjectionReport": "handrail.policy.injection.report",
    "PathValidationError": "handrail.core.errors",
    "PathValidator": "handrail.policy.validators.paths",
    "RiskAssessor": "handrail.tools.assess",
    "RiskLevel": "handrail.core.risk",
    "Ruling": "handrail.core.verdict",
    "Scene": "handrail.policy.security",
    "SecurityPolicy": "handrail.policy.security",
    "SizeLimiter": "handrail.policy.validators.sizes",
    "Status": "handrail.core.execution",
    "StreamingClient": "handrail.client.streaming",
    "Tool": "handrail.tools.base",
    "ToolCall": "handrail.core.tool",
    "ToolDefinition": "handrail.core.tool",
    "ToolError": "handrail.core.errors",
    "ToolExecution": "handrail.core.execution",
    "ToolExecutor": "handrail.plane.executor",
    "ToolHandler": "handrail.client.handler",
    "ToolName": "handrail.tools.names",
    "ToolParams": "handrail.tools.base",
    "ToolRegistry": "handrail.tools.registry",
    "ToolResult": "handrail.core.tool",
    "ToolSafety": "handrail.core.risk",
    "ToolSpec": "handrail.core.tool",
    "Verdict": "handrail.core.verdict",
    "__version__": "handrail.version",
    "builtin_registry": "handrail.tools.catalogue",
    "judge": "handrail.tools.catalogue",
    "needs_injection_check": "handrail.policy.injection.checked",
    "scan": "handrail.policy.injection.scan",
    "validate_tool_params": "handrail.tools.assess",
}

__all__ = [
    "AgentTools",
    "ApprovalDeniedError",
    "ApprovalManager",
    "Autonomy",
    "CommandExecutionError",
    "CommandExecutor",
    "CommandValidator",
    "Effect",
    "FileOperationError",
    "FileSystemExecutor",
    "Finding",
    "HandrailError",
    "Hands",
    "InjectionReport",
    "PathValidationError",
    "PathValidator",
    "RiskAssessor",
    "RiskLevel",
    "Ruling",
    "Scene",
    "SecurityPolicy",
    "SizeLimiter",
    "Status",
    "StreamingClient",
    "Tool",
    "ToolCall",
    "ToolDefinition",
    "ToolError",
    "ToolExecution",
    "ToolExecutor",
    "ToolHandler",
    "ToolName",
    "ToolParams",
    "ToolRegistry",
    "ToolResult",
    "ToolSafety",
    "ToolSpec",
    "Verdict",
    "__version__",
    "builtin_registry",
    "judge",
    "needs_injection_check",
    "scan",
    "validate_tool_params",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'handrail' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
