"""Who is speaking: tokens and the principals behind them."""

import hashlib
import secrets
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from handrail.core.ids import ProjectId, TokenId, UserId, WorkspaceId


class Role(StrEnum):
    """A user decides, a client decides for its person and executes, an agent only asks.

    An approver is another person, whom the owner of a project lets answer its questions.
    """

    USER = "user"
    CLIENT = "client"
    AGENT = "agent"
    APPROVER = "approver"


@dataclass(frozen=True, slots=True)
class Token:
    """A credential as it is stored: only the hash of its secret is kept.

    `subject` is the user, client, agent or approver that speaks with it; `user_id` is the owner of
    the project. A user's token opens all of the user's projects, so it names none. An approver's
    token has the approver's name, and so do the tokens of their browsers.
    """

    id: TokenId
    secret_hash: str
    role: Role
    subject: str
    user_id: UserId
    project_id: ProjectId | None
    workspace_id: WorkspaceId | None
    name: str
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None

    @property
    def principal(self) -> "Principal":
        return Principal(self.role, self.subject, self.user_id, self.project_id, self.workspace_id)

    def is_live(self, now: datetime) -> bool:
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)


@dataclass(frozen=True, slots=True)
class Principal:
    """Who speaks, and for whom; bound to one project and workspace unless it is a user."""

    role: Role
    subject: str
    user_id: UserId
    project_id: ProjectId | None = None
    workspace_id: WorkspaceId | None = None


def new_secret(role: Role) -> str:
    """Make the text a person or program presents; its start says what it is, should it leak."""
    return f"hr_{role}_{secrets.token_urlsafe(32)}"


def hash_secret(secret: str) -> str:
    """The secret has 256 bits of chance, so that one plain hash is enough to keep it safe."""
    return hashlib.sha256(secret.encode()).hexdigest()
