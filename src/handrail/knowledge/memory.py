"""Memories: kept in the store for each person, found again by key, by meaning and by words."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from handrail.core.audit import AuditRecord
from handrail.core.change import Change, ForgetMemory, KeepMemory, SetVector, Step
from handrail.core.errors import BadInput, ChangeRefused, StaleMemoryError
from handrail.core.ids import OWN_AGENT, ProjectId, UserId
from handrail.core.memory import (
    MOST_MEMORIES,
    Memory,
    OthersMemory,
    Vector,
    fault_in_category,
    fault_in_content,
    fault_in_key,
)
from handrail.core.ports import Clock, Store
from handrail.knowledge.meaning import Known, Meaning
from handrail.knowledge.minilm import Weights
from handrail.knowledge.words import content_words, names_in

_MOST_QUERY_CHARS = 4_000
# About what the model takes in; of the rest, the words are found all the same.
_MOST_COMPARED_CHARS = 1_200
_PAGE = 500
_MOST_TRIES = 5
_NOT_AS_SEEN = (
    "the memory with this key has changed since it was checked; nothing was done, ask again"
)
# Vectors that are made in passing, of memories from a time without a model.
_MADE_IN_PASSING = 16
# Below this, two sentences have nothing to do with each other.
_LEAST_LIKENESS = 0.15
# What the best hit of the words is worth: enough to decide between two that are equally close,
# never enough to put a phrase before a meaning.
_WORDS_WEIGH = 0.003
# A name such as `HX-4711` or `max_retries` means nothing to the model, and everything to who asks.
_NAMES_WEIGH = 0.5


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose memories, where they are asked for, and by whom.

    What is stored carries `tainted`, whoever stores it; it names what made its session untrusted.
    """

    user_id: UserId
    project_id: ProjectId
    actor: str
    tainted: str | None = None


class MemoryKeeper:
    """All memories of a server. What a tool gets in its hands are those of one person."""

    def __init__(self, store: Store, clock: Clock, weights: Weights | None = None):
        self._store = store
        self._clock = clock
        self._meaning = Meaning(weights or Weights(None, "no model was looked for"))

    @property
    def words_alone(self) -> str | None:
        """Why memories are found by their words alone; None where they are found by meaning."""
        return None if self._meaning.works else self._meaning.why_not

    def close(self) -> None:
        self._meaning.close()

    def of(self, owner: Owner) -> "PersonalMemories":
        return PersonalMemories(owner, self._store, self._clock, self._meaning)


class PersonalMemories:
    """The memories of one person."""

    def __init__(self, owner: Owner, store: Store, clock: Clock, meaning: Meaning):
        self._owner = owner
        self._store = store
        self._clock = clock
        self._meaning = meaning

    async def find_of_another(self, key: str) -> OthersMemory | None:
        """The memory with this key, if another agent or a person stored it."""
        found = await self._store.find_memory(self._owner.user_id, _as_text(key))
        if found is None or self._is_own(found):
            return None
        return OthersMemory(found, await self._author_of(found))

    async def store(
        self,
        key: str,
        content: str,
        category: str = "general",
        tainted: str | None = None,
        replaces: str | None = None,
    ) -> Memory:
        """Keep it under its key, instead of what was there before.

        A memory of another agent or a person is replaced only if `replaces` is its digest.

        Raises:
            BadInput: It is too long, empty, or no text; or there are too many.
            StaleMemoryError: The key is taken by another memory than that.
        """
        _check(key, content, category)
        for _ in range(_MOST_TRIES):
            # Another call may store it between our look and the change.
            with suppress(ChangeRefused):
                return await self._replace(key, content, category, tainted, replaces)
        raise StaleMemoryError(_NOT_AS_SEEN)

    async def _replace(
        self, key: str, content: str, category: str, tainted: str | None, replaces: str | None
    ) -> Memory:
        user_id, now = self._owner.user_id, self._clock.now()
        before = await self._store.find_memory(user_id, key)
        if before is None and await self._store.count_memories(user_id) >= MOST_MEMORIES:
            raise BadInput(f"there are {MOST_MEMORIES:,} memories; forget some first")
        if before is not None and not self._is_own(before) and before.digest != replaces:
            raise StaleMemoryError(_NOT_AS_SEEN)
        made = now if before is None else before.created_at
        doubt = tainted or self._owner.tainted
        memory = Memory(key, content, category, made, now, doubt, self._owner.actor)
        vector = await self._meaning.encode(_told(memory))
        await self._submit(KeepMemory(user_id, memory, vector, before))
        if (known := self._meaning.find_known(user_id)) is not None:
            await self._meaning.put(known, key, category, vector)
        return memory

    async def recall(
        self, query: str, *, limit: int = 5, category: str | None = None
    ) -> Sequence[Memory]:
        """The memories that fit, best first; the one with exactly that key before all others."""
        query = _as_text(query)[:_MOST_QUERY_CHARS].strip()
        category = None if category is None else _as_text(category)
        user_id, wide = self._owner.user_id, max(20, 4 * limit)
        exact = await self._store.find_memory(user_id, query)
        if exact is not None and category not in (None, exact.category):
            exact = None
        by_words = await self._store.search_memories(
            user_id, content_words(query), category=category, limit=wide
        )
        ranked = await self._by_meaning(query, by_words, category=category, limit=wide)
        fitting = by_words if ranked is None else ranked
        if exact is None:
            return fitting[:limit]
        return [exact, *(memory for memory in fitting if memory.key != exact.key)][:limit]

    async def forget(self, key: str) -> bool:
        """Whether there was one."""
        return await self._forget(key)

    async def forget_for_person(self, key: str) -> bool:
        """As `forget`, where no call tells of it: the record does, without the key itself."""
        line = AuditRecord("memory.forgotten", self._owner.actor, self._owner.user_id)
        return await self._forget(key, line)

    async def list_all(self, *, category: str | None, limit: int) -> list[Memory]:
        """The memories that were changed last, first."""
        return await self._store.list_memories(self._owner.user_id, category=category, limit=limit)

    def _is_own(self, memory: Memory) -> bool:
        return memory.stored_by == self._owner.actor

    async def _author_of(self, memory: Memory) -> str:
        """Who stored it, by name where one is known."""
        match memory.stored_by:
            case None:
                return "an unknown agent"
            case str(author) if author == OWN_AGENT:
                return "Handrail's own agent"
            case str(author) if author == self._owner.user_id:
                return (await self._store.get_user(self._owner.user_id)).name
            case str(author):
                tokens = await self._store.list_tokens(self._owner.user_id)
                names = (token.name for token in tokens if token.subject == author)
                return f"the agent {next(names, author)}"

    async def _forget(self, key: str, *audit: AuditRecord) -> bool:
        user_id, key = self._owner.user_id, _as_text(key)
        if await self._store.find_memory(user_id, key) is None:
            return False
        try:
            await self._submit(ForgetMemory(user_id, key), *audit)
        except ChangeRefused:
            return False  # Somebody was faster.
        if (known := self._meaning.find_known(user_id)) is not None:
            await self._meaning.drop(known, key)
        return True

    async def _by_meaning(
        self, query: str, by_words: Sequence[Memory], *, category: str | None, limit: int
    ) -> list[Memory] | None:
        """Ranked by likeness; the words add candidates, and decide between close ones."""
        # The model was made to compare statements.
        vector = await self._meaning.encode(query.rstrip("?")) if query else None
        if vector is None:
            return None
        known = await self._catch_up()
        keys = [memory.key for memory in by_words]
        likeness = await self._meaning.nearest(
            known, vector, category=category, limit=limit, also=keys
        )
        names = names_in(query)
        bonus = {
            memory.key: _WORDS_WEIGH / (1 + place) + _NAMES_WEIGH * _share(names, memory)
            for place, memory in enumerate(by_words)
        }
        scores = {
            key: like + bonus.get(key, 0.0)
            for key, like in likeness.items()
            if like >= _LEAST_LIKENESS or key in bonus
        }
        # What has no vector yet comes last, in the order of the words.
        order = [
            *sorted(scores, key=lambda key: -scores[key]),
            *(k for k in keys if k not in scores),
        ]
        return await self._fetch(order[:limit], by_words)

    async def _fetch(self, keys: Sequence[str], known: Sequence[Memory]) -> list[Memory]:
        at_hand = {memory.key: memory for memory in known}
        found: list[Memory] = []
        for key in keys:
            memory = at_hand.get(key) or await self._store.find_memory(self._owner.user_id, key)
            if memory is not None:
                found.append(memory)
        return found

    async def _catch_up(self) -> Known:
        """Read what the store has changed since the last time."""
        user_id = self._owner.user_id
        known = self._meaning.know(user_id)
        async with known.reading:
            while rows := await self._store.list_vectors(user_id, known.mark, limit=_PAGE):
                await self._meaning.take(known, rows)
            for key in list(known.without)[:_MADE_IN_PASSING]:
                await self._make_vector(known, key)
        return known

    async def _make_vector(self, known: Known, key: str) -> None:
        memory = await self._store.find_memory(self._owner.user_id, key)
        if memory is None:
            await self._meaning.drop(known, key)
            return
        vector: Vector | None = await self._meaning.encode(_told(memory))
        if vector is not None:
            await self._submit(SetVector(self._owner.user_id, memory, vector))
            await self._meaning.put(known, key, memory.category, vector)

    async def _submit(self, step: Step, *audit: AuditRecord) -> None:
        change = Change(self._owner.project_id, self._clock.now(), (step,), audit=audit)
        await self._store.submit(change)


def _told(memory: Memory) -> str:
    """What is compared: a key often says what its content leaves out."""
    return f"{memory.content[:_MOST_COMPARED_CHARS]}\n{memory.key}"


def _share(names: Sequence[str], memory: Memory) -> float:
    """How many of the names stand in a memory, out of all."""
    if not names:
        return 0.0
    text = f"{memory.key}\n{memory.content}".lower()
    return sum(name in text for name in names) / len(names)


def _as_text(text: str) -> str:
    """Half a character, which no database takes, becomes a question mark."""
    return text.encode(errors="replace").decode()


def _check(key: str, content: str, category: str) -> None:
    faults = {
        "key": fault_in_key(key),
        "content": fault_in_content(content),
        "category": fault_in_category(category),
    }
    for name, fault in faults.items():
        if fault is not None:
            raise BadInput(f"{name}: {fault}")
