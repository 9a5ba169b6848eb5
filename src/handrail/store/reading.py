"""The methods in which databases differ when they are read."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from sqlalchemy.sql.elements import ClauseElement

from handrail.store.rows import Row


class Reading(ABC):
    @abstractmethod
    async def _fetch(self, statement: ClauseElement, **values: Any) -> Sequence[Row]:
        """Run one query and return all its rows."""

    @abstractmethod
    async def _fetch_aside(self, statement: ClauseElement, **values: Any) -> Sequence[Row]:
        """The same of what has to look at many rows; meanwhile others go on."""
