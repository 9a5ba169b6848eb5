"""Commands within commands: what is known of them, and which words are theirs."""

import re
from collections.abc import Iterable, Sequence
from typing import Protocol

from handrail.policy.rulebook.reading import Reading

# What `find` has found, and what nobody has seen.
FOUND = "{}"
UNSEEN = "{...}"
_PLACEHOLDER = re.compile(r"[^a-z0-9.=/-]+")


class Inner(Protocol):
    """What is known of commands that are run by others."""

    def knows(self, name: str) -> bool: ...

    def read(self, argv: Sequence[str], at: int) -> Reading:
        """Read a command whose name stands at `at` in the whole line."""
        ...


def unseen_in(word: str, placeholders: Iterable[str]) -> str:
    """A word as it may become: what stands in the place of others is seen by nobody."""
    for one in placeholders:
        word = word.replace(one, UNSEEN)
    return word


def is_unseen(word: str) -> bool:
    return FOUND in word or UNSEEN in word


def end_of_inner(words: Sequence[str], start: int) -> int:
    """At a `;`, or at a `+` right behind what was found; another `+` is a word like any."""
    for at in range(start, len(words)):
        if words[at] == ";" or (words[at] == "+" and words[at - 1] == FOUND):
            return at
    return len(words)


def may_stand_for_words(placeholder: str, name: str) -> bool:
    """Whether it is no part of the command's name, nor of any other name that we know."""
    return placeholder not in name and _PLACEHOLDER.fullmatch(placeholder) is not None
