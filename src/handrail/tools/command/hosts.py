"""Hosts that an agent asks for beside a command, because the command table names none for it."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from pydantic import Field

from handrail.core.box import Profile
from handrail.core.risk import Finding, RiskLevel
from handrail.core.stage import Stage
from handrail.core.verdict import Plan
from handrail.core.visible import visible
from handrail.policy.network.hosts import read_host
from handrail.policy.rulebook.rules import Rules
from handrail.tools.command.git_remotes import runs_git

MOST_HOSTS = 20
_HTTPS = 443

# The parameter of tools that run commands.
HOSTS: Any = Field(
    default=[],
    max_length=MOST_HOSTS,
    description="Hosts the command needs to reach, such as `api.example.com` or "
    "`example.com:8443`. A person is asked before it runs. Leave it out at first: the result says "
    "`needs network: HOST` where a command failed for lack of it.",
)


def judge_hosts(hosts: Sequence[str], rules: Rules) -> Iterator[Finding]:
    """The concerns about the hosts: what `http_request` may not reach, no command may either."""
    for word in hosts:
        host = read_host(word)
        if isinstance(host, Finding):
            yield host
        else:
            yield from rules.web.judge(host if host.port else replace(host, port=_HTTPS))
    reason = f"asks for network access to {', '.join(map(visible, hosts))}"
    yield Finding("command.hosts", reason, RiskLevel.HIGH)


def with_hosts(stages: Sequence[Stage], hosts: Sequence[str]) -> tuple[Stage, ...]:
    """The stages, of which those that do more than read may reach the hosts.

    git has its own way to remotes.
    """
    return tuple(
        stage
        if stage.profile is Profile.READ or runs_git(stage)
        else stage._replace(profile=Profile.NET, hosts=tuple(dict.fromkeys(hosts)))
        for stage in stages
    )


def plan_with_hosts(stages: Sequence[Stage], hosts: Sequence[str]) -> Plan:
    """What would run. A rehearsal has no network, so it would not show what such a call does."""
    return replace(Plan.of(with_hosts(stages, hosts)), hosts=tuple(hosts))


def words_for(hosts: Sequence[str]) -> str:
    """The end of a card's title."""
    return f" with access to {', '.join(map(visible, hosts))}" if hosts else ""
