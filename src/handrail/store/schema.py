"""The tables of people and calls, declared once for every database."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Index,
    Integer,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
    text,
)

from handrail.store.columns import metadata, moment, words

# One spelling for the partial index and for the query that must be seen to fit it.
UNFINISHED = text("status IN ('pending', 'awaiting_approval', 'approved', 'executing')")
OPEN = text("status IN ('approved', 'executing')")
PENDING = text("status = 'pending'")
OF_A_CLASS = text("class_key IS NOT NULL")
LASTING = text("agent_id IS NOT NULL AND revoked_at IS NULL")
PASSING = text("purpose != 'result'")
CAN_UNDO = text("can_undo IS NOT NULL")
WITH_RESULT = text("(result IS NOT NULL OR late_result IS NOT NULL)")


users = Table(
    "users",
    metadata,
    Column("id", Text, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    moment("created_at"),
)

projects = Table(
    "projects",
    metadata,
    Column("id", Text, primary_key=True),
    words("user_id"),
    words("name"),
    words("autonomy"),
    words("digest_salt"),
    moment("created_at"),
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
    words("project_id"),
    words("machine"),
    words("root"),
    moment("created_at"),
    Column("policy", Text, nullable=False, server_default=""),
    Column("walls", Text, nullable=False, server_default=""),
    UniqueConstraint("project_id", "machine", "root"),
)

clients = Table(
    "clients",
    metadata,
    Column("id", Text, primary_key=True),
    words("project_id"),
    words("workspace_id"),
    words("name"),
    moment("created_at"),
    Index("clients_by_project", "project_id"),
)

tokens = Table(
    "tokens",
    metadata,
    Column("id", Text, primary_key=True),
    Column("secret_hash", Text, nullable=False, unique=True),
    words("role"),
    words("subject"),
    words("user_id"),
    words("project_id", nullable=True),
    words("workspace_id", nullable=True),
    words("name"),
    moment("created_at"),
    moment("expires_at", nullable=True),
    moment("revoked_at", nullable=True),
)

sessions = Table(
    "sessions",
    metadata,
    words("id"),
    words("project_id"),
    words("workspace_id"),
    words("opened_by"),
    moment("created_at"),
    moment("stopped_at", nullable=True),
    moment("tainted_at", nullable=True),
    words("tainted_by", nullable=True),
    words("tainted_call", nullable=True),
    words("autonomy", nullable=True),
    PrimaryKeyConstraint("project_id", "id"),
)

tool_executions = Table(
    "tool_executions",
    metadata,
    Column("id", Text, primary_key=True),
    words("user_id"),
    words("project_id"),
    words("workspace_id"),
    words("session_id"),
    words("call_id"),
    words("agent_id"),
    words("tool_name"),
    words("tool_params"),  # masked
    words("request_digest"),
    words("digest"),
    words("site"),
    words("effect"),
    words("autonomy"),
    words("risk_level"),
    words("reasons"),
    Column("requires_approval", Boolean, nullable=False),
    words("status"),
    moment("created_at"),
    words("reasoning", nullable=True),
    words("approval_id", nullable=True),
    words("client_id", nullable=True),
    Column("epoch", Integer, nullable=False),
    words("result", nullable=True),
    words("error", nullable=True),
    words("error_type", nullable=True),
    Column("execution_time_ms", Integer),
    moment("approved_at", nullable=True),
    moment("started_at", nullable=True),
    moment("completed_at", nullable=True),
    Column("surveyed", Boolean, nullable=False, server_default=text("0")),
    words("approved_by", nullable=True),
    words("scope", nullable=True),
    words("late_result", nullable=True),
    words("claim_key", nullable=True),
    words("origins", nullable=True),
    words("class_key", nullable=True),
    words("suspicion", nullable=True),
    moment("result_removed_at", nullable=True),
    # The field of `result` that `output` begins with; that part of `output` is stored only there.
    words("output_field", nullable=True),
    Column("exit_code", Integer),
    Column("can_undo", Boolean),
    moment("undone_at", nullable=True),
    words("undone_by", nullable=True),
    words("revision", nullable=True),
    UniqueConstraint("project_id", "session_id", "call_id"),
    # Holds all that calls are looked through by, so that the rows themselves are left alone.
    Index(
        "tool_executions_by_time",
        "project_id",
        "created_at",
        "id",
        "status",
        "risk_level",
        "tool_name",
        "session_id",
        "agent_id",
    ),
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
        "tool_executions_undoable",
        "project_id",
        "created_at",
        "id",
        "session_id",
        sqlite_where=CAN_UNDO,
        postgresql_where=CAN_UNDO,
    ),
    Index(
        "tool_executions_by_approval",
        "approval_id",
        sqlite_where=text("approval_id IS NOT NULL"),
        postgresql_where=text("approval_id IS NOT NULL"),
    ),
    Index(
        "tool_executions_with_result",
        "project_id",
        "created_at",
        sqlite_where=WITH_RESULT,
        postgresql_where=WITH_RESULT,
    ),
)

# Kept apart from the record, and only until the end of the call.
raw_params = Table(
    "raw_params",
    metadata,
    Column("execution_id", Text, primary_key=True),
    words("params"),
    words("asked", nullable=True),
)

# The blobs themselves lie beside the database; one that nobody holds is removed.
blob_holds = Table(
    "blob_holds",
    metadata,
    words("project_id"),
    words("sha256"),
    Column("size", BigInteger, nullable=False),
    words("holder"),
    words("purpose"),
    moment("created_at"),
    PrimaryKeyConstraint("project_id", "sha256", "holder", "purpose"),
    Index(
        "blob_holds_passing",
        "purpose",
        sqlite_where=PASSING,
        postgresql_where=PASSING,
    ),
    Index("blob_holds_by_holder", "project_id", "holder"),
    sqlite_with_rowid=False,
)

tool_approvals = Table(
    "tool_approvals",
    metadata,
    Column("request_id", Text, primary_key=True),
    words("project_id"),
    words("user_id"),
    words("execution_id"),
    words("session_id"),
    words("agent_id"),
    words("tool_name"),
    words("tool_input"),  # masked
    words("reasoning", nullable=True),
    words("description"),
    words("risk_level"),
    words("reasons"),
    words("digest"),
    Column("surveyed", Boolean, nullable=False),
    words("evidence"),
    words("class_key", nullable=True),
    words("class_words", nullable=True),
    Column("timeout_seconds", Integer, nullable=False),
    moment("created_at"),
    moment("expires_at"),
    words("status"),
    words("responded_by", nullable=True),
    words("channel", nullable=True),
    moment("responded_at", nullable=True),
    words("scope", nullable=True),
    words("response", nullable=True),
    words("grant_id", nullable=True),
    words("metadata", nullable=True),
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
    words("project_id"),
    words("session_id"),
    words("class_key", nullable=True),
    words("words"),
    words("max_risk"),
    Column("uses_left", Integer),
    moment("expires_at", nullable=True),
    words("approval_id"),
    words("granted_by"),
    moment("created_at"),
    moment("revoked_at", nullable=True),
    words("agent_id", nullable=True),
    Index("grants_by_session", "project_id", "session_id"),
    Index(
        "grants_lasting",
        "project_id",
        "agent_id",
        sqlite_where=LASTING,
        postgresql_where=LASTING,
    ),
)

events = Table(
    "events",
    metadata,
    words("project_id"),
    Column("seq", BigInteger, nullable=False),
    moment("at"),
    words("kind"),
    words("execution_id"),
    words("status"),
    words("client_id", nullable=True),
    Column("epoch", Integer, nullable=False),
    PrimaryKeyConstraint("project_id", "seq"),
    sqlite_with_rowid=False,
)

audit = Table(
    "audit",
    metadata,
    words("project_id"),
    Column("seq", BigInteger, nullable=False),
    moment("at"),
    words("action"),
    words("actor"),
    words("subject"),
    words("details"),
    words("previous"),
    words("hash"),
    PrimaryKeyConstraint("project_id", "seq"),
    sqlite_with_rowid=False,
)
