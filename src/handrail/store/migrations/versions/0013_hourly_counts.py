"""What is counted hour by hour, and what would have been counted so far.

Revision ID: 0013
"""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"

_HOUR = "3600000000"
_COLUMNS = "project_id, kind, hour, name, tool_name, detail, value, calls"

_OUTCOMES = f"""
INSERT INTO hourly_counts ({_COLUMNS})
SELECT project_id, 'outcome', at / {_HOUR}, outcome, '', '', 0, count(*)
FROM (
    SELECT e.project_id,
        CASE WHEN e.approved_at IS NULL THEN e.completed_at ELSE e.approved_at END AS at,
        CASE
            WHEN e.approved_at IS NOT NULL AND a.request_id IS NULL THEN NULL
            WHEN e.approved_at IS NOT NULL THEN 'approved'
            WHEN e.status = 'rejected' THEN 'refused'
            WHEN e.status = 'timeout' THEN 'expired'
            WHEN e.error_type = 'denied' THEN 'denied'
        END AS outcome
    FROM tool_executions AS e
    LEFT JOIN tool_approvals AS a ON a.request_id = e.approval_id
) AS decided
WHERE outcome IS NOT NULL
GROUP BY project_id, at / {_HOUR}, outcome
"""
_PASSES = f"""
INSERT INTO hourly_counts ({_COLUMNS})
SELECT project_id, 'pass', at / {_HOUR}, name, tool_name, '', 0, count(*)
FROM (
    SELECT e.project_id, e.approved_at AS at, e.tool_name,
        CASE
            WHEN e.requires_approval THEN coalesce(e.approved_by, '')
            WHEN e.risk_level = 'LOW' THEN 'low_risk'
            ELSE 'full_autonomy'
        END AS name
    FROM tool_executions AS e
    LEFT JOIN tool_approvals AS a ON a.request_id = e.approval_id
    WHERE e.approved_at IS NOT NULL AND a.request_id IS NULL
) AS passed
GROUP BY project_id, at / {_HOUR}, name, tool_name
"""
_ERRORS = f"""
INSERT INTO hourly_counts ({_COLUMNS})
SELECT project_id, 'error', at / {_HOUR}, name, tool_name, detail, 0, count(*)
FROM (
    SELECT project_id, completed_at AS at, tool_name,
        CASE
            WHEN site = 'server' AND approved_at IS NULL THEN ''
            WHEN site = 'server' THEN 'server'
            ELSE coalesce(client_id, '')
        END AS name,
        coalesce(error_type, status) AS detail
    FROM tool_executions
    WHERE (status = 'failed' OR (status = 'timeout' AND approved_at IS NOT NULL))
        AND coalesce(error_type, '') != 'cancelled'
        AND NOT (coalesce(error_type, '') = 'denied' AND approved_at IS NULL)
) AS failed
GROUP BY project_id, at / {_HOUR}, name, tool_name, detail
"""
_ASKED = f"""
INSERT INTO hourly_counts ({_COLUMNS})
SELECT project_id, 'asked', responded_at / {_HOUR}, coalesce(class_key, ''), tool_name, status, 0,
    count(*)
FROM tool_approvals
WHERE responded_at IS NOT NULL
GROUP BY project_id, responded_at / {_HOUR}, coalesce(class_key, ''), tool_name, status
"""
# Rounded to two digits.
_ROUNDED = " ".join(
    f"WHEN waited < 1{'0' * digits} THEN (waited + 5{'0' * (digits - 3)}) / 1{'0' * (digits - 2)}"
    f" * 1{'0' * (digits - 2)}"
    for digits in range(3, 13)
)
_WAITS = f"""
INSERT INTO hourly_counts ({_COLUMNS})
SELECT project_id, 'wait', responded_at / {_HOUR}, '', '', limit_seconds, rounded, count(*)
FROM (
    SELECT project_id, responded_at, CAST(timeout_seconds AS TEXT) AS limit_seconds,
        CASE WHEN waited < 100 THEN waited {_ROUNDED} END AS rounded
    FROM (
        SELECT project_id, responded_at, timeout_seconds,
            CASE WHEN responded_at < created_at THEN 0
                ELSE (responded_at - created_at) / 1000 END AS waited
        FROM tool_approvals
        WHERE responded_at IS NOT NULL AND status IN ('approved', 'rejected')
    ) AS answered
) AS measured
GROUP BY project_id, responded_at / {_HOUR}, limit_seconds, rounded
"""


def upgrade() -> None:
    op.create_table(
        "hourly_counts",
        sa.Column("project_id", sa.Text, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("hour", sa.Integer, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("tool_name", sa.Text, nullable=False),
        sa.Column("detail", sa.Text, nullable=False),
        sa.Column("value", sa.BigInteger, nullable=False),
        sa.Column("calls", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint(
            "project_id", "kind", "hour", "name", "tool_name", "detail", "value"
        ),
        sqlite_with_rowid=False,
    )
    for statement in (_OUTCOMES, _PASSES, _ERRORS, _ASKED, _WAITS):
        op.execute(statement)
