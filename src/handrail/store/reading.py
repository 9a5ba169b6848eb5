"""The one method in which databases differ when they are read."""

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
    async def _fetch_apart(self, statement: ClauseElement, **values: Any) -> Sequence[Row]:
        """The same for a query that may take long; nobody else waits for it."""
