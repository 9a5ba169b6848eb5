"""Undoing what calls have changed: a person asks, and the machine tells what it has undone."""

from collections.abc import Sequence

from starlette.requests import Request
from starlette.responses import Response

from handrail.core.ids import ExecutionId, SessionId
from handrail.plane.decider import Decider
from handrail.plane.undoing import Settled
from handrail.server.auth import Gate
from handrail.server.direct import CHANGE_PROBLEMS, DirectRoute, json_response, query_of
from handrail.server.routes.calls import BASE, DECIDERS, MACHINES
from handrail.server.services import Services
from handrail.wire.undo import (
    CallUndone,
    UndoableQuery,
    UndoableResponse,
    UndoableView,
    UndoneRequest,
    UndoneResponse,
    UndoRequest,
    UndoResponse,
)

_MAX_BYTES = 20_000
_MAX_ANSWER_BYTES = 1_000_000


class UndoRoutes:
    def __init__(self, services: Services, gate: Gate):
        self._services = services
        self._gate = gate

    def routes(self) -> tuple[DirectRoute, ...]:
        return (
            DirectRoute(
                "GET",
                f"{BASE}/undo",
                self.list_all,
                DECIDERS,
                "List the calls that can be undone, or were",
                UndoableResponse,
                parameters=query_of(UndoableQuery),
            ),
            DirectRoute(
                "POST",
                f"{BASE}/tools/{{tool_id}}/undo",
                self.undo,
                DECIDERS,
                "Bring back the files that a call has changed",
                UndoResponse,
                UndoRequest,
                CHANGE_PROBLEMS,
                body_needed=False,
            ),
            DirectRoute(
                "POST",
                f"{BASE}/chat/sessions/{{session_id}}/undo",
                self.undo_session,
                DECIDERS,
                "Bring back the files that the calls of a session have changed, the last one first",
                UndoResponse,
                UndoRequest,
                CHANGE_PROBLEMS,
                body_needed=False,
            ),
            DirectRoute(
                "POST",
                f"{BASE}/tools/undone",
                self.undone,
                MACHINES,
                "Report what became of a request to undo calls",
                UndoneResponse,
                UndoneRequest,
                CHANGE_PROBLEMS,
            ),
        )

    async def list_all(self, request: Request) -> Response:
        entry = await self._gate.admit(request, *DECIDERS)
        query = UndoableQuery.model_validate(dict(request.query_params))
        session_id = None if query.session_id is None else SessionId(query.session_id)
        found = await self._services.undoer.list_all(entry.project.id, session_id)
        names = await self._services.names.of(entry.project.id, (one.agent_id for one in found))
        views = [UndoableView.of(call, names) for call in found]
        answer = UndoableResponse(calls=views, total_count=len(views))
        return json_response(answer.model_dump(mode="json"))

    async def undo(self, request: Request) -> Response:
        decider = await self._hear(request)
        call = ExecutionId(request.path_params["tool_id"])
        return _answer(await self._services.undoer.undo(call, decider))

    async def undo_session(self, request: Request) -> Response:
        decider = await self._hear(request)
        session = SessionId(request.path_params["session_id"])
        return _answer(await self._services.undoer.undo_session(session, decider))

    async def undone(self, request: Request) -> Response:
        entry, body = await self._gate.hear(request, UndoneRequest, _MAX_ANSWER_BYTES, *MACHINES)
        answers = [one.undone for one in body.calls]
        await self._services.undoer.accept(answers, entry.principal, entry.project.id)
        return json_response(UndoneResponse().model_dump())

    async def _hear(self, request: Request) -> Decider:
        entry, body = await self._gate.hear(
            request, UndoRequest, _MAX_BYTES, *DECIDERS, empty=UndoRequest()
        )
        return Decider(entry.principal, entry.project.id, body.channel)


def _answer(settled: Sequence[Settled]) -> Response:
    calls = [CallUndone.of(call, undone) for call, undone in settled]
    success = all(undone.is_undone for _, undone in settled)
    return json_response(UndoResponse(success=success, calls=calls).model_dump(mode="json"))
