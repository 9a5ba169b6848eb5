"""Hosts on the card: what of the network a call would reach, and that it reaches nothing else."""

from dataclasses import replace

from handrail.core.box import Profile
from handrail.core.hands import Hands
from handrail.core.risk import Finding, RiskLevel
from handrail.core.stage import Stage
from handrail.core.survey import Survey
from handrail.core.tool import JsonObject
from handrail.policy.security import Scene

_RULE = "command.network"


async def survey_hosts(stages: tuple[Stage, ...], scene: Scene, hands: Hands) -> Survey:
    """Which hosts the machine would let them reach; without a box, that would be all."""
    if not scene.isolated or not _networks(stages):
        return Survey()
    hosts = await hands.commands.find_hosts(stages)
    return Survey(facts={"hosts": list(hosts)}, findings=(_finding(stages, hosts),))


def with_hosts(stages: tuple[Stage, ...], facts: JsonObject | None) -> tuple[Stage, ...]:
    """The stages as they were surveyed: what may use a network reaches these hosts."""
    hosts = tuple((facts or {}).get("hosts", ()))
    return tuple(
        replace(stage, hosts=hosts) if stage.profile is Profile.NET else stage for stage in stages
    )


def _networks(stages: tuple[Stage, ...]) -> list[str]:
    return list(dict.fromkeys(name for stage in stages for name in stage.networks))


def _finding(stages: tuple[Stage, ...], hosts: tuple[str, ...]) -> Finding:
    if hosts:
        reason = f"it may reach {', '.join(hosts)}, and nothing else"
    else:
        names = " and ".join(_networks(stages))
        reason = (
            f"it may reach nothing: nobody has said which hosts {names} may reach; name them as"
            " [[network]] in policy.toml, in Handrail's own folder on that machine"
        )
    return Finding(_RULE, reason, RiskLevel.MEDIUM)
