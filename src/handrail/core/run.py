"""A run: what a person's message sets going, until the agent has answered."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Self

from handrail.core.conversation import Utterance
from handrail.core.ids import CallId, MessageId, ProjectId, RunId, SessionId, UserId
from handrail.core.model import Usage


class RunStatus(StrEnum):
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True)
class Run:
    """The durable state of one run. The conversation itself says how far it has come.

    Whoever drives it holds a lease; `epoch` counts how often it changed hands, and what a former
    holder still says under an older epoch is refused.
    """

    id: RunId
    project_id: ProjectId
    session_id: SessionId
    user_id: UserId
    status: RunStatus
    created_at: datetime
    epoch: int = 0
    owner: str | None = None
    leased_until: datetime | None = None
    ended_at: datetime | None = None
    error: str | None = None

    def take(self, owner: str, now: datetime, lease: timedelta) -> Self:
        """The run in other hands."""
        return replace(self, owner=owner, epoch=self.epoch + 1, leased_until=now + lease)

    def renew(self, now: datetime, lease: timedelta) -> Self:
        return replace(self, leased_until=now + lease)

    def end(self, status: RunStatus, now: datetime, error: str | None = None) -> Self:
        return replace(self, status=status, ended_at=now, error=error, leased_until=None)


@dataclass(frozen=True, slots=True)
class Message:
    """One utterance as it is kept; `seq` counts within its session, without a gap.

    What a model said carries its name and what it cost.
    """

    id: MessageId
    project_id: ProjectId
    session_id: SessionId
    run_id: RunId
    seq: int
    at: datetime
    utterance: Utterance
    model: str | None = None
    usage: Usage | None = None


@dataclass(frozen=True, slots=True)
class Talk:
    """A conversation in a list of them: how it began, and what has become of it."""

    session_id: SessionId
    title: str
    created_at: datetime
    last_at: datetime
    status: RunStatus


def call_id_of(run_id: RunId, tool_use_id: str) -> CallId:
    """Under which call id a run asks for what its model wants: the same after a restart."""
    return CallId(f"{run_id}/{tool_use_id}")
