"""What was decided, waited for and used, in numbers for a person."""

import re
from typing import Annotated

from fastapi import APIRouter, Query, Request
from pydantic import AwareDatetime, BeforeValidator

from handrail.core.analytics import Bucket, Span, start_of
from handrail.plane.analytics import Analytics, Report
from handrail.server.auth import Gate
from handrail.server.direct import open_to
from handrail.server.routes.calls import PEOPLE
from handrail.server.services import Services
from handrail.wire.analytics import (
    AnalyticsResponse,
    AskedView,
    DecisionPoint,
    ErrorView,
    OutcomesView,
    PassView,
    TokenDay,
    TokensView,
    WaitPoint,
    WaitsView,
)


def _written_out(value: object) -> object:
    """A bare number would pass for seconds; nobody means that."""
    if isinstance(value, str) and not _DAY_FIRST.match(value):
        raise ValueError("write a moment as 2026-11-17T08:00:00Z")
    return value


_DAY_FIRST = re.compile(r"\d{4}-\d\d-\d\dT")
Moment = Annotated[AwareDatetime, BeforeValidator(_written_out)]


def analytics_router(services: Services, gate: Gate) -> APIRouter:
    router = APIRouter(tags=["analytics"])
    analytics = Analytics(services.store)

    @router.get(
        "/analytics",
        openapi_extra=open_to(PEOPLE),
        responses={
            400: {
                "description": "`from` is not before `to`, they are more than 31 days apart by "
                "`hour` or 366 by `day`, or one of them is not between 1970 and 3000."
            }
        },
    )
    async def analyse(
        project_id: str,
        request: Request,
        start: Annotated[
            Moment | None,
            Query(alias="from", description="From the bucket of this moment on; 7 days before."),
        ] = None,
        end: Annotated[
            Moment | None,
            Query(alias="to", description="Up to the bucket of this moment; now unless said."),
        ] = None,
        bucket: Annotated[
            Bucket, Query(description="`hour`, for at most 31 days, or `day`, for at most 366.")
        ] = Bucket.HOUR,
    ) -> AnalyticsResponse:
        """What was decided, how long that took, what failed and what was used."""
        entry = await gate.admit(request, *PEOPLE)
        span = Span.between(start, end or services.clock.now(), bucket)
        who = entry.principal.user_id
        report = await analytics.report(entry.project.id, who, span)
        names = {
            str(client.id): client.name
            for client in await services.store.list_clients(entry.project.id)
        }
        budget = await services.affairs.about(who, entry.project.id).budget()
        waiting = (await services.store.count_open_questions()).get(entry.project.id, 0)
        return _tell(report, names, budget.limit, waiting)

    return router


def _tell(
    report: Report, names: dict[str, str], limit: int | None, waiting: int
) -> AnalyticsResponse:
    moments = [start_of(hour) for hour in report.span.starts]
    return AnalyticsResponse(
        starts_at=moments[0],
        ends_at=start_of(report.span.end),
        bucket=report.span.bucket,
        totals=OutcomesView(**report.totals),
        decisions=[
            DecisionPoint(at=at, **(dict.fromkeys(report.totals, 0) | counts))
            for at, counts in zip(moments, report.outcomes, strict=True)
        ],
        waiting=waiting,
        waits=WaitsView(**report.all_waits._asdict()),
        wait_points=[
            WaitPoint(at=at, **waits._asdict())
            for at, waits in zip(moments, report.waits, strict=True)
        ],
        passes=[PassView.of(one) for one in report.passes],
        asked=[AskedView.of(one.counts, one.last, one.refusal) for one in report.asked],
        errors=[ErrorView.of(one, names) for one in report.errors],
        tokens=TokensView(
            limit_tokens=limit, days=[TokenDay.of(day, used) for day, used in report.usage]
        ),
    )
