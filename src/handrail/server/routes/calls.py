"""Calls: asked for by agents, claimed and reported on by clients."""

import asyncio

from starlette.requests import Request
from starlette.responses import Response

from handrail.core.access import Role
from handrail.core.errors import (
    Conflict,
    ErrorType,
    NotFound,
    OfferedAnew,
)
from handrail.core.execution import Status, ToolExecution
from handrail.core.ids import CallId, ExecutionId, SessionId
from handrail.core.tool import ToolCall
from handrail.plane.dispatch import Claim
from handrail.plane.results import Report
from handrail.server.auth import Entry, Gate
from handrail.server.direct import (
    CHANGE_PROBLEMS,
    USUAL_PROBLEMS,
    DirectRoute,
    json_response,
)
from handrail.server.services import Services
from handrail.wire.approvals import ClaimRequest, ClaimResponse
from handrail.wire.payloads import (
    ExecuteRequest,
    ExecutionView,
    NamedResult,
    ResultRequest,
    ResultResponse,
    ResultsRequest,
    ResultsResponse,
    execution_view,
)

BASE = "/my/projects/{project_id}"

ANYONE = tuple(Role)
ASKERS = (Role.AGENT, Role.USER)
# A client's token acts for the person who sits at it. An agent's never decides.
PEOPLE = (Role.USER, Role.CLIENT)
# An approver answers questions and stops calls; everything else is the owner's.
DECIDERS = (*PEOPLE, Role.APPROVER)
MACHINES = (Role.CLIENT,)

# Parameters may be 1 MB besides `content`, a result is at most what a tool shows.
MAX_CALL_BYTES = 8_000_000
_MAX_RESULT_BYTES = 32_000_000
_MAX_CLAIM_BYTES = 1_000


class CallRoutes:
    def __init__(self, services: Services, gate: Gate):
        self._services = services
        self._gate = gate

    def routes(self) -> tuple[DirectRoute, ...]:
        return (
            DirectRoute(
                "POST",
                f"{BASE}/tools/execute",
                self.execute,
                ASKERS,
                "Propose a tool call; answers at once, or after up to `wait` seconds",
                ExecutionView,
                ExecuteRequest,
                CHANGE_PROBLEMS,
            ),
            DirectRoute(
                "POST",
                f"{BASE}/tools/results",
                self.results,
                MACHINES,
                "Report several results in one request",
                ResultsResponse,
                ResultsRequest,
                (*USUAL_PROBLEMS, 413),
            ),
            DirectRoute(
                "POST",
                f"{BASE}/tools/{{tool_id}}/result",
                self.result,
                MACHINES,
                "Report the result of a call",
                ResultResponse,
                ResultRequest,
                CHANGE_PROBLEMS,
            ),
            DirectRoute(
                "POST",
                f"{BASE}/tools/{{tool_id}}/claim",
                self.claim,
                MACHINES,
                "Claim a call before running it",
                ClaimResponse,
                ClaimRequest,
                CHANGE_PROBLEMS,
            ),
        )

    async def execute(self, request: Request) -> Response:
        entry, body = await self._gate.hear(request, ExecuteRequest, MAX_CALL_BYTES, *ASKERS)
        call = ToolCall(
            entry.project.id,
            SessionId(body.session_id),
            CallId(body.call_id),
            body.tool_name,
            body.tool_params,
            body.reasoning,
        )
        execution = await self._services.executor.propose(call, entry.principal)
        if body.wait:
            execution = await self._services.executor.settle_for(
                execution, body.wait, lambda: self._gate.check_again(entry)
            )
        names = await self._services.names.of(entry.project.id, (execution.agent_id,))
        return json_response(execution_view(execution, names))

    async def result(self, request: Request) -> Response:
        entry, body = await self._gate.hear(request, ResultRequest, _MAX_RESULT_BYTES, *MACHINES)
        ended = await self._accept(entry, request.path_params["tool_id"], body)
        return json_response(_receipt_for(ended))

    async def results(self, request: Request) -> Response:
        entry, body = await self._gate.hear(request, ResultsRequest, _MAX_RESULT_BYTES, *MACHINES)
        receiving = [self._receive(entry, one) for one in body.results]
        # Side by side, so that they share a commit; one alone needs no task of its own.
        alone = len(receiving) == 1
        receipts = [await receiving[0]] if alone else await asyncio.gather(*receiving)
        return json_response({"results": receipts})

    async def claim(self, request: Request) -> Response:
        entry, body = await self._gate.hear(request, ClaimRequest, _MAX_CLAIM_BYTES, *MACHINES)
        claimed = await self._services.dispatcher.claim(
            ExecutionId(request.path_params["tool_id"]),
            Claim(body.epoch, body.key),
            entry.principal,
            entry.project.id,
        )
        receipt = ClaimResponse(tool_id=claimed.id, status=claimed.status, epoch=claimed.epoch)
        return json_response(receipt.model_dump())

    async def _receive(self, entry: Entry, one: NamedResult) -> dict[str, object]:
        try:
            ended = await self._accept(entry, one.tool_id, one)
        except OfferedAnew as error:
            return _receipt(one.tool_id, "offered_anew", error.message, success=False)
        except (NotFound, Conflict) as error:
            return _receipt(one.tool_id, "rejected", error.message, success=False)
        return _receipt_for(ended)

    async def _accept(self, entry: Entry, tool_id: str, body: ResultRequest) -> ToolExecution:
        failed = body.status == "failed"
        report = Report(
            execution_id=ExecutionId(tool_id),
            status=Status.FAILED if failed else Status.COMPLETED,
            epoch=body.epoch,
            result=body.result,
            error=body.error,
            error_type=body.error_type or (ErrorType.EXECUTION if failed else None),
            execution_time_ms=body.execution_time_ms,
        )
        return await self._services.receiver.accept(report, entry.principal, entry.project.id)


def _receipt_for(ended: ToolExecution) -> dict[str, object]:
    if ended.late_result is not None:
        return _receipt(ended.id, ended.status, "The call had ended; this is kept beside its end")
    return _receipt(ended.id, ended.status, "Tool result processed")


def _receipt(tool_id: str, status: str, message: str, *, success: bool = True) -> dict[str, object]:
    return {"success": success, "tool_id": tool_id, "status": status, "message": message}
