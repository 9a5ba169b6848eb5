"""Memories as rows, and back."""

import json
from typing import Any

from handrail.core.ids import UserId
from handrail.core.memory import Mark, Memory, Vector, VectorRow
from handrail.store.rows import Row, from_micros, to_micros


def memory_row(user_id: UserId, memory: Memory, vector: Vector | None) -> dict[str, Any]:
    return {
        "user_id": user_id,
        "key": memory.key,
        "value": memory.content,
        "category": memory.category,
        "created_at": to_micros(memory.created_at),
        "updated_at": to_micros(memory.updated_at),
        "tainted": memory.tainted,
        "metadata": json.dumps({"stored_by": memory.stored_by}),
        **vector_row(vector),
    }


def replaced_row(memory: Memory | None) -> dict[str, Any]:
    """What must be there for a memory to take its place."""
    if memory is None:
        return {"replaced_at": None, "replaced_value": None}
    return {"replaced_at": to_micros(memory.updated_at), "replaced_value": memory.content}


def vector_row(vector: Vector | None) -> dict[str, Any]:
    if vector is None:
        return {"embedding": None, "embedded_by": None}
    return {"embedding": vector.data, "embedded_by": vector.made_by}


def read_memory(row: Row) -> Memory:
    key, content, category, created_at, updated_at, tainted, metadata = row
    made, changed = from_micros(created_at), from_micros(updated_at)
    stored_by = json.loads(metadata).get("stored_by")
    return Memory(key, content, category, made, changed, tainted, stored_by)


def read_vector(row: Row) -> VectorRow:
    updated_at, row_id, key, category, data, made_by = row
    vector = None if data is None else Vector(bytes(data), made_by)
    return VectorRow(Mark(updated_at, row_id), key, category, vector)
