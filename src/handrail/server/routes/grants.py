"""Standing answers: which there are, and taking one back."""

from fastapi import APIRouter, Request

from handrail.core.grant import Grant
from handrail.core.ids import GrantId, ProjectId
from handrail.server.auth import Gate
from handrail.server.direct import open_to
from handrail.server.routes.calls import PEOPLE
from handrail.server.services import Services
from handrail.wire.approvals import GrantsResponse, GrantView


def grants_router(services: Services, gate: Gate) -> APIRouter:
    router = APIRouter(tags=["grants"])

    @router.get("/grants", openapi_extra=open_to(PEOPLE))
    async def grants(project_id: str, request: Request) -> GrantsResponse:
        """The grants that let calls pass at this moment."""
        entry = await gate.admit(request, *PEOPLE)
        live = await services.grants.list_live(entry.project.id)
        views = await _views(services, entry.project.id, *live)
        return GrantsResponse(grants=views, total_count=len(views))

    @router.delete("/grants/{grant_id}", openapi_extra=open_to(PEOPLE))
    async def revoke(project_id: str, grant_id: str, request: Request) -> GrantView:
        """Take a grant back; what asks from now on is put to a person again."""
        entry = await gate.admit(request, *PEOPLE)
        revoked = await services.grants.revoke(GrantId(grant_id), entry.principal, entry.project.id)
        (view,) = await _views(services, entry.project.id, revoked)
        return view

    return router


async def _views(services: Services, project_id: ProjectId, *grants: Grant) -> list[GrantView]:
    shown = [await services.grants.describe(grant) for grant in grants]
    names = await services.names.of(project_id, (one.agent_id for one in shown))
    return [GrantView.of(*one, names) for one in shown]
