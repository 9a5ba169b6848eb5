"""Handrail itself, shown to a person: settings, model, and what is used today."""

from fastapi import APIRouter, Request

from handrail.core.errors import Forbidden
from handrail.server.auth import Gate
from handrail.server.direct import open_to
from handrail.server.routes.calls import PEOPLE
from handrail.server.services import Services
from handrail.wire.own import BudgetResponse, ConfigResponse, SelfResponse


def own_router(services: Services, gate: Gate) -> APIRouter:
    router = APIRouter(tags=["handrail"])

    @router.get("/config", openapi_extra=open_to(PEOPLE))
    async def config(project_id: str, request: Request) -> ConfigResponse:
        """The settings, for the person who runs the server."""
        entry = await gate.admit(request, *PEOPLE)
        mine = services.affairs.config_of(entry.principal.user_id)
        return ConfigResponse.of(await mine.show())

    @router.get("/self", openapi_extra=open_to(PEOPLE))
    async def itself(project_id: str, request: Request) -> SelfResponse:
        """What Handrail knows of itself: version, model, places, and what is used today."""
        entry = await gate.admit(request, *PEOPLE)
        about = services.affairs.about(entry.principal.user_id, entry.project.id)
        try:
            paths = dict(await about.paths())
        except Forbidden:
            paths = None
        return SelfResponse.of(await about.stats(), await about.model(), paths)

    @router.get("/budget", openapi_extra=open_to(PEOPLE))
    async def budget(project_id: str, request: Request) -> BudgetResponse:
        """What the person's agents have used today, and what they may."""
        entry = await gate.admit(request, *PEOPLE)
        about = services.affairs.about(entry.principal.user_id, entry.project.id)
        return BudgetResponse.of(await about.budget())

    return router
