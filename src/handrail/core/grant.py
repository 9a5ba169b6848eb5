"""Standing answers: a class of calls, or a whole session, that a person has let pass."""

import hashlib
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import NamedTuple, Protocol

from handrail.core.audit import canonical
from handrail.core.ids import ApprovalId, GrantId, ProjectId, SessionId, UserId
from handrail.core.risk import RiskLevel
from handrail.core.sight import HOSTS, WORKSPACE_PROGRAMS, file_facts, is_content
from handrail.core.tool import JsonObject

WHOLE_SESSION_WORDS = "every call in this session, except network access"

# How a person may limit it, each with its words.
GRANT_USES: tuple[tuple[int | None, str], ...] = (
    (None, "any number of calls"),
    (1, "1 further call"),
    (5, "5 further calls"),
    (20, "20 further calls"),
)
GRANT_SECONDS: tuple[tuple[int | None, str], ...] = (
    (None, "the rest of the session"),
    (900, "15 minutes"),
    (3600, "1 hour"),
    (28800, "8 hours"),
)
_DAY = 24 * 3600
# A lasting answer holds for this long unless a person says otherwise.
LASTING_SECONDS = 30 * _DAY
LASTING_WORDS = "30 days"
LASTING_CHOICES: tuple[tuple[int | None, str], ...] = (
    (_DAY, "1 day"),
    (7 * _DAY, "7 days"),
    (LASTING_SECONDS, LASTING_WORDS),
    (90 * _DAY, "90 days"),
)

_EXACTLY = "exactly:"


class Scope(StrEnum):
    """How far an approval reaches."""

    ONCE = "once"
    CLASS = "class"
    PROJECT = "project"
    SESSION = "session"


@dataclass(frozen=True, slots=True)
class CallClass:
    """The kind of call this one is, as its plan says: a key to compare, and words for a person.

    Calls with the same key are of the same class, so that a grant covers exactly what it names.
    `bound` names facts that belong to the key: the contents of files that the calls run.
    """

    key: str
    words: str
    bound: tuple[str, ...] = ()

    @property
    def is_exact(self) -> bool:
        """Whether it holds nothing but the very same words, again."""
        return self.key.startswith(_EXACTLY)

    @classmethod
    def exactly(cls, key: str, words: str, bound: tuple[str, ...]) -> "CallClass":
        return cls(f"{_EXACTLY}{key}", f"exactly {words}", bound)

    def bind(self, facts: JsonObject | None) -> "CallClass | None":
        """The class as the machine stands; None if not all that it is bound to was seen.

        A command that runs programs of the workspace by name is bound to these too: an agent can
        write them, so a grant for the system's program of that name must not cover them. With a
        network there is no class for them: what they load can change without being seen. One of
        exact words is bound to every file that these name.
        """
        facts = facts or {}
        own = (WORKSPACE_PROGRAMS,) if WORKSPACE_PROGRAMS in facts else ()
        if own and HOSTS in facts:
            return None
        if not (bound := (*self.bound, *own)):
            return self
        seen = {name: facts.get(name) for name in bound}
        if not all(map(is_content, seen.values())):
            return None
        if self.is_exact:
            seen |= file_facts(facts)
        digest = hashlib.sha256(canonical(seen).encode()).hexdigest()
        words = f"{self.words}, until the workspace's program changes" if own else self.words
        return replace(self, key=f"{self.key}@{digest}", words=words, bound=())


class PastCalls(NamedTuple):
    """How many kept calls of the agent a grant would have covered, in all sessions of the project.

    `refused` are those among them that a person has said no to.
    """

    calls: int
    refused: int


@dataclass(frozen=True, slots=True)
class Grant:
    """An answer given ahead. `class_key` is None where it covers every call.

    It covers calls of the session it was given in and ends with that. With `agent_id` it is a
    lasting answer: it covers calls of that agent in every session of the project, until a date.

    `uses_left` is None for as often as one likes. It covers no call riskier than `max_risk`, and
    never one that is CRITICAL. Nor does one for every call cover what reaches out, or decides about
    a draft: to which hosts a call may speak, and the sum of a draft, a person sees first.
    """

    id: GrantId
    project_id: ProjectId
    session_id: SessionId
    class_key: str | None
    words: str
    max_risk: RiskLevel
    uses_left: int | None
    expires_at: datetime | None
    approval_id: ApprovalId
    granted_by: UserId
    created_at: datetime
    revoked_at: datetime | None = None
    agent_id: str | None = None

    @property
    def scope(self) -> Scope:
        if self.class_key is None:
            return Scope.SESSION
        return Scope.CLASS if self.agent_id is None else Scope.PROJECT

    def is_for(self, session_id: SessionId, agent_id: str) -> bool:
        """Whether it holds for calls of this agent in this session of its project."""
        if self.agent_id is None:
            return session_id == self.session_id
        return agent_id == self.agent_id

    def is_live(self, now: datetime) -> bool:
        unused = self.uses_left is None or self.uses_left > 0
        return unused and self.revoked_at is None and not self._has_expired(now)

    def covers(
        self,
        kind: CallClass | None,
        risk: RiskLevel,
        now: datetime,
        *,
        beyond_session: bool = False,
    ) -> bool:
        """Whether a call of this class and risk may pass on it, where it holds at all."""
        if not self.is_live(now) or risk > min(self.max_risk, RiskLevel.HIGH):
            return False
        if self.class_key is None:
            return not beyond_session
        return kind is not None and kind.key == self.class_key

    def is_limited_like(self, kept: "Grant") -> bool:
        """Whether it was given for as long and as many calls; some of those may have passed."""
        if (self.uses_left is None) != (kept.uses_left is None) or self._lasts != kept._lasts:
            return False
        return (self.uses_left or 0) >= (kept.uses_left or 0)

    @property
    def _lasts(self) -> timedelta | None:
        return None if self.expires_at is None else self.expires_at - self.created_at

    def revoke(self, at: datetime) -> "Grant":
        return replace(self, revoked_at=at)

    def _has_expired(self, now: datetime) -> bool:
        return self.expires_at is not None and now >= self.expires_at


class GrantReads(Protocol):
    """What can be asked of a store about grants."""

    async def find_grant(self, grant_id: GrantId) -> Grant | None: ...

    async def list_grants(
        self, project_id: ProjectId, *, session_id: SessionId | None
    ) -> list[Grant]:
        """The grants of a project, or those given in one session of it."""
        ...

    async def list_lasting(self, project_id: ProjectId, agent_id: str) -> list[Grant]:
        """The lasting answers given to an agent that were not revoked."""
        ...
