"""Whose work it is and where it happens: users, projects, workspaces, clients, sessions."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from handrail.core.box import Isolation, Wall
from handrail.core.ids import (
    OWN_AGENT,
    ClientId,
    ExecutionId,
    ProjectId,
    SessionId,
    UserId,
    WorkspaceId,
)


class Autonomy(StrEnum):
    """How much an agent may do unasked."""

    READ_ONLY = "read_only"
    DRAFT = "draft"
    SUPERVISED = "supervised"
    FULL = "full"

    @property
    def meaning(self) -> str:
        """What it means for the person, in a sentence or two."""
        return _MEANINGS[self]


_MEANINGS = {
    Autonomy.READ_ONLY: "Agents can read. Changes are refused, even with an approval.",
    Autonomy.DRAFT: "Agents change a draft. You are asked once about all its changes.",
    Autonomy.SUPERVISED: "Agents can read without asking. Changes ask you.",
    Autonomy.FULL: "Agents can change the workspace without asking. Risky calls still ask you.",
}


@dataclass(frozen=True, slots=True)
class User:
    id: UserId
    name: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Project:
    """Belongs to one user; carries its own event sequence, audit chain and digest salt."""

    id: ProjectId
    user_id: UserId
    name: str
    autonomy: Autonomy
    digest_salt: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Workspace:
    """A root folder on one machine, registered by a client.

    `policy` is the text of the policy file that lies in it, `walls` what is proven to keep
    commands in on that machine; the client keeps both up to date.
    """

    id: WorkspaceId
    project_id: ProjectId
    machine: str
    root: str
    created_at: datetime
    policy: str = ""
    walls: tuple[Wall, ...] = ()

    @property
    def is_boxed(self) -> bool:
        return Isolation(self.walls).holds

    @property
    def rehearses(self) -> bool:
        return Isolation(self.walls).rehearses


@dataclass(frozen=True, slots=True)
class Client:
    """A process on the user's machine that executes for one workspace."""

    id: ClientId
    project_id: ProjectId
    workspace_id: WorkspaceId
    name: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Session:
    """One conversation or one foreign agent's run, bound to one workspace and to who opened it.

    While it is tainted, `tainted_by` says in words where the suspicious text came from, and
    `tainted_call` which call brought it. `autonomy` is what a person has said for this
    conversation alone.
    """

    id: SessionId
    project_id: ProjectId
    workspace_id: WorkspaceId
    opened_by: str
    created_at: datetime
    stopped_at: datetime | None = None
    tainted_at: datetime | None = None
    tainted_by: str | None = None
    tainted_call: ExecutionId | None = None
    autonomy: Autonomy | None = None


def circle_of(opened_by: str, session_id: SessionId) -> str:
    """Who knows from now on what a call has read.

    The conversation or, since another agent may begin as many sessions as it likes, that agent.
    """
    return session_id if opened_by == OWN_AGENT else f"agent {opened_by}"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a session's calls happen, and under which rules."""

    project: Project
    workspace: Workspace
    session: Session

    @property
    def autonomy(self) -> Autonomy:
        """What was said for this conversation, else for the project."""
        return self.session.autonomy or self.project.autonomy
