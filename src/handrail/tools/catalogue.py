"""The one list to extend when Handrail itself gets a new tool."""

from handrail.tools.builtin.read_file import ReadFile
from handrail.tools.registry import ToolRegistry

BUILTIN = (ReadFile,)


def builtin_registry() -> ToolRegistry:
    return ToolRegistry(tool() for tool in BUILTIN)
