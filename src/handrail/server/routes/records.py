"""What a person looks at: connected machines and the audit."""

from typing import Annotated

from fastapi import APIRouter, Query, Request

from handrail.server.auth import Gate
from handrail.server.direct import open_to
from handrail.server.routes.calls import PEOPLE
from handrail.server.services import Services
from handrail.wire.connections import ClientsResponse, ClientView
from handrail.wire.payloads import AuditResponse, AuditView


def records_router(services: Services, gate: Gate) -> APIRouter:
    router = APIRouter(tags=["records"])

    @router.get("/clients", openapi_extra=open_to(PEOPLE))
    async def clients(project_id: str, request: Request) -> ClientsResponse:
        """The machines registered for this project, and which of them are there."""
        entry = await gate.admit(request, *PEOPLE)
        connections, project = services.connections, entry.project
        folders = {one.id: one for one in await services.store.list_workspaces(project.id)}
        views = [
            ClientView.of(
                client,
                folders[client.workspace_id],
                connected=client.id in connections.connected,
                left_at=connections.client_left_at(client.id),
            )
            for client in await services.store.list_clients(project.id)
        ]
        return ClientsResponse(clients=views, total_count=len(views))

    @router.get("/audit", openapi_extra=open_to(PEOPLE))
    async def audit(
        project_id: str,
        request: Request,
        after: Annotated[int, Query(ge=0, lt=2**63, description="Lines after this one.")] = 0,
        limit: Annotated[int, Query(ge=1, le=1000, description="How many, at most.")] = 100,
    ) -> AuditResponse:
        """The project's chained record, oldest first."""
        entry = await gate.admit(request, *PEOPLE)
        found = await services.store.read_audit(entry.project.id, after=after, limit=limit)
        return AuditResponse(entries=[AuditView.of(line) for line in found])

    return router
