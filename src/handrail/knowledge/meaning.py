"""Comparing memories by their meaning, in a thread of its own beside the event loop."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TypeVar

import structlog

from handrail.core.ids import UserId
from handrail.core.memory import Mark, Vector, VectorRow
from handrail.knowledge.embedding import Embedder, VectorTable
from handrail.knowledge.minilm import Weights

log = structlog.get_logger(__name__)

T = TypeVar("T")

# The vectors of 10,000 memories take 15 MB.
_MOST_PEOPLE = 8


@dataclass(slots=True)
class Known:
    """What is in memory of one person: their vectors, up to a mark in the store.

    `without` are the memories of which nobody has made a vector yet.
    """

    mark: Mark = field(default_factory=Mark)
    table: VectorTable = field(default_factory=VectorTable)
    without: dict[str, None] = field(default_factory=dict[str, None])
    reading: asyncio.Lock = field(default_factory=asyncio.Lock)


class Meaning:
    """The model, and the vectors of the people who were asked about last.

    One thread does all of it, so nothing here is touched twice at a time. `why_not` says why
    there is no model; then everything is answered with nothing.
    """

    def __init__(self, weights: Weights):
        self._weights = weights
        self.why_not = weights.why_not
        self._embedder: Embedder | None = None
        self._people: OrderedDict[UserId, Known] = OrderedDict()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="handrail-meaning")

    @property
    def works(self) -> bool:
        return self._weights.folder is not None and not self.why_not

    def close(self) -> None:
        self._thread.shutdown()

    def know(self, user_id: UserId) -> Known:
        known = self._people.setdefault(user_id, Known())
        self._people.move_to_end(user_id)
        while len(self._people) > _MOST_PEOPLE:
            self._people.popitem(last=False)
        return known

    def find_known(self, user_id: UserId) -> Known | None:
        return self._people.get(user_id)

    async def encode(self, text: str) -> Vector | None:
        """The meaning of a text; None where it cannot be told."""
        if not self.works:
            return None
        try:
            data = await self._do(lambda: self._load().encode(text))
        except Exception as error:  # A broken model is no reason to remember nothing.
            self.why_not = f"the model could not be used: {error}"
            log.warning("memory.words_alone", why=self.why_not)
            return None
        return Vector(data, self._weights.made_by)

    async def take(self, known: Known, rows: Sequence[VectorRow]) -> None:
        """Note what the store has told, which is in the order of its changes."""

        def put() -> None:
            for row in rows:
                if row.vector is not None and row.vector.made_by == self._weights.made_by:
                    known.table.put(row.key, row.category, row.vector.data)
                    known.without.pop(row.key, None)
                else:
                    known.table.remove(row.key)
                    known.without[row.key] = None
                known.mark = row.mark

        await self._do(put)

    async def put(self, known: Known, key: str, category: str, vector: Vector | None) -> None:
        def put() -> None:
            if vector is None:
                known.table.remove(key)
                known.without[key] = None
            else:
                known.table.put(key, category, vector.data)
                known.without.pop(key, None)

        await self._do(put)

    async def drop(self, known: Known, key: str) -> None:
        def remove() -> None:
            known.table.remove(key)
            known.without.pop(key, None)

        await self._do(remove)

    async def nearest(
        self,
        known: Known,
        vector: Vector,
        *,
        category: str | None,
        limit: int,
        also: Sequence[str],
    ) -> dict[str, float]:
        return await self._do(
            lambda: known.table.nearest(vector.data, category=category, limit=limit, also=also)
        )

    async def _do(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    def _load(self) -> Embedder:
        if self._embedder is None:
            assert self._weights.folder is not None  # noqa: S101  asked by `works`
            self._embedder = Embedder(self._weights.folder)
        return self._embedder
