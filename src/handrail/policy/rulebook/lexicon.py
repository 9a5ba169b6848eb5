"""Words that mean something, found quickly: as they are, by a pattern, or cut short."""

import re
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase, translate
from typing import Generic, TypeVar

T = TypeVar("T")


class Lexicon(Generic[T]):
    """What each word means. `*` in a word stands for anything; most words are none of these."""

    def __init__(self, meanings: Iterable[tuple[str, T]]):
        self._exact: dict[str, list[T]] = {}
        self._patterns: list[tuple[str, T]] = []
        self._options: list[tuple[str, T]] = []
        for word, meaning in meanings:
            if "*" in word:
                self._patterns.append((word, meaning))
            else:
                self._exact.setdefault(word, []).append(meaning)
            if word.startswith("--"):
                self._options.append((word.rstrip("*"), meaning))
        self._any = re.compile("|".join(translate(pattern) for pattern, _ in self._patterns))

    def meanings(self, word: str, *, is_whole: bool = False) -> Sequence[T]:
        """What a word means, or could mean if it is short for another; unless it `is_whole`."""
        found: Sequence[T] = self._exact.get(word, ())
        if self._patterns and self._any.match(word):
            fitting = [what for pattern, what in self._patterns if fnmatchcase(word, pattern)]
            found = [*found, *fitting]
        if self._options and not is_whole and len(word) > len("--") and word.startswith("--"):
            # Most programs take `--out` for `--output`.
            longer = [what for option, what in self._options if option.startswith(word)]
            found = [*found, *longer]
        return list(dict.fromkeys(found)) if len(found) > 1 else found
