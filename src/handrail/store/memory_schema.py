"""The table of memories. Its columns carry the names that `agent_memory` has elsewhere too."""

from sqlalchemy import (
    BigInteger,
    Column,
    Index,
    Integer,
    LargeBinary,
    Table,
    Text,
    UniqueConstraint,
    text,
)

from handrail.store.schema import metadata

agent_memory = Table(
    "agent_memory",
    metadata,
    # Named, because the index of words refers to it, and a hidden one may change in a copy.
    Column("id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True),
    Column("user_id", Text, nullable=False),
    Column("key", Text, nullable=False),
    Column("value", Text, nullable=False),
    Column("category", Text, nullable=False, server_default="general"),
    Column("created_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
    Column("metadata", Text, nullable=False, server_default=text("'{}'")),
    # What made it untrusted, where something did.
    Column("tainted", Text),
    # The meaning of it, and what has made that.
    Column("embedding", LargeBinary),
    Column("embedded_by", Text),
    UniqueConstraint("user_id", "key"),
    Index("agent_memory_by_change", "user_id", "updated_at", "id"),
)
