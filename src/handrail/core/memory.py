"""What agents remember for one person."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, Protocol

from handrail.core.ids import UserId

# Bounds of one memory, and of how many one person has.
MOST_KEY_CHARS = 200
MOST_CONTENT_CHARS = 20_000
MOST_CATEGORY_CHARS = 60
MOST_MEMORIES = 20_000


@dataclass(frozen=True, slots=True)
class Memory:
    """`tainted` names what made it untrusted when it was stored; None where nothing did.

    `stored_by` is the id of the agent or person that stored it last; None if it is older than
    this field.
    """

    key: str
    content: str
    category: str
    created_at: datetime
    updated_at: datetime
    tainted: str | None = None
    stored_by: str | None = None

    @property
    def digest(self) -> str:
        """Differs where the content, the category or the author differs."""
        words = json.dumps([self.content, self.category, self.stored_by])
        return hashlib.sha256(words.encode()).hexdigest()


class OthersMemory(NamedTuple):
    """A memory, and in words who stored it."""

    memory: Memory
    author: str


class Memories(Protocol):
    """The memories of one person."""

    async def find_of_another(self, key: str) -> OthersMemory | None:
        """The memory with this key, if another agent or a person stored it."""
        ...

    async def store(
        self,
        key: str,
        content: str,
        category: str,
        tainted: str | None,
        replaces: str | None = None,
    ) -> Memory:
        """Keep it under its key, instead of what was there before.

        A memory of another agent or a person is replaced only if `replaces` is its digest.

        Raises:
            StaleMemoryError: It is not; nothing was changed.
        """
        ...

    async def recall(self, query: str, *, limit: int, category: str | None) -> Sequence[Memory]:
        """The memories that fit, best first; the one with exactly that key before all others."""
        ...

    async def forget(self, key: str) -> bool:
        """Whether there was one."""
        ...


def fault_in_key(key: str) -> str | None:
    """Why nothing can be kept under this key, in words."""
    if fault := _fault_in_line(key, MOST_KEY_CHARS):
        return fault
    if not {".", ".."}.isdisjoint(key.split("/")):
        return "a key cannot have `.` or `..` between slashes; choose another"
    return None


def fault_in_category(category: str) -> str | None:
    """Why this can be no category, in words."""
    return _fault_in_line(category, MOST_CATEGORY_CHARS)


def fault_in_content(content: str) -> str | None:
    """Why this cannot be kept, in words."""
    return _fault_in_text(content, MOST_CONTENT_CHARS)


def _fault_in_line(text: str, most: int) -> str | None:
    if fault := _fault_in_text(text, most):
        return fault
    if not text.isprintable() or text != text.strip():
        return "write it in one line, without spaces around it"
    return None


def _fault_in_text(text: str, most: int) -> str | None:
    if not text.strip():
        return "it is empty"
    if len(text) > most:
        return f"it has {len(text):,} characters; at most {most:,} are kept"
    if any("\ud800" <= char <= "\udfff" for char in text):
        return "it contains half a character (a lone surrogate)"
    return None


@dataclass(frozen=True, slots=True)
class Vector:
    """The meaning of a text as bytes, and what has made it: others cannot compare it."""

    data: bytes
    made_by: str


class Mark(NamedTuple):
    """How far somebody has read the memories of a person, in the order of their changes."""

    updated_at: int = 0
    id: int = 0


class VectorRow(NamedTuple):
    """What is compared of a memory; without a vector, nobody has made one of this content yet."""

    mark: Mark
    key: str
    category: str
    vector: Vector | None


class MemoryReads(Protocol):
    """What can be asked of a store about memories. It never mixes those of two people."""

    async def find_memory(self, user_id: UserId, key: str) -> Memory | None: ...

    async def list_memories(
        self, user_id: UserId, *, category: str | None, limit: int
    ) -> list[Memory]:
        """Memories of a person, the ones that were changed last first."""
        ...

    async def search_memories(
        self, user_id: UserId, words: Sequence[str], *, category: str | None, limit: int
    ) -> list[Memory]:
        """Memories with any of the words in them, those that fit best first.

        Words are letters and digits, and nothing in them is a command.
        """
        ...

    async def list_vectors(self, user_id: UserId, after: Mark, *, limit: int) -> list[VectorRow]:
        """What has changed behind a mark, in order."""
        ...

    async def count_memories(self, user_id: UserId) -> int: ...
