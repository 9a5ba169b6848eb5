"""The statements about tokens, and about what ends with them."""

from sqlalchemy import bindparam, select, union_all, update

from handrail.core.access import Role
from handrail.store.schema import clients, grants, projects, sessions, tokens, users

LIST_TOKENS = (
    select(tokens)
    .where(tokens.c.user_id == bindparam("user_id"))
    .order_by(tokens.c.created_at, tokens.c.id)
)
_PROJECT = bindparam("project_id", type_=clients.c.project_id.type)
LIST_NAMES = union_all(
    select(tokens.c.subject, tokens.c.name).where(
        tokens.c.project_id == _PROJECT, tokens.c.role != Role.CLIENT
    ),
    select(clients.c.id, clients.c.name).where(clients.c.project_id == _PROJECT),
    select(users.c.id, users.c.name)
    .join(projects, projects.c.user_id == users.c.id)
    .where(projects.c.id == _PROJECT),
)
REVOKE_TOKEN = (
    update(tokens)
    .where(tokens.c.id == bindparam("expected_id"), tokens.c.revoked_at.is_(None))
    .values(revoked_at=bindparam("revoked_at"))
)
REVOKE_TOKENS_OF = (
    update(tokens)
    .where(tokens.c.subject == bindparam("expected_subject"), tokens.c.revoked_at.is_(None))
    .values(revoked_at=bindparam("revoked_at"))
)

_OF_THE_AGENT = (
    sessions.c.project_id == bindparam("expected_project"),
    sessions.c.opened_by == bindparam("expected_opener"),
)
STOP_SESSIONS_OF_AGENT = (
    update(sessions)
    .where(*_OF_THE_AGENT, sessions.c.stopped_at.is_(None))
    .values(stopped_at=bindparam("stopped_at"))
)
REVOKE_GRANTS_OF_AGENT = (
    update(grants)
    .where(
        grants.c.project_id == bindparam("expected_project"),
        grants.c.session_id.in_(select(sessions.c.id).where(*_OF_THE_AGENT)),
        grants.c.revoked_at.is_(None),
    )
    .values(revoked_at=bindparam("revoked_at"))
)
