"""Packages as an installer leaves them: a module, and beside it what it says of itself."""

from pathlib import Path

FINE = """
from typing import Any

from handrail import Hands, RiskLevel, ToolDefinition, ToolRegistry

def register(registry: ToolRegistry) -> None:
    definition = ToolDefinition("greet", "Greets you.", {"type": "object"}, RiskLevel.LOW)
    registry.register_tool(definition, greet)

async def greet(params: dict[str, Any], hands: Hands) -> str:
    return "hello"
"""


def install(folder: Path, package: str, source: str, *entry_points: str) -> None:
    """Put a package into a folder that is searched for modules."""
    folder.mkdir(exist_ok=True)
    (folder / f"{package}.py").write_text(source)
    about = folder / f"{package}-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("\n".join(["[handrail.tools]", *entry_points, ""]))
