"""Patterns for the names of files, as people type them: `*.py`, `src/**/*.ts`, `.github`."""

import re
from dataclasses import dataclass

from handrail.core.wildcard import compile_wildcard

# Where in a pattern one can stand after some parts of a path: how many of its own are behind.
Standing = frozenset[int]


@dataclass(frozen=True, slots=True)
class NamePattern:
    """One matcher for each part of a path; None stands for any number of parts."""

    parts: tuple[re.Pattern[str] | None, ...]
    dotted: tuple[bool, ...]

    @classmethod
    def read(cls, text: str, *, recursive: bool) -> "NamePattern":
        """Without a slash it is held against names, at any depth if `recursive`.

        With one it is held against the whole path below the folder, where `**` stands for any
        number of folders; so it goes as deep as it says.
        """
        words = [word for word in text.split("/") if word not in ("", ".")] or ["*"]
        if "/" not in text and recursive:
            words.insert(0, "**")
        if words[-1] == "**":
            words.append("*")
        # Several in a row stand for no more than one.
        words = [
            word for at, word in enumerate(words) if word != "**" or words[at - 1 : at] != ["**"]
        ]
        return cls(
            tuple(None if word == "**" else compile_wildcard(word) for word in words),
            tuple(word.startswith(".") for word in words),
        )

    @property
    def start(self) -> Standing:
        return self._rest(frozenset((0,)))

    def step(self, standing: Standing, name: str) -> Standing:
        """Where one stands after one more part; nowhere means that nothing below can match."""
        hidden = name.startswith(".")
        reached: set[int] = set()
        for at in standing:
            if at == len(self.parts):
                continue
            matcher = self.parts[at]
            if matcher is None:
                if not hidden:
                    reached.add(at)
            elif (self.dotted[at] or not hidden) and matcher.fullmatch(name):
                reached.add(at + 1)
        return self._rest(frozenset(reached))

    def is_match(self, standing: Standing) -> bool:
        return len(self.parts) in standing

    def leads_on(self, standing: Standing) -> bool:
        """Whether something below could still match."""
        return any(at < len(self.parts) for at in standing)

    def matches(self, path: str) -> bool:
        """Whether a whole relative path fits."""
        standing = self.start
        for name in path.split("/"):
            standing = self.step(standing, name)
        return self.is_match(standing)

    def _rest(self, standing: Standing) -> Standing:
        """`**` may stand for no part at all."""
        reached = set(standing)
        for at in sorted(standing):
            while at < len(self.parts) and self.parts[at] is None:
                at += 1
                reached.add(at)
        return frozenset(reached)
