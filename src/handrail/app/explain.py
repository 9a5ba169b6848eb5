"""What Handrail would say to a call in this folder."""

from pathlib import Path
from typing import Any

from handrail.app.plugins import load_toolbox
from handrail.core.project import Autonomy
from handrail.core.verdict import Verdict
from handrail.tools.catalogue import judge


def explain(tool: str, params: dict[str, Any], workspace: Path, autonomy: Autonomy) -> Verdict:
    """Judge a call as this machine would; no box is proven on it yet."""
    place = str(workspace.resolve())
    tools = load_toolbox().registry
    return judge(tool, params, workspace=place, autonomy=autonomy, isolated=False, tools=tools)
