"""Searching the files of a workspace for text."""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Match:
    """A line that a search has found; `column` counts characters, from 1."""

    path: str
    line: int
    column: int
    text: str


@dataclass(frozen=True, slots=True)
class Found:
    """The first matches, and how many there are; `cut_short` says why some may be missing."""

    matches: tuple[Match, ...]
    total: int
    cut_short: str | None = None


@dataclass(frozen=True, slots=True)
class Query:
    """A regular expression, and a pattern for the files to search; by default all files."""

    pattern: str
    case_sensitive: bool = True
    file_pattern: str | None = None


class Searches(Protocol):
    """Looking for text in the files of the workspace."""

    async def search(self, query: Query, path: str, *, most: int) -> Found:
        """The lines of a file, or of the files below a folder, that match.

        Raises:
            BadInput: The pattern is no regular expression.
            PathValidationError: The path leads outside, or is protected under its true name.
        """
        ...
