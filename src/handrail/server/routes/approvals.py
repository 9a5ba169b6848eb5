"""Questions to people, and their answers."""

from typing import Annotated

from fastapi import APIRouter, Query, Request

from handrail.core.access import Role
from handrail.core.approval import ApprovalStatus
from handrail.core.errors import NotFound
from handrail.core.ids import ApprovalId
from handrail.plane.approvals import Decider
from handrail.plane.survey import Refusal
from handrail.server.auth import Gate
from handrail.server.services import Services
from handrail.wire.approvals import (
    ApprovalsResponse,
    ApprovalView,
    ApproveRequest,
    DecisionResponse,
    FactsRequest,
    RejectRequest,
)

# A client's token acts for the person who sits at it. An agent's never decides.
DECIDERS = (Role.USER, Role.CLIENT)


def approvals_router(services: Services, gate: Gate) -> APIRouter:
    router = APIRouter(tags=["approvals"])
    _add_questions(router, services, gate)
    _add_answers(router, services, gate)
    return router


def _add_questions(router: APIRouter, services: Services, gate: Gate) -> None:
    @router.get("/approvals")
    async def approvals(
        project_id: str,
        request: Request,
        status: ApprovalStatus | None = None,
        limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    ) -> ApprovalsResponse:
        """The questions of this project, newest first."""
        entry = await gate.admit(request, *DECIDERS)
        found = await services.store.list_approvals(entry.project.id, status=status, limit=limit)
        views = [ApprovalView.of(approval) for approval in found]
        return ApprovalsResponse(approvals=views, total_count=len(views))

    @router.get("/approvals/{approval_id}")
    async def approval(project_id: str, approval_id: str, request: Request) -> ApprovalView:
        """One question with all its evidence and, once there is one, the answer."""
        entry = await gate.admit(request, *DECIDERS)
        found = await services.store.find_approval(ApprovalId(approval_id))
        if found is None or found.project_id != entry.project.id:
            raise NotFound(f"there is no approval {approval_id!r}")
        return ApprovalView.of(found)


def _add_answers(router: APIRouter, services: Services, gate: Gate) -> None:
    @router.post("/approvals/{approval_id}/approve")
    async def approve(
        project_id: str, approval_id: str, body: ApproveRequest, request: Request
    ) -> DecisionResponse:
        """Say yes, for this call or for more like it."""
        entry = await gate.admit(request, *DECIDERS)
        decided = await services.approvals.approve_tool(
            ApprovalId(approval_id),
            Decider(entry.principal, entry.project.id, body.channel),
            scope=body.scope,
            uses=body.uses,
            expires_in_seconds=body.expires_in_seconds,
            digest=body.digest,
        )
        return DecisionResponse(approval_id=decided.id, status=decided.status)

    @router.post("/approvals/{approval_id}/reject")
    async def reject(
        project_id: str, approval_id: str, body: RejectRequest, request: Request
    ) -> DecisionResponse:
        """Say no; the reason reaches the agent."""
        entry = await gate.admit(request, *DECIDERS)
        decided = await services.approvals.reject_tool(
            ApprovalId(approval_id),
            Decider(entry.principal, entry.project.id, body.channel),
            reason=body.reason,
        )
        return DecisionResponse(approval_id=decided.id, status=decided.status)

    @router.post("/approvals/{approval_id}/facts")
    async def facts(
        project_id: str, approval_id: str, body: FactsRequest, request: Request
    ) -> DecisionResponse:
        """Tell what the machine holds, before a person is asked."""
        entry = await gate.admit(request, Role.CLIENT)
        seen = body.survey
        if body.refused is not None:
            seen = Refusal(body.refused.error, body.refused.error_type)
        execution = await services.surveyor.accept(
            ApprovalId(approval_id), seen, entry.principal, entry.project.id
        )
        return DecisionResponse(approval_id=approval_id, status=execution.status)
