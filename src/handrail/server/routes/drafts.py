"""Drafts: machines tell which they have, and people list them."""

from starlette.requests import Request
from starlette.responses import Response

from handrail.server.auth import Gate
from handrail.server.direct import CHANGE_PROBLEMS, DirectRoute, json_response
from handrail.server.routes.calls import BASE, MACHINES, PEOPLE
from handrail.server.services import Services
from handrail.wire.drafts import DraftsReceipt, DraftsRequest, DraftsResponse, DraftView

_MAX_BYTES = 4_000_000


class DraftRoutes:
    def __init__(self, services: Services, gate: Gate):
        self._services = services
        self._gate = gate

    def routes(self) -> tuple[DirectRoute, ...]:
        return (
            DirectRoute(
                "GET",
                f"{BASE}/drafts",
                self.list_all,
                PEOPLE,
                "List the drafts on machines that are connected",
                DraftsResponse,
            ),
            DirectRoute(
                "PUT",
                f"{BASE}/drafts",
                self.take,
                MACHINES,
                "Report the drafts that this machine has, and those that have expired",
                DraftsReceipt,
                DraftsRequest,
                CHANGE_PROBLEMS,
            ),
        )

    async def list_all(self, request: Request) -> Response:
        entry = await self._gate.admit(request, *PEOPLE)
        project_id, now = entry.project.id, self._services.clock.now()
        found = self._services.drafts.list_all(project_id)
        store = self._services.store
        ids = {one for draft in found for one in (draft.agent_id, draft.client_id)}
        names = await self._services.names.of(project_id, ids)
        folders = {one.id: one.root for one in await store.list_workspaces(project_id)}
        roots = {one.id: folders[one.workspace_id] for one in await store.list_clients(project_id)}
        views = [
            DraftView.of(
                draft.summary,
                now,
                agent=(draft.agent_id, names.get(draft.agent_id)),
                client=(draft.client_id, names.get(draft.client_id)),
                workspace=roots[draft.client_id],
            )
            for draft in found
        ]
        return json_response(DraftsResponse(drafts=views, now=now).model_dump(mode="json"))

    async def take(self, request: Request) -> Response:
        entry, body = await self._gate.hear(request, DraftsRequest, _MAX_BYTES, *MACHINES)
        await self._services.drafts.take(
            [one.summary for one in body.drafts],
            [one.expired for one in body.expired],
            entry.principal,
            entry.project.id,
        )
        return json_response(DraftsReceipt().model_dump())
