"""One write of a change."""

from typing import Any, NamedTuple

from sqlalchemy.sql.elements import ClauseElement


class Write(NamedTuple):
    """One statement with its values. Unless `may_miss`, it must touch exactly one row."""

    statement: ClauseElement
    values: dict[str, Any]
    may_miss: bool = False
