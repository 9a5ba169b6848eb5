"""The event stream, and the heartbeats of the clients that listen to it."""

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from handrail.core.errors import BadInput
from handrail.core.ids import ClientId
from handrail.server.audience import Audiences
from handrail.server.auth import Gate
from handrail.server.direct import DirectRoute, json_response, query_of
from handrail.server.routes.calls import BASE, DECIDERS, MACHINES
from handrail.server.services import Services
from handrail.server.sse import EventStream
from handrail.wire.connections import LEASE_HEADER, HeartbeatResponse, StreamQuery

_LAST_EVENT_ID = {
    "name": "Last-Event-ID",
    "in": "header",
    "schema": {"type": "string", "pattern": "^[0-9]{1,18}$"},
    "description": "The number of the last event that was received.",
}


class StreamRoutes:
    def __init__(self, services: Services, gate: Gate, audiences: Audiences):
        self._services = services
        self._gate = gate
        self._audiences = audiences

    def routes(self) -> tuple[DirectRoute, ...]:
        return (
            DirectRoute(
                "GET",
                f"{BASE}/chat/stream",
                self.stream,
                DECIDERS,
                "Server-sent events; resumes after `Last-Event-ID`",
                "text/event-stream",
                parameters=(_LAST_EVENT_ID, *query_of(StreamQuery)),
            ),
            DirectRoute(
                "POST",
                f"{BASE}/clients/heartbeat",
                self.heartbeat,
                MACHINES,
                "Renew the lease of the client with this token",
                HeartbeatResponse,
            ),
        )

    async def stream(self, request: Request) -> Response:
        entry = await self._gate.admit(request, *DECIDERS)
        query = StreamQuery.model_validate(dict(request.query_params))
        leased = query.heartbeat and entry.principal.role in MACHINES
        last_event_id = _last_event_id(request)
        stream = EventStream(self._services, self._audiences, entry, last_event_id, leased=leased)
        headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
        if leased:
            headers[LEASE_HEADER] = str(self._services.connections.lease_seconds)
        return StreamingResponse(stream.frames(), 200, headers, "text/event-stream")

    async def heartbeat(self, request: Request) -> Response:
        entry = await self._gate.admit(request, *MACHINES)
        connected = self._services.connections.renew(ClientId(entry.principal.subject))
        return json_response(HeartbeatResponse(connected=connected).model_dump())


def _last_event_id(request: Request) -> int | None:
    text = request.headers.get("last-event-id")
    if text is None:
        return None
    if not text.isdecimal() or len(text) > 18:
        raise BadInput("Last-Event-ID is the number of an event of this stream")
    return int(text)
