"""Sessions that are not trusted: which they are, and a person's word that one is again."""

from starlette.requests import Request
from starlette.responses import Response

from handrail.core.ids import SessionId
from handrail.plane.decider import Decider
from handrail.server.auth import Gate
from handrail.server.direct import CHANGE_PROBLEMS, USUAL_PROBLEMS, DirectRoute, json_response
from handrail.server.routes.calls import BASE, PEOPLE
from handrail.server.services import Services
from handrail.wire.taints import TaintsResponse, TaintView, TrustRequest, TrustResponse

_MAX_BYTES = 20_000


class TaintRoutes:
    def __init__(self, services: Services, gate: Gate):
        self._services = services
        self._gate = gate

    def routes(self) -> tuple[DirectRoute, ...]:
        return (
            DirectRoute(
                "GET",
                f"{BASE}/chat/taints",
                self.list_all,
                PEOPLE,
                "List the sessions that are not trusted",
                TaintsResponse,
                problems=USUAL_PROBLEMS,
            ),
            DirectRoute(
                "POST",
                f"{BASE}/chat/sessions/{{session_id}}/trust",
                self.trust,
                PEOPLE,
                "Trust a session again that has read suspicious text",
                TrustResponse,
                TrustRequest,
                CHANGE_PROBLEMS,
                body_needed=False,
            ),
        )

    async def list_all(self, request: Request) -> Response:
        entry = await self._gate.admit(request, *PEOPLE)
        found = await self._services.taints.list_all(entry.project.id)
        answer = TaintsResponse(taints=[*map(TaintView.of, found)], total_count=len(found))
        return json_response(answer.model_dump(mode="json"))

    async def trust(self, request: Request) -> Response:
        entry, body = await self._gate.hear(
            request, TrustRequest, _MAX_BYTES, *PEOPLE, empty=TrustRequest()
        )
        session_id, by = await self._services.taints.clear(
            SessionId(request.path_params["session_id"]),
            Decider(entry.principal, entry.project.id, body.channel),
        )
        answer = TrustResponse(session_id=session_id, was_tainted_by=by)
        return json_response(answer.model_dump(mode="json"))
