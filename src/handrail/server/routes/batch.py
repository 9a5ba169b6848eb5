"""Several calls in one request."""

from starlette.requests import Request
from starlette.responses import Response

from handrail.core.ids import CallId, ProjectId, SessionId
from handrail.core.names import Names
from handrail.core.tool import ToolCall
from handrail.plane.batch import Part
from handrail.server.auth import Gate
from handrail.server.direct import CHANGE_PROBLEMS, DirectRoute, json_response
from handrail.server.routes.calls import ASKERS, BASE, MAX_CALL_BYTES
from handrail.server.services import Services
from handrail.wire.batch import BatchRequest, BatchResponse
from handrail.wire.payloads import execution_view


class BatchRoutes:
    def __init__(self, services: Services, gate: Gate):
        self._services = services
        self._gate = gate

    def routes(self) -> tuple[DirectRoute, ...]:
        return (
            DirectRoute(
                "POST",
                f"{BASE}/tools/batch",
                self.batch,
                ASKERS,
                "Propose several calls, in parallel or as a chain",
                BatchResponse,
                BatchRequest,
                CHANGE_PROBLEMS,
                bad_input="Two calls have the same `call_id`, or a chain refers to a call that "
                "does not come before.",
            ),
        )

    async def batch(self, request: Request) -> Response:
        entry, body = await self._gate.hear(request, BatchRequest, MAX_CALL_BYTES, *ASKERS)
        batches = self._services.batches
        run = batches.run_chain if body.chain else batches.run
        calls = _calls(body, entry.project.id)
        parts = await run(
            calls,
            entry.principal,
            wait_seconds=body.wait,
            check=lambda: self._gate.check_again(entry),
        )
        names = await self._services.names.of(entry.project.id, (entry.principal.subject,))
        return json_response(
            {
                "success": all(part.succeeded for part in parts),
                "results": [_view(part, names) for part in parts],
                "total_count": len(parts),
            }
        )


def _calls(body: BatchRequest, project_id: ProjectId) -> list[ToolCall]:
    session_id = SessionId(body.session_id)
    return [
        ToolCall(
            project_id,
            session_id,
            CallId(one.call_id),
            one.tool_name,
            one.tool_params,
            one.reasoning,
        )
        for one in body.calls
    ]


def _view(part: Part, names: Names) -> dict[str, object]:
    execution = None if part.execution is None else execution_view(part.execution, names)
    return {"call_id": part.call_id, "execution": execution, "error": part.error}
