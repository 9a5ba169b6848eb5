"""Preparing a copy of an older database to take the place of the present one."""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from handrail.core.audit import AuditHead
from handrail.core.errors import StoreUnavailable
from handrail.core.ids import OWN_AGENT, ProjectId
from handrail.store.migrate import HEAD
from handrail.store.rows import Row, to_micros
from handrail.store.sqlite_file import SqliteError, SqliteFile

_FRESH_WORKSPACES = """
    INSERT OR IGNORE INTO main.workspaces SELECT * FROM present.workspaces AS theirs
    WHERE theirs.project_id IN (SELECT id FROM main.projects)
"""
_FRESH_CLIENTS = """
    INSERT OR IGNORE INTO main.clients SELECT * FROM present.clients AS theirs
    WHERE theirs.workspace_id IN (SELECT id FROM main.workspaces)
"""
_FRESH_TOKENS = """
    INSERT INTO main.tokens
    SELECT * FROM present.tokens AS theirs
    WHERE theirs.id NOT IN (SELECT id FROM main.tokens)
    AND theirs.user_id IN (SELECT id FROM main.users)
    AND (theirs.project_id IS NULL OR theirs.project_id IN (SELECT id FROM main.projects))
    AND (theirs.workspace_id IS NULL OR theirs.workspace_id IN (SELECT id FROM main.workspaces))
    RETURNING id
"""
_REVOKE_TOKENS = """
    UPDATE main.tokens AS ours SET revoked_at = theirs.revoked_at FROM present.tokens AS theirs
    WHERE theirs.id = ours.id AND theirs.revoked_at IS NOT NULL AND ours.revoked_at IS NULL
    RETURNING id
"""
_TAINT_SESSIONS = """
    UPDATE main.sessions AS ours SET tainted_at = theirs.tainted_at,
        tainted_by = theirs.tainted_by, tainted_call = theirs.tainted_call
    FROM present.sessions AS theirs
    WHERE theirs.project_id = ours.project_id AND theirs.id = ours.id
    AND theirs.tainted_at IS NOT NULL AND theirs.opened_by != ?
"""
_FRESH_SESSIONS = """
    INSERT OR IGNORE INTO main.sessions SELECT * FROM present.sessions AS theirs
    WHERE theirs.opened_by != ?
    AND theirs.project_id IN (SELECT id FROM main.projects)
    AND theirs.workspace_id IN (SELECT id FROM main.workspaces)
"""
# An agent that is not trusted stays so only while its session is open; each change in it is asked
# about.
_STOP_SESSIONS = """
    UPDATE main.sessions SET stopped_at = ?
    WHERE stopped_at IS NULL AND tainted_at IS NULL AND opened_by != ?
"""
_LIVE_TOKENS = """
    SELECT id, role, name FROM tokens
    WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?) ORDER BY created_at, id
"""


class LiveToken(NamedTuple):
    id: str
    role: str
    name: str


class Present(NamedTuple):
    """What the database that is replaced says; nothing, where it cannot be read."""

    last_events: dict[ProjectId, int]
    heads: dict[ProjectId, AuditHead]


class Access(NamedTuple):
    """Who may sign in after the restore.

    `revoked` and `added` are tokens that follow the present database and not the backup. Without
    one that can be read, `unsure` are the tokens that may have been revoked since the backup.
    """

    revoked: tuple[str, ...]
    added: tuple[str, ...]
    unsure: tuple[LiveToken, ...]
    sessions_stopped: int


def list_blobs(path: Path) -> list[tuple[str, str]]:
    """The project and the hash of every blob that a database holds."""
    database = SqliteFile(path, read_only=True)
    try:
        rows = database.run("SELECT DISTINCT project_id, sha256 FROM blob_holds")
    finally:
        database.close()
    return [(project_id, sha256) for project_id, sha256 in rows]


def read_present(path: Path) -> Present | None:
    """None where there is no database of this version, or it cannot be read."""
    if not path.exists():
        return None
    try:
        database = SqliteFile(path, read_only=True)
        try:
            if database.run("SELECT version_num FROM alembic_version") != [(HEAD,)]:
                return None
            rows = database.run("SELECT id, last_event, audit_seq, audit_head FROM projects")
            # Read whole: a page that cannot be read is found now.
            database.run("SELECT count(*), max(revoked_at), max(name) FROM tokens")
            database.run("SELECT count(*), max(tainted_by) FROM sessions")
        finally:
            database.close()
    except (SqliteError, StoreUnavailable, OSError):
        return None
    return Present(
        {ProjectId(row[0]): row[1] for row in rows},
        {ProjectId(row[0]): AuditHead(*row[2:]) for row in rows},
    )


def renumber_events(path: Path, present: Present | None, at: datetime) -> None:
    """Drop the events, and number later ones above all that were ever given out.

    A listener that resumes from an old number is told to look again at everything. The clock gives
    the numbers where the present database cannot be read: no server writes a million events each
    second.
    """
    database = SqliteFile(path)
    try:
        database.run("BEGIN IMMEDIATE")
        database.run("DELETE FROM events")
        for project_id, last_event in database.run("SELECT id, last_event FROM projects"):
            known = 0 if present is None else present.last_events.get(ProjectId(project_id), 0)
            above = max(last_event, known, to_micros(at)) + 1
            database.run("UPDATE projects SET last_event = ? WHERE id = ?", (above, project_id))
        database.run("COMMIT")
    finally:
        database.close()


def carry_over_access(path: Path, present: Path | None, at: datetime) -> Access:
    """Let revoked tokens stay revoked, newer ones work, and stop what foreign agents had open.

    A session is stopped because its agent may send a call again that ran after the backup.
    """
    database = SqliteFile(path)
    now = to_micros(at)
    revoked: list[Row] = []
    added: Sequence[Row] = []
    unsure: list[LiveToken] = []
    try:
        if present is not None:
            database.run("ATTACH ? AS present", (str(present),))
        database.run("BEGIN IMMEDIATE")
        if present is not None:
            revoked = database.run(_REVOKE_TOKENS)
            database.run(_FRESH_WORKSPACES)
            database.run(_FRESH_CLIENTS)
            added = database.run(_FRESH_TOKENS)
            database.run(_TAINT_SESSIONS, (OWN_AGENT,))
            database.run(_FRESH_SESSIONS, (OWN_AGENT,))
        else:
            unsure = [LiveToken(*row) for row in database.run(_LIVE_TOKENS, (now,))]
        database.run(_STOP_SESSIONS, (now, OWN_AGENT))
        stopped = database.changes
        database.run("COMMIT")
    finally:
        database.close()
    return Access(
        tuple(row[0] for row in revoked), tuple(row[0] for row in added), tuple(unsure), stopped
    )
