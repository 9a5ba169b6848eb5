"""What can be asked of a store about what it has counted."""

import json
from typing import Any

from handrail.core.analytics import (
    NO_WAITS,
    AskedCount,
    ErrorCount,
    LastAsked,
    OutcomeCount,
    PassCount,
    Span,
    Waits,
)
from handrail.core.ids import ProjectId, UserId
from handrail.core.model import Usage
from handrail.core.risk import RiskLevel
from handrail.store import analytics_statements as statements
from handrail.store.reading import Reading


class AnalyticsReads(Reading):
    async def count_outcomes(self, project_id: ProjectId, span: Span) -> list[OutcomeCount]:
        found = await self._fetch_aside(statements.COUNT_OUTCOMES, **_in_buckets(project_id, span))
        return [OutcomeCount(*row) for row in found]

    async def measure_waits(self, project_id: ProjectId, span: Span) -> dict[int, Waits]:
        found = await self._fetch_aside(statements.MEASURE_WAITS, **_in_buckets(project_id, span))
        return {hour: Waits(*rest) for hour, *rest in found}

    async def measure_all_waits(self, project_id: ProjectId, span: Span) -> Waits:
        one_bucket = {**_within(project_id, span), "bucket_hours": span.end + 1}
        found = await self._fetch_aside(statements.MEASURE_WAITS, **one_bucket)
        return Waits(*found[0][1:]) if found else NO_WAITS

    async def count_passes(
        self, project_id: ProjectId, span: Span, *, limit: int
    ) -> list[PassCount]:
        within = _within(project_id, span)
        found = await self._fetch_aside(statements.COUNT_PASSES, **within, limit=limit)
        return [PassCount(*row) for row in found]

    async def count_asked(
        self, project_id: ProjectId, span: Span, *, limit: int
    ) -> list[AskedCount]:
        within = _within(project_id, span)
        found = await self._fetch_aside(statements.COUNT_ASKED, **within, limit=limit)
        return [AskedCount(*row) for row in found]

    async def count_errors(
        self, project_id: ProjectId, span: Span, *, limit: int
    ) -> list[ErrorCount]:
        within = _within(project_id, span)
        found = await self._fetch_aside(statements.COUNT_ERRORS, **within, limit=limit)
        return [ErrorCount(*row) for row in found]

    async def find_last_asked(self, project_id: ProjectId, class_key: str) -> LastAsked | None:
        found = await self._fetch(
            statements.FIND_LAST_ASKED, project_id=project_id, class_key=class_key
        )
        if not found:
            return None
        words, params, risk = found[0]
        return LastAsked(words, json.loads(params), RiskLevel[risk])

    async def list_usage(
        self, user_id: UserId, first_day: str, last_day: str
    ) -> list[tuple[str, Usage]]:
        found = await self._fetch(
            statements.LIST_USAGE, user_id=user_id, first_day=first_day, last_day=last_day
        )
        return [(day, Usage(*used)) for day, *used in found]


def _within(project_id: ProjectId, span: Span) -> dict[str, Any]:
    return {"project_id": project_id, "first_hour": span.first, "end_hour": span.end}


def _in_buckets(project_id: ProjectId, span: Span) -> dict[str, Any]:
    return {**_within(project_id, span), "bucket_hours": span.bucket.hours}
