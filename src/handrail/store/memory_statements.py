"""Statements about memories. Each of them names the person whose memories it is about."""

from sqlalchemy import and_, bindparam, delete, func, or_, select, text, tuple_, update
from sqlalchemy.dialects.postgresql import insert as upsert

from handrail.store.memory_schema import agent_memory

_SEEN = ("key", "value", "category", "created_at", "updated_at", "tainted", "metadata")
_MEMORY = [agent_memory.c[name] for name in _SEEN]
_OF_USER = agent_memory.c.user_id == bindparam("user_id")
_category = bindparam("category", type_=agent_memory.c.category.type)
_IN_CATEGORY = or_(_category.is_(None), agent_memory.c.category == _category)
_EXPECTED = (
    agent_memory.c.user_id == bindparam("expected_user"),
    agent_memory.c.key == bindparam("expected_key"),
)

_kept = upsert(agent_memory).values(
    {
        name: bindparam(name, type_=agent_memory.c[name].type)
        for name in ("user_id", *_SEEN, "embedding", "embedded_by")
    }
)
# When it was first kept stays as it is.
KEEP_MEMORY = _kept.on_conflict_do_update(
    index_elements=["user_id", "key"],
    set_={
        name: _kept.excluded[name]
        for name in (*_SEEN, "embedding", "embedded_by")
        if name not in ("key", "created_at")
    },
    where=and_(
        agent_memory.c.updated_at == bindparam("replaced_at", type_=agent_memory.c.updated_at.type),
        agent_memory.c.value == bindparam("replaced_value", type_=agent_memory.c.value.type),
    ),
)
FORGET_MEMORY = delete(agent_memory).where(*_EXPECTED)
SET_VECTOR = (
    update(agent_memory)
    .where(*_EXPECTED, agent_memory.c.updated_at == bindparam("expected_change"))
    .values(embedding=bindparam("embedding"), embedded_by=bindparam("embedded_by"))
)

FIND_MEMORY = select(*_MEMORY).where(_OF_USER, agent_memory.c.key == bindparam("key"))
LIST_MEMORIES = (
    select(*_MEMORY)
    .where(_OF_USER, _IN_CATEGORY)
    .order_by(agent_memory.c.updated_at.desc(), agent_memory.c.id.desc())
    .limit(bindparam("limit"))
)
LIST_VECTORS = (
    select(
        agent_memory.c.updated_at,
        agent_memory.c.id,
        agent_memory.c.key,
        agent_memory.c.category,
        agent_memory.c.embedding,
        agent_memory.c.embedded_by,
    )
    .where(
        _OF_USER,
        tuple_(agent_memory.c.updated_at, agent_memory.c.id)
        > tuple_(bindparam("after_change"), bindparam("after_id")),
    )
    .order_by(agent_memory.c.updated_at, agent_memory.c.id)
    .limit(bindparam("limit"))
)
COUNT_MEMORIES = select(func.count()).select_from(agent_memory).where(_OF_USER)
# SQLite's own way to search; a hit in the key weighs more than one in the text.
SEARCH_MEMORIES = text(
    "SELECT m.key, m.value, m.category, m.created_at, m.updated_at, m.tainted, m.metadata"
    " FROM agent_memory_fts JOIN agent_memory AS m ON m.id = agent_memory_fts.rowid"
    " WHERE agent_memory_fts MATCH :words AND m.user_id = :user_id"
    " AND (:category IS NULL OR m.category = :category)"
    " ORDER BY bm25(agent_memory_fts, 2.0, 1.0), m.id LIMIT :limit"
)
