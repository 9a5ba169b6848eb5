"""A rule that a person could add to a policy file, written out."""

from typing import NamedTuple


class Suggestion(NamedTuple):
    """The row, and in words what it would catch: at times that is more than what was asked."""

    text: str
    covers: str
