"""Questions to people, and their answers."""

from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.requests import Request as PlainRequest
from starlette.responses import Response

from handrail.core.approval import Approval, ApprovalStatus
from handrail.core.errors import BadInput, NotFound
from handrail.core.ids import ApprovalId, ExecutionId
from handrail.core.names import Names
from handrail.plane.decider import Decider
from handrail.plane.survey import Refusal
from handrail.server.auth import Gate
from handrail.server.direct import CHANGE_PROBLEMS, DirectRoute, json_response, open_to
from handrail.server.routes.calls import BASE, DECIDERS, MACHINES, PEOPLE
from handrail.server.services import Services
from handrail.wire.approvals import (
    ApprovalsResponse,
    ApprovalView,
    ApproveRequest,
    AskAgainRequest,
    DecisionResponse,
    FactsRequest,
    RejectRequest,
)
from handrail.wire.payloads import ResultResponse
from handrail.wire.revisions import EditableResponse, ReviseRequest

_MAX_ANSWER_BYTES = 20_000
_MAX_FACTS_BYTES = 2_000_000
# A character takes up to six bytes in JSON.
_MAX_REVISION_BYTES = 8_000_000


def approvals_router(services: Services, gate: Gate) -> APIRouter:
    router = APIRouter(tags=["approvals"])

    @router.get("/approvals", openapi_extra=open_to(DECIDERS))
    async def approvals(
        project_id: str,
        request: Request,
        status: Annotated[
            ApprovalStatus | None, Query(description="Only questions in this state.")
        ] = None,
        limit: Annotated[int, Query(ge=1, le=1000, description="How many, at most.")] = 100,
    ) -> ApprovalsResponse:
        """The questions of this project, newest first."""
        entry = await gate.admit(request, *DECIDERS)
        found = await services.store.list_approvals(entry.project.id, status=status, limit=limit)
        names = await _names_in(services, found)
        views = [ApprovalView.of(approval, names) for approval in found]
        return ApprovalsResponse(approvals=views, total_count=len(views), now=services.clock.now())

    @router.get("/approvals/{approval_id}", openapi_extra=open_to(DECIDERS))
    async def approval(project_id: str, approval_id: str, request: Request) -> ApprovalView:
        """One question with all its evidence and, once there is one, the answer."""
        entry = await gate.admit(request, *DECIDERS)
        found = await services.store.find_approval(ApprovalId(approval_id))
        if found is None or found.project_id != entry.project.id:
            raise NotFound(f"there is no approval {approval_id!r}")
        return ApprovalView.of(found, await _names_in(services, [found]))

    @router.get(
        "/approvals/{approval_id}/unmasked",
        openapi_extra=open_to(DECIDERS),
        responses={409: {}},
    )
    async def unmasked(project_id: str, approval_id: str, request: Request) -> ApprovalView:
        """An open question in full, with nothing masked, from the machine that has the text.

        A question with masked parts is approved with the `digest` given here.
        """
        entry = await gate.admit(request, *DECIDERS)
        found = await services.unmasker.unmask(
            ApprovalId(approval_id), entry.principal, entry.project.id
        )
        return ApprovalView.of(found, await _names_in(services, [found]))

    @router.get(
        "/approvals/{approval_id}/editable",
        openapi_extra=open_to(PEOPLE),
        responses={409: {}},
    )
    async def editable(project_id: str, approval_id: str, request: Request) -> EditableResponse:
        """What a person may change in a call before approving it, with nothing masked."""
        entry = await gate.admit(request, *PEOPLE)
        decider = Decider(entry.principal, entry.project.id, "api")
        found = await services.reviser.read(ApprovalId(approval_id), decider)
        return EditableResponse(
            approval_id=approval_id, tool_params=dict(found.params), digest=found.digest
        )

    return router


async def _names_in(services: Services, approvals: Sequence[Approval]) -> Names:
    ids = [one for approval in approvals for one in (approval.agent_id, approval.client_id)]
    return await services.names.of(approvals[0].project_id, ids) if approvals else {}


class AnswerRoutes:
    """What is sent about a question. Nobody's body is read before they are let in."""

    def __init__(self, services: Services, gate: Gate):
        self._services = services
        self._gate = gate

    def routes(self) -> tuple[DirectRoute, ...]:
        return (
            DirectRoute(
                "POST",
                f"{BASE}/approvals/{{approval_id}}/approve",
                self.approve,
                DECIDERS,
                "Approve this call, or more like it",
                DecisionResponse,
                ApproveRequest,
                CHANGE_PROBLEMS,
            ),
            DirectRoute(
                "POST",
                f"{BASE}/approvals/{{approval_id}}/reject",
                self.reject,
                DECIDERS,
                "Refuse this call; the agent reads the reason",
                DecisionResponse,
                RejectRequest,
                CHANGE_PROBLEMS,
            ),
            DirectRoute(
                "POST",
                f"{BASE}/approvals/{{approval_id}}/revise",
                self.revise,
                PEOPLE,
                "Change what this call does; it is checked again and goes on waiting",
                ApprovalView,
                ReviseRequest,
                CHANGE_PROBLEMS,
            ),
            DirectRoute(
                "POST",
                f"{BASE}/approvals/{{approval_id}}/facts",
                self.facts,
                MACHINES,
                "Report the machine's check of a call, before a person is asked",
                DecisionResponse,
                FactsRequest,
                CHANGE_PROBLEMS,
            ),
            DirectRoute(
                "POST",
                f"{BASE}/tools/{{tool_id}}/ask-again",
                self.ask_again,
                MACHINES,
                "Tell that an approved command would do something else by now",
                ResultResponse,
                AskAgainRequest,
                CHANGE_PROBLEMS,
            ),
        )

    async def ask_again(self, request: PlainRequest) -> Response:
        entry, body = await self._gate.hear(request, AskAgainRequest, _MAX_FACTS_BYTES, *MACHINES)
        if body.facts is None:
            raise BadInput("send `facts`; a client that would not do the call reports that")
        execution = await self._services.surveyor.accept_again(
            ExecutionId(request.path_params["tool_id"]),
            body.epoch,
            body.survey,
            entry.principal,
            entry.project.id,
        )
        told = "The call was judged again"
        receipt = ResultResponse(
            success=True, tool_id=execution.id, status=execution.status, message=told
        )
        return json_response(receipt.model_dump())

    async def approve(self, request: PlainRequest) -> Response:
        entry, body = await self._gate.hear(request, ApproveRequest, _MAX_ANSWER_BYTES, *DECIDERS)
        decided = await self._services.approvals.approve_tool(
            _question(request),
            Decider(entry.principal, entry.project.id, body.channel),
            scope=body.scope,
            uses=body.uses,
            expires_in_seconds=body.expires_in_seconds,
            digest=body.digest,
        )
        return _receipt(decided)

    async def reject(self, request: PlainRequest) -> Response:
        entry, body = await self._gate.hear(request, RejectRequest, _MAX_ANSWER_BYTES, *DECIDERS)
        decided = await self._services.approvals.reject_tool(
            _question(request),
            Decider(entry.principal, entry.project.id, body.channel),
            reason=body.reason,
        )
        return _receipt(decided)

    async def revise(self, request: PlainRequest) -> Response:
        entry, body = await self._gate.hear(request, ReviseRequest, _MAX_REVISION_BYTES, *PEOPLE)
        revised = await self._services.reviser.revise(
            _question(request),
            Decider(entry.principal, entry.project.id, body.channel),
            body.tool_params,
            body.digest,
        )
        view = ApprovalView.of(revised, await _names_in(self._services, [revised]))
        return json_response(view.model_dump(mode="json"))

    async def facts(self, request: PlainRequest) -> Response:
        entry, body = await self._gate.hear(request, FactsRequest, _MAX_FACTS_BYTES, *MACHINES)
        seen = body.survey
        if body.refused is not None:
            seen = Refusal(body.refused.error, body.refused.error_type)
        question = _question(request)
        execution = await self._services.surveyor.accept(
            question, seen, entry.principal, entry.project.id, body.epoch
        )
        receipt = DecisionResponse(approval_id=question, status=execution.status)
        return json_response(receipt.model_dump())


def _question(request: PlainRequest) -> ApprovalId:
    return ApprovalId(request.path_params["approval_id"])


def _receipt(decided: Approval) -> Response:
    receipt = DecisionResponse(approval_id=decided.id, status=decided.status)
    return json_response(receipt.model_dump())
