"""What Handrail would say to a call in this folder."""

from pathlib import Path
from typing import Any

from handrail.app.home import Home
from handrail.app.plugins import load_toolbox
from handrail.app.policy_files import WorkspacePolicy
from handrail.app.settings import load_settings
from handrail.core.project import Autonomy
from handrail.core.verdict import Verdict
from handrail.executors.sandbox.probe import find_programs, prove
from handrail.tools.catalogue import judge


def explain(
    tool: str,
    params: dict[str, Any],
    workspace: Path,
    autonomy: Autonomy,
    home: Path | None = None,
) -> Verdict:
    """Judge a call as this machine would, by every policy file that holds in the folder."""
    place = workspace.resolve()
    policy = WorkspacePolicy(Home(load_settings(home=home).home), place)
    return judge(
        tool,
        params,
        workspace=str(place),
        autonomy=autonomy,
        isolated=prove(find_programs()).holds,
        policy=policy.rules,
        tools=load_toolbox().registry,
    )
