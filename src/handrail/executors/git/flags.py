"""Flags, their values and operands in the words of a git command.

Only listed flags, written in full, are accepted.
"""

from collections.abc import Sequence
from typing import NamedTuple


class Read(NamedTuple):
    """The operands of a command and the names of its flags."""

    operands: tuple[str, ...]
    flags: frozenset[str]


class Flags(NamedTuple):
    """The flags of a command: those without a value, and those with one."""

    alone: frozenset[str]
    valued: frozenset[str]

    def read(self, words: Sequence[str]) -> Read:
        """Tell operands from flags and from their values.

        Raises:
            ValueError: A flag is not listed; the error names it.
        """
        operands: list[str] = []
        flags: set[str] = set()
        ahead = list(reversed(words))
        while ahead:
            word = ahead.pop()
            if word == "--":
                operands += reversed(ahead)
                break
            if not word.startswith("-") or word == "-":
                operands.append(word)
                continue
            names, value = self._long(word) if word.startswith("--") else self._letters(word)
            flags.update(names)
            if value is None and names[-1] in self.valued:
                if not ahead:
                    raise ValueError(word)
                ahead.pop()
        return Read(tuple(operands), frozenset(flags))

    def _long(self, word: str) -> tuple[list[str], str | None]:
        name, mark, value = word.partition("=")
        if name in self.alone and not mark:
            return [name], None
        if name in self.valued:
            return [name], value if mark else None
        positive = f"--{name.removeprefix('--no-')}"
        if mark or not name.startswith("--no-") or positive not in self.alone | self.valued:
            raise ValueError(word)
        return [name], None

    def _letters(self, word: str) -> tuple[list[str], str | None]:
        names: list[str] = []
        for at, letter in enumerate(word[1:], start=2):
            names.append(f"-{letter}")
            if names[-1] in self.valued:
                return names, word[at:] or None
            if names[-1] not in self.alone:
                raise ValueError(word)
        return names, None
