"""Analytics: what people and rules have decided, and what they might decide once for all."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from handrail.core.analytics import (
    NO_WAITS,
    AnalyticsReads,
    AskedCount,
    ErrorCount,
    LastAsked,
    Outcome,
    PassCount,
    Span,
    Waits,
    start_of,
)
from handrail.core.ids import ProjectId, UserId
from handrail.core.model import Usage
from handrail.core.suggestion import Suggestion
from handrail.policy.suggestion import suggest_refusal

MOST_PASSES = 20
MOST_CLASSES = 12
MOST_ERRORS = 30


@dataclass(frozen=True, slots=True)
class AskedClass:
    """A class of calls that people were asked about, and the rule that would end that."""

    counts: AskedCount
    last: LastAsked | None
    refusal: Suggestion | None


@dataclass(frozen=True, slots=True)
class Report:
    """`outcomes` and `waits` have one entry for each bucket, `usage` one for each day."""

    span: Span
    outcomes: Sequence[dict[str, int]]
    waits: Sequence[Waits]
    all_waits: Waits
    passes: Sequence[PassCount]
    asked: Sequence[AskedClass]
    errors: Sequence[ErrorCount]
    usage: Sequence[tuple[str, Usage]]

    @property
    def totals(self) -> dict[str, int]:
        return {one: sum(counts.get(one, 0) for counts in self.outcomes) for one in Outcome}


class Analytics:
    def __init__(self, store: AnalyticsReads):
        self._store = store

    async def report(self, project_id: ProjectId, user_id: UserId, span: Span) -> Report:
        store = self._store
        outcomes: defaultdict[int, dict[str, int]] = defaultdict(dict)
        for hour, outcome, calls in await store.count_outcomes(project_id, span):
            outcomes[hour][outcome] = calls
        waits = await store.measure_waits(project_id, span)
        asked = await store.count_asked(project_id, span, limit=MOST_CLASSES)
        return Report(
            span=span,
            outcomes=[outcomes[hour] for hour in span.starts],
            waits=[waits.get(hour, NO_WAITS) for hour in span.starts],
            all_waits=await store.measure_all_waits(project_id, span),
            passes=await store.count_passes(project_id, span, limit=MOST_PASSES),
            asked=[await self._explain(project_id, one) for one in asked],
            errors=await store.count_errors(project_id, span, limit=MOST_ERRORS),
            usage=await self._usage(user_id, span),
        )

    async def _explain(self, project_id: ProjectId, asked: AskedCount) -> AskedClass:
        key = asked.class_key
        last = await self._store.find_last_asked(project_id, key) if key else None
        refusal = suggest_refusal(asked.tool_name, key, last.tool_params if last else {})
        return AskedClass(asked, last, refusal)

    async def _usage(self, user_id: UserId, span: Span) -> list[tuple[str, Usage]]:
        first, last = start_of(span.first).date(), start_of(span.end - 1).date()
        known = dict(await self._store.list_usage(user_id, first.isoformat(), last.isoformat()))
        days = [(first + timedelta(days=n)).isoformat() for n in range((last - first).days + 1)]
        return [(day, known.get(day, Usage())) for day in days]
