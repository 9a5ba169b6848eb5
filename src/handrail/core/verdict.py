"""Policy's answer to a call."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Self

from handrail.core.box import Profile
from handrail.core.risk import Finding, RiskLevel
from handrail.core.stage import Stage


class Ruling(StrEnum):
    """The decision on a call, ordered from mild to strict."""

    ALLOW = "allow"
    DRAFT = "draft"
    REHEARSE = "rehearse"
    ASK = "ask"
    DENY = "deny"

    @property
    def meaning(self) -> str:
        """The ruling in words for people."""
        return _MEANINGS[self]

    @property
    def may_ask(self) -> bool:
        """True if a person may have to approve the call before it changes anything."""
        return self is Ruling.REHEARSE or self is Ruling.ASK

    # Ordered by strictness, so that `max` of several is the strictest. All are defined, because
    # those of str go by the alphabet. A string is compared as the ruling that it names, as
    # it is by `==`; one that names none is a ValueError.
    def __lt__(self, other: str) -> bool:
        return _STRICTNESS[self] < _STRICTNESS[Ruling(other)]

    def __le__(self, other: str) -> bool:
        return _STRICTNESS[self] <= _STRICTNESS[Ruling(other)]

    def __gt__(self, other: str) -> bool:
        return _STRICTNESS[self] > _STRICTNESS[Ruling(other)]

    def __ge__(self, other: str) -> bool:
        return _STRICTNESS[self] >= _STRICTNESS[Ruling(other)]


_STRICTNESS = {ruling: strictness for strictness, ruling in enumerate(Ruling)}
_MEANINGS = {
    Ruling.ALLOW: "runs at once",
    Ruling.DRAFT: "changes the session's draft only",
    Ruling.REHEARSE: "tried first where it can change nothing",
    Ruling.ASK: "asks a person",
    Ruling.DENY: "refused",
}


@dataclass(frozen=True, slots=True)
class Plan:
    """What will really happen, in terms a machine can compare: paths, argv lists, hosts.

    `profiles` are the boxes of the argv lists, one for each. `stdin` are the texts that they read,
    one for each too, and empty where none reads one. `rehearses` says that running it first where
    it can change nothing shows everything that it would change. `stages` are the same argv lists
    with all that the machine needs to run them; each machine works them out for itself.
    """

    paths: tuple[str, ...] = ()
    argv: tuple[tuple[str, ...], ...] = ()
    hosts: tuple[str, ...] = ()
    profiles: tuple[Profile, ...] = ()
    stdin: tuple[str | None, ...] = ()
    rehearses: bool = False
    stages: tuple[Stage, ...] = field(default=(), compare=False, repr=False)

    @classmethod
    def of(cls, stages: Sequence[Stage], *, rehearses: bool = False) -> Self:
        """To run these, and nothing else."""
        texts = tuple([stage.stdin for stage in stages])
        return cls(
            argv=tuple([stage.argv for stage in stages]),
            profiles=tuple([stage.profile for stage in stages]),
            stdin=() if texts.count(None) == len(texts) else texts,
            rehearses=rehearses,
            stages=tuple(stages),
        )

    @property
    def fits_a_draft(self) -> bool:
        """Whether it only changes files of the workspace, so that a draft can hold all of it."""
        return self.rehearses or bool(self.paths and not self.argv and not self.hosts)

    @property
    def reaches_out(self) -> bool:
        """Whether it may speak to anybody beyond this machine."""
        return bool(self.hosts) or Profile.NET in self.profiles


@dataclass(frozen=True, slots=True)
class Verdict:
    """The ruling on a call, with the risk and every reason in words."""

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
