"""The tables, declared once for every database. Moments are microseconds since 1970, in UTC."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Index,
    Integer,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
    text,
)

metadata = MetaData()

# One spelling for the partial index and for the query that must be seen to fit it.
UNFINISHED = text("status IN ('pending', 'awaiting_approval', 'approved', 'executing')")
OPEN = text("status IN ('approved', 'executing')")
PENDING = text("status = 'pending'")
OF_A_CLASS = text("class_key IS NOT NULL")
PASSING = text("purpose != 'result'")


def _moment(name: str, *, nullable: bool = False) -> Column[int]:
    return Column(name, BigInteger, nullable=nullable)


def _text(name: str, *, nullable: bool = False) -> Column[str]:
    return Column(name, Text, nullable=nullable)


users = Table(
    "users",
    metadata,
    Column("id", Text, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    _moment("created_at"),
)

projects = Table(
    "projects",
    metadata,
    Column("id", Text, primary_key=True),
    _text("user_id"),
    _text("name"),
    _text("autonomy"),
    _text("digest_salt"),
    _moment("created_at"),
    # The heads of the project's event sequence and audit chain; only the writer moves them.
    Column("last_event", BigInteger, nullable=False, server_default=text("0")),
    Column("audit_seq", BigInteger, nullable=False, server_default=text("0")),
    Column("audit_head", Text, nullable=False, server_default="0" * 64),
    Index("projects_by_user", "user_id"),
)

workspaces = Table(
    "workspaces",
    metadata,
    Column("id", Text, primary_key=True),
    _text("project_id"),
    _text("machine"),
    _text("root"),
    _moment("created_at"),
    Column("policy", Text, nullable=False, server_default=""),
    Column("walls", Text, nullable=False, server_default=""),
    UniqueConstraint("project_id", "machine", "root"),
)

clients = Table(
    "clients",
    metadata,
    Column("id", Text, primary_key=True),
    _text("project_id"),
    _text("workspace_id"),
    _text("name"),
    _moment("created_at"),
    Index("clients_by_project", "project_id"),
)

tokens = Table(
    "tokens",
    metadata,
    Column("id", Text, primary_key=True),
    Column("secret_hash", Text, nullable=False, unique=True),
    _text("role"),
    _text("subject"),
    _text("user_id"),
    _text("project_id", nullable=True),
    _text("workspace_id", nullable=True),
    _text("name"),
    _moment("created_at"),
    _moment("expires_at", nullable=True),
    _moment("revoked_at", nullable=True),
)

sessions = Table(
    "sessions",
    metadata,
    _text("id"),
    _text("project_id"),
    _text("workspace_id"),
    _text("opened_by"),
    _moment("created_at"),
    _moment("stopped_at", nullable=True),
    PrimaryKeyConstraint("project_id", "id"),
)

tool_executions = Table(
    "tool_executions",
    metadata,
    Column("id", Text, primary_key=True),
    _text("user_id"),
    _text("project_id"),
    _text("workspace_id"),
    _text("session_id"),
    _text("call_id"),
    _text("agent_id"),
    _text("tool_name"),
    _text("tool_params"),  # masked
    _text("request_digest"),
    _text("digest"),
    _text("site"),
    _text("effect"),
    _text("autonomy"),
    _text("risk_level"),
    _text("reasons"),
    Column("requires_approval", Boolean, nullable=False),
    _text("status"),
    _moment("created_at"),
    _text("reasoning", nullable=True),
    _text("approval_id", nullable=True),
    _text("client_id", nullable=True),
    Column("epoch", Integer, nullable=False),
    _text("result", nullable=True),
    _text("error", nullable=True),
    _text("error_type", nullable=True),
    Column("execution_time_ms", Integer),
    _moment("approved_at", nullable=True),
    _moment("started_at", nullable=True),
    _moment("completed_at", nullable=True),
    Column("surveyed", Boolean, nullable=False, server_default=text("0")),
    _text("approved_by", nullable=True),
    _text("scope", nullable=True),
    _text("late_result", nullable=True),
    _text("claim_key", nullable=True),
    _text("origins", nullable=True),
    _text("class_key", nullable=True),
    UniqueConstraint("project_id", "session_id", "call_id"),
    Index("tool_executions_by_time", "project_id", "created_at"),
    Index(
        "tool_executions_by_class",
        "project_id",
        "class_key",
        sqlite_where=OF_A_CLASS,
        postgresql_where=OF_A_CLASS,
    ),
    Index(
        "tool_executions_unfinished",
        "workspace_id",
        sqlite_where=UNFINISHED,
        postgresql_where=UNFINISHED,
    ),
    Index(
        "tool_executions_unsurveyed",
        "created_at",
        sqlite_where=PENDING,
        postgresql_where=PENDING,
    ),
    Index(
        "tool_executions_by_approval",
        "approval_id",
        sqlite_where=text("approval_id IS NOT NULL"),
        postgresql_where=text("approval_id IS NOT NULL"),
    ),
)

# Kept apart from the record, and only until the end of the call.
raw_params = Table(
    "raw_params",
    metadata,
    Column("execution_id", Text, primary_key=True),
    _text("params"),
)

# The blobs themselves lie beside the database; one that nobody holds is removed.
blob_holds = Table(
    "blob_holds",
    metadata,
    _text("project_id"),
    _text("sha256"),
    Column("size", BigInteger, nullable=False),
    _text("holder"),
    _text("purpose"),
    _moment("created_at"),
    PrimaryKeyConstraint("project_id", "sha256", "holder", "purpose"),
    Index(
        "blob_holds_passing",
        "purpose",
        sqlite_where=PASSING,
        postgresql_where=PASSING,
    ),
    sqlite_with_rowid=False,
)

tool_approvals = Table(
    "tool_approvals",
    metadata,
    Column("request_id", Text, primary_key=True),
    _text("project_id"),
    _text("user_id"),
    _text("execution_id"),
    _text("session_id"),
    _text("agent_id"),
    _text("tool_name"),
    _text("tool_input"),  # masked
    _text("reasoning", nullable=True),
    _text("description"),
    _text("risk_level"),
    _text("reasons"),
    _text("digest"),
    Column("surveyed", Boolean, nullable=False),
    _text("evidence"),
    _text("class_key", nullable=True),
    _text("class_words", nullable=True),
    Column("timeout_seconds", Integer, nullable=False),
    _moment("created_at"),
    _moment("expires_at"),
    _text("status"),
    _text("responded_by", nullable=True),
    _text("channel", nullable=True),
    _moment("responded_at", nullable=True),
    _text("scope", nullable=True),
    _text("response", nullable=True),
    _text("grant_id", nullable=True),
    _text("metadata", nullable=True),
    Column("estimated_duration_ms", Integer),
    Column("past_calls", Integer),
    Column("past_refused", Integer),
    Index("tool_approvals_by_time", "project_id", "created_at"),
    Index(
        "tool_approvals_by_class",
        "project_id",
        "class_key",
        "created_at",
        sqlite_where=OF_A_CLASS,
        postgresql_where=OF_A_CLASS,
    ),
    Index(
        "tool_approvals_unanswered",
        "expires_at",
        sqlite_where=PENDING,
        postgresql_where=PENDING,
    ),
)

grants = Table(
    "grants",
    metadata,
    Column("id", Text, primary_key=True),
    _text("project_id"),
    _text("session_id"),
    _text("class_key", nullable=True),
    _text("words"),
    _text("max_risk"),
    Column("uses_left", Integer),
    _moment("expires_at", nullable=True),
    _text("approval_id"),
    _text("granted_by"),
    _moment("created_at"),
    _moment("revoked_at", nullable=True),
    Index("grants_by_session", "project_id", "session_id"),
)

events = Table(
    "events",
    metadata,
    _text("project_id"),
    Column("seq", BigInteger, nullable=False),
    _moment("at"),
    _text("kind"),
    _text("execution_id"),
    _text("status"),
    _text("client_id", nullable=True),
    Column("epoch", Integer, nullable=False),
    PrimaryKeyConstraint("project_id", "seq"),
    sqlite_with_rowid=False,
)

audit = Table(
    "audit",
    metadata,
    _text("project_id"),
    Column("seq", BigInteger, nullable=False),
    _moment("at"),
    _text("action"),
    _text("actor"),
    _text("subject"),
    _text("details"),
    _text("previous"),
    _text("hash"),
    PrimaryKeyConstraint("project_id", "seq"),
    sqlite_with_rowid=False,
)
