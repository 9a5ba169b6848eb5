"""What Handrail would say to a call in this folder."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

from handrail.app.home import Home
from handrail.app.plugins import load_toolbox
from handrail.app.policy_files import WorkspacePolicy
from handrail.app.settings import load_settings
from handrail.app.toolchains import Toolchains
from handrail.core.box import Profile
from handrail.core.project import Autonomy
from handrail.core.verdict import Ruling, Verdict
from handrail.executors.network.hosts import Networks
from handrail.executors.processes.programs import SEARCH_PATH, ProgramFinder
from handrail.executors.sandbox.probe import find_programs, prove
from handrail.policy.validators.commands import CommandValidator
from handrail.tools.catalogue import judge
from handrail.tools.command.survey import reach


def explain(
    tool: str,
    params: dict[str, Any],
    workspace: Path,
    autonomy: Autonomy,
    home: Path | None = None,
) -> Verdict:
    """Judge a call as this machine would, by every policy file that holds in the folder.

    Of a command that may use a network, it is also said whom it may reach, as a card would.
    """
    place, own = workspace.resolve(), Home(load_settings(home=home).home)
    policy = WorkspacePolicy(own, place)
    isolated = prove(find_programs()).holds
    verdict = judge(
        tool,
        params,
        workspace=str(place),
        autonomy=autonomy,
        isolated=isolated,
        policy=policy.rules,
        tools=load_toolbox(own.tools).registry,
    )
    if tool != "execute_command" or verdict.ruling is Ruling.DENY or not isolated:
        return verdict
    stage = CommandValidator(str(place), policy.rules).stage_of(
        params["command"], params.get("args") or ()
    )
    # Whom git reaches, its repository says; nobody looks into that here.
    if stage.profile is not Profile.NET or not stage.networks or "git" in stage.programs:
        return verdict
    belt = Toolchains(own, place).belt()
    finder = ProgramFinder(str(place), belt.search_path(SEARCH_PATH), belt.mounts)
    hosts = asyncio.run(Networks(policy.rules, finder).reachable_by(stage.networks)).hosts
    return replace(verdict, findings=(*verdict.findings, reach(stage.networks, hosts)))
