"""Commands within commands: what is known of them, and which words are theirs."""

import re
from collections.abc import Sequence
from typing import Protocol

from handrail.policy.rulebook.reading import Reading

# What `find` has found, and what nobody has seen.
FOUND = "{}"
UNSEEN = "{...}"
# Flags of find behind which a command runs in the folder of each thing that is found.
ELSEWHERE = frozenset({"-execdir", "-okdir"})
_PLACEHOLDER = re.compile(r"[^a-z0-9.=/-]+")


class Inner(Protocol):
    """What is known of commands that are run by others."""

    def knows(self, name: str) -> bool: ...

    def read(self, argv: Sequence[str], at: int) -> Reading:
        """Read a command whose name stands at `at` in the whole line."""
        ...


def end_of_inner(words: Sequence[str], start: int) -> int:
    """At a `;`, or at a `+` right behind what was found; another `+` is a word like any."""
    for at in range(start, len(words)):
        if words[at] == ";" or (words[at] == "+" and words[at - 1] == FOUND):
            return at
    return len(words)


def may_stand_for_words(placeholder: str, name: str) -> bool:
    """Whether it is no part of the command's name, nor of any other name that we know."""
    return placeholder not in name and _PLACEHOLDER.fullmatch(placeholder) is not None


def unclear_scripts(
    reading: Reading, placeholders: Sequence[str], *, is_elsewhere: bool
) -> list[str]:
    """Those of its scripts of which nobody can tell which files they are.

    What is found or read takes the place of some; others lie in folders that are only found.
    """
    marks = (FOUND, UNSEEN, *placeholders)
    return [
        script for script in reading.scripts if is_elsewhere or any(one in script for one in marks)
    ]
