"""Skills: texts that tell an agent how to do something well."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

MOST_NAME_CHARS = 64


@dataclass(frozen=True, slots=True)
class Skill:
    """`keywords` are words of a message that call for it, besides those of its name."""

    name: str
    description: str
    body: str
    builtin: bool = False
    keywords: tuple[str, ...] = ()


class Skills(Protocol):
    """The skills of one person, and those that come with Handrail."""

    def list_all(self) -> Sequence[Skill]: ...

    def find(self, name: str) -> Skill | None: ...
