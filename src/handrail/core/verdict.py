"""Policy's answer to a call."""

from dataclasses import dataclass
from enum import IntEnum

from handrail.core.box import Profile
from handrail.core.risk import Finding, RiskLevel


class Ruling(IntEnum):
    """Ordered, so that the strictest of several is their maximum."""

    ALLOW = 1
    ASK = 2
    DENY = 3


@dataclass(frozen=True, slots=True)
class Plan:
    """What will really happen, in terms a machine can compare: paths, argv lists, hosts.

    `profiles` are the boxes of the argv lists, one for each.
    """

    paths: tuple[str, ...] = ()
    argv: tuple[tuple[str, ...], ...] = ()
    hosts: tuple[str, ...] = ()
    profiles: tuple[Profile, ...] = ()

    @property
    def reaches_out(self) -> bool:
        """Whether it may speak to anybody beyond this machine."""
        return bool(self.hosts) or Profile.NET in self.profiles


@dataclass(frozen=True, slots=True)
class Verdict:
    """Allow, ask or deny, with the risk and every reason in words."""

    ruling: Ruling
    risk: RiskLevel
    findings: tuple[Finding, ...] = ()
    timeout_seconds: int = 0
    plan: Plan = Plan()

    @property
    def reasons(self) -> tuple[str, ...]:
        return tuple(finding.reason for finding in self.findings)


@dataclass(frozen=True, slots=True)
class Explained:
    """The verdict on a call nobody has asked for, and what a person would be shown of it.

    `class_words` say what an approval of its class would cover; None where it could have none.
    """

    tool_name: str
    verdict: Verdict
    description: str
    class_words: str | None
