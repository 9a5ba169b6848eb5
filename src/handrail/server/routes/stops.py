"""Ending a call, or all of a session, because a person says so."""

from starlette.requests import Request
from starlette.responses import Response

from handrail.core.ids import ExecutionId, SessionId
from handrail.plane.decider import Decider
from handrail.server.auth import Gate
from handrail.server.direct import CHANGE_PROBLEMS, DirectRoute, json_response
from handrail.server.routes.calls import BASE, DECIDERS
from handrail.server.services import Services
from handrail.wire.payloads import ExecutionView, execution_view
from handrail.wire.stops import CancelRequest, StopRequest, StopResponse

_MAX_BYTES = 20_000


class StopRoutes:
    def __init__(self, services: Services, gate: Gate):
        self._services = services
        self._gate = gate

    def routes(self) -> tuple[DirectRoute, ...]:
        return (
            DirectRoute(
                "POST",
                f"{BASE}/tools/{{tool_id}}/cancel",
                self.cancel,
                DECIDERS,
                "Cancel a call and the command that runs for it",
                ExecutionView,
                CancelRequest,
                CHANGE_PROBLEMS,
                body_needed=False,
            ),
            DirectRoute(
                "POST",
                f"{BASE}/chat/sessions/{{session_id}}/stop",
                self.stop,
                DECIDERS,
                "Stop a session and its calls; it can make no more",
                StopResponse,
                StopRequest,
                CHANGE_PROBLEMS,
                body_needed=False,
            ),
        )

    async def cancel(self, request: Request) -> Response:
        entry, body = await self._gate.hear(
            request, CancelRequest, _MAX_BYTES, *DECIDERS, empty=CancelRequest()
        )
        ended = await self._services.stopper.cancel(
            ExecutionId(request.path_params["tool_id"]),
            Decider(entry.principal, entry.project.id, body.channel),
            reason=body.reason,
        )
        names = await self._services.names.of(entry.project.id, (ended.agent_id,))
        return json_response(execution_view(ended, names))

    async def stop(self, request: Request) -> Response:
        entry, body = await self._gate.hear(
            request, StopRequest, _MAX_BYTES, *DECIDERS, empty=StopRequest()
        )
        session, ended = await self._services.stopper.stop_session(
            SessionId(request.path_params["session_id"]),
            Decider(entry.principal, entry.project.id, body.channel),
        )
        return json_response(StopResponse.of(session, ended).model_dump(mode="json"))
