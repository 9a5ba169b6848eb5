"""What tools there are, and what became of the calls."""

from typing import Annotated

from fastapi import APIRouter, Query, Request

from handrail.core.access import Role
from handrail.core.errors import NotFound
from handrail.core.execution import Status
from handrail.core.ids import ExecutionId
from handrail.core.risk import RiskLevel
from handrail.plane.calls import get_call
from handrail.policy.security import APPROVAL_SECONDS
from handrail.server.auth import Gate
from handrail.server.direct import open_to
from handrail.server.routes.calls import ANYONE
from handrail.server.services import Services
from handrail.wire.payloads import (
    ExecutionsResponse,
    ExecutionView,
    ToolsResponse,
    ToolView,
)


def tools_router(services: Services, gate: Gate) -> APIRouter:
    router = APIRouter(tags=["tools"])

    @router.get("/tools/available", openapi_extra=open_to(ANYONE))
    async def available(project_id: str, request: Request) -> ToolsResponse:
        """The tools an agent may ask for."""
        await gate.admit(request, *ANYONE)
        views = [
            ToolView.of(
                tool,
                requires_approval=tool.safety_level is not RiskLevel.LOW,
                timeout_seconds=APPROVAL_SECONDS.get(tool.safety_level, 0),
            )
            for tool in services.executor.tools
        ]
        return ToolsResponse(tools=views, total_count=len(views))

    @router.get("/tools/executions", openapi_extra=open_to(ANYONE))
    async def executions(
        project_id: str,
        request: Request,
        status: Annotated[Status | None, Query(description="Only calls in this state.")] = None,
        limit: Annotated[int, Query(ge=1, le=1000, description="How many, at most.")] = 100,
    ) -> ExecutionsResponse:
        """The latest calls, newest first; an agent sees its own."""
        entry = await gate.admit(request, *ANYONE)
        own = entry.principal.subject if entry.principal.role is Role.AGENT else None
        found = await services.store.list_executions(
            entry.project.id, status=status, agent_id=own, limit=limit
        )
        names = await services.names.of(entry.project.id, (one.agent_id for one in found))
        views = [ExecutionView.of(execution, names).or_its_outline() for execution in found]
        return ExecutionsResponse(executions=views, total_count=len(views))

    @router.get("/tools/{tool_id}", openapi_extra=open_to(ANYONE))
    async def execution(project_id: str, tool_id: str, request: Request) -> ExecutionView:
        """One call: its state and, at the end, its result."""
        entry = await gate.admit(request, *ANYONE)
        own = entry.principal.subject if entry.principal.role is Role.AGENT else None
        found = await get_call(services.store, ExecutionId(tool_id), entry.project.id, own)
        if own not in (None, found.agent_id):
            raise NotFound(f"there is no execution {tool_id!r}")
        names = await services.names.of(entry.project.id, (found.agent_id,))
        return ExecutionView.of(found, names)

    return router
