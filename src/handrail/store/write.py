"""One write of a change."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from sqlalchemy.sql.elements import ClauseElement


class Write(NamedTuple):
    """One statement with its values. Unless `may_miss`, it must touch exactly one row.

    `each` names one of its values, and all that this is to be, one row after the other.
    """

    statement: ClauseElement
    values: dict[str, Any]
    may_miss: bool = False
    each: tuple[str, Sequence[str]] | None = None
