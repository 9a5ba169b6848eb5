"""What can be asked of a store about memories."""

from collections.abc import Sequence

from handrail.core.ids import UserId
from handrail.core.memory import Mark, Memory, VectorRow
from handrail.store import memory_statements as statements
from handrail.store.memory_rows import read_memory, read_vector
from handrail.store.reading import Reading


class MemoryReads(Reading):
    async def find_memory(self, user_id: UserId, key: str) -> Memory | None:
        found = await self._fetch(statements.FIND_MEMORY, user_id=user_id, key=key)
        return read_memory(found[0]) if found else None

    async def list_memories(
        self, user_id: UserId, *, category: str | None, limit: int
    ) -> list[Memory]:
        found = await self._fetch(
            statements.LIST_MEMORIES, user_id=user_id, category=category, limit=limit
        )
        return [read_memory(row) for row in found]

    async def search_memories(
        self, user_id: UserId, words: Sequence[str], *, category: str | None, limit: int
    ) -> list[Memory]:
        if not words:
            return []
        found = await self._fetch(
            statements.SEARCH_MEMORIES,
            user_id=user_id,
            words=_any_of(words),
            category=category,
            limit=limit,
        )
        return [read_memory(row) for row in found]

    async def list_vectors(self, user_id: UserId, after: Mark, *, limit: int) -> list[VectorRow]:
        found = await self._fetch(
            statements.LIST_VECTORS,
            user_id=user_id,
            after_change=after.updated_at,
            after_id=after.id,
            limit=limit,
        )
        return [read_vector(row) for row in found]

    async def count_memories(self, user_id: UserId) -> int:
        found = await self._fetch(statements.COUNT_MEMORIES, user_id=user_id)
        return int(found[0][0])


def _any_of(words: Sequence[str]) -> str:
    """Each word in quotes, so that none is an operator; a quote in it is doubled."""
    return " OR ".join('"' + word.replace('"', '""') + '"' for word in words)
