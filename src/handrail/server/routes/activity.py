"""Looking back over calls, on a screen or as a file."""

from collections.abc import AsyncIterator, Iterable, Iterator
from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import StreamingResponse

from handrail.core.activity import Glimpse, Mark
from handrail.core.execution import ToolExecution
from handrail.core.ids import ExecutionId, ProjectId
from handrail.core.ports import Store
from handrail.plane.calls import get_call
from handrail.server.auth import Entry, Gate
from handrail.server.direct import open_to
from handrail.server.routes.calls import DECIDERS
from handrail.server.services import Services
from handrail.wire.activity import (
    MOST_CALLS,
    ActivityQuery,
    ActivityResponse,
    ExportQuery,
    GlimpseView,
    RecordView,
    csv_head,
    lines_of_csv,
    lines_of_json,
    read_mark,
    record_view,
)

_AT_A_TIME = 200
_KINDS = {"jsonl": "application/jsonl", "csv": "text/csv; charset=utf-8"}


def activity_router(services: Services, gate: Gate) -> APIRouter:
    router = APIRouter(tags=["activity"])

    @router.get(
        "/activity",
        openapi_extra=open_to(DECIDERS),
        responses={400: {"description": "`before` or `after` is not a mark of an earlier answer."}},
    )
    async def activity(
        project_id: str, request: Request, query: Annotated[ActivityQuery, Query()]
    ) -> ActivityResponse:
        """The calls there have been, newest first, each at a glance."""
        entry = await gate.admit(request, *DECIDERS)
        project, store = entry.project.id, services.store
        before, after = read_mark(query.before), read_mark(query.after)
        wanted = query.wanted(before, after or await _reach(store, project, query.text, before))
        found = await store.list_activity(project, wanted, limit=query.limit, offset=query.offset)
        count = None
        if query.count:
            count = await store.count_activity(project, wanted, most=MOST_CALLS)
        names = await services.names.of(project, _ids_in(found))
        return ActivityResponse(
            calls=[GlimpseView.of(call, names) for call in found], matching_count=count
        )

    @router.get(
        "/activity/export",
        openapi_extra=open_to(DECIDERS),
        response_class=StreamingResponse,
        responses={200: {"content": {"application/jsonl": {}, "text/csv": {}}}},
    )
    async def export(
        project_id: str, request: Request, query: Annotated[ExportQuery, Query()]
    ) -> StreamingResponse:
        """All of those calls with their results, as a file."""
        entry = await gate.admit(request, *DECIDERS)
        headers = {
            "content-disposition": f'attachment; filename="handrail-activity.{query.format}"',
            "cache-control": "no-store",
            "x-content-type-options": "nosniff",
        }
        return StreamingResponse(
            _file(services, gate, entry, query), 200, headers, _KINDS[query.format]
        )

    @router.get("/activity/{tool_id}", openapi_extra=open_to(DECIDERS))
    async def record(project_id: str, tool_id: str, request: Request) -> RecordView:
        """One call with all that people may know of it."""
        entry = await gate.admit(request, *DECIDERS)
        found = await get_call(services.store, ExecutionId(tool_id), entry.project.id)
        names = await services.names.of(entry.project.id, _ids_in([found]))
        return RecordView.model_validate(record_view(found, names))

    return router


def _ids_in(calls: Iterable[Glimpse | ToolExecution]) -> Iterator[str | None]:
    for call in calls:
        yield call.agent_id
        yield call.client_id


async def _file(
    services: Services, gate: Gate, entry: Entry, query: ExportQuery
) -> AsyncIterator[bytes]:
    """The file in parts, for as long as the one who asked may read it."""
    store, project, before = services.store, entry.project.id, None
    after = await _reach(store, project, query.text, before)
    written = lines_of_csv if query.format == "csv" else lines_of_json
    yield csv_head() if query.format == "csv" else b""
    while await gate.is_still_good(entry):
        found = await store.list_records(project, query.wanted(before, after), limit=_AT_A_TIME)
        yield written(found, await services.names.of(project, _ids_in(found)))
        if len(found) < _AT_A_TIME:
            return
        before = Mark(found[-1].created_at, found[-1].id)


async def _reach(
    store: Store, project_id: ProjectId, text: str | None, before: Mark | None
) -> Mark | None:
    """How far back is looked: every row is read for a text, and that takes its time."""
    if text is None:
        return None
    return await store.find_mark(project_id, before=before, distance=MOST_CALLS)
