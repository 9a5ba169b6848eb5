"""What agents remember for a person, found by key, by words and by meaning.

Revision ID: 0009
"""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    op.create_table(
        "agent_memory",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True),
        sa.Column("user_id", sa.Text, nullable=False),
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("value", sa.Text, nullable=False),
        sa.Column("category", sa.Text, nullable=False, server_default="general"),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("updated_at", sa.BigInteger, nullable=False),
        sa.Column("metadata", sa.Text, nullable=False, server_default=sa.text("'{}'")),
        sa.Column("tainted", sa.Text, nullable=True),
        sa.Column("embedding", sa.LargeBinary, nullable=True),
        sa.Column("embedded_by", sa.Text, nullable=True),
        sa.UniqueConstraint("user_id", "key"),
    )
    op.create_index("agent_memory_by_change", "agent_memory", ["user_id", "updated_at", "id"])
    if op.get_context().dialect.name == "sqlite":
        _index_words()


def _index_words() -> None:
    """The words stand in an index of their own, which the table keeps in step by itself."""
    op.execute(
        "CREATE VIRTUAL TABLE agent_memory_fts USING fts5("
        "key, value, content='agent_memory', content_rowid='id', tokenize='porter unicode61')"
    )
    # What is forgotten is to leave no trace in the index either.
    op.execute("INSERT INTO agent_memory_fts(agent_memory_fts, rank) VALUES('secure-delete', 1)")
    old = (
        "INSERT INTO agent_memory_fts(agent_memory_fts, rowid, key, value)"
        " VALUES ('delete', OLD.id, OLD.key, OLD.value)"
    )
    new = "INSERT INTO agent_memory_fts(rowid, key, value) VALUES (NEW.id, NEW.key, NEW.value)"
    for name, event, does in (
        ("added", "INSERT", new),
        ("removed", "DELETE", old),
        ("changed", "UPDATE OF key, value", f"{old}; {new}"),
    ):
        op.execute(
            f"CREATE TRIGGER agent_memory_{name} AFTER {event} ON agent_memory BEGIN {does}; END"
        )
