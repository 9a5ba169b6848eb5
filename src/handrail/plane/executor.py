"""ToolExecutor: the one path of a call.

Nobody carries a call from room to room: it lies in the store and moves by its state. So
`execute_tool` is two halves, and the second can be called again after a restart, by anyone.
"""

from collections.abc import Awaitable, Callable
from dataclasses import replace

from handrail.core.access import Principal, Role
from handrail.core.audit import AuditRecord, canonical
from handrail.core.change import Change, OpenCall
from handrail.core.digest import digest_request
from handrail.core.errors import (
    BadInput,
    BrokenTool,
    ChangeRefused,
    Conflict,
    ConflictingCall,
    NotFound,
    NotJudged,
    ToolError,
)
from handrail.core.event import EventKind, NewEvent, Topic
from handrail.core.execution import Status, ToolExecution
from handrail.core.ids import ApprovalId, ExecutionId, mint
from handrail.core.ports import Clock, Store
from handrail.core.project import Place
from handrail.core.risk import RiskLevel
from handrail.core.survey import Survey
from handrail.core.tool import Effect, JsonObject, Site, ToolCall, ToolDefinition
from handrail.core.verdict import Ruling
from handrail.plane.approvals import ApprovalManager
from handrail.plane.assessment import Asked, Assessment, Assessor
from handrail.plane.blobs import BlobKeeper
from handrail.plane.call_log import warn_if_denied
from handrail.plane.calls import check_not_removed, check_not_stopped, check_size
from handrail.plane.dispatch import Dispatcher
from handrail.plane.looking import Looker
from handrail.plane.move import Move
from handrail.plane.origins import Origins
from handrail.plane.sessions import SessionOpener, check_owner
from handrail.plane.waiting import WaitingRoom
from handrail.policy.redaction import mask_text
from handrail.tools.registry import ToolRegistry

# How soon a right that was lost is noticed by whoever waits.
_CHECK_SECONDS = 1.0

# Enough to mend a call by; it goes into the record, where nothing can be taken back.
_MOST_ERROR_CHARS = 2_000


class ToolExecutor:
    def __init__(
        self,
        registry: ToolRegistry,
        assessor: Assessor,
        store: Store,
        room: WaitingRoom,
        clock: Clock,
        dispatcher: Dispatcher,
        approvals: ApprovalManager,
        blobs: BlobKeeper,
        looker: Looker,
    ):
        self._registry = registry
        self._assessor = assessor
        self._store = store
        self._room = room
        self._clock = clock
        self._dispatcher = dispatcher
        self._approvals = approvals
        self._blobs = blobs
        self._looker = looker
        self._origins = Origins(store)
        self._sessions = SessionOpener(store, clock)

    @property
    def tools(self) -> list[ToolDefinition]:
        """What an agent may ask for."""
        return [tool.definition for tool in self._registry.offered]

    async def execute_tool(self, call: ToolCall, asker: Principal) -> ToolExecution:
        """Propose a call and wait for its end, without blocking anybody else."""
        execution = await self.propose(call, asker)
        return await self.settle(execution.id)

    async def propose(self, call: ToolCall, asker: Principal) -> ToolExecution:
        """Judge a call and make it durable; the same call again gives the same execution.

        Raises:
            ConflictingCall: The call id was used before with another body.
            Conflict: The call id was used by a call whose record has been removed since.
            Forbidden: The session belongs to another agent.
            TooLarge: The parameters are more than Handrail takes.
            BadInput: They name a blob that is not here.
        """
        call, params_json = await self._weigh(call, asker)
        place = await self._sessions.enter(call, asker)
        move = await self._judge(call, params_json, place, asker)
        execution = move.after
        change = Change(
            project_id=call.project_id,
            at=execution.created_at,
            steps=(
                _opening_of(execution, call, params_json, asker, place),
                *self._blobs.use_in_params(execution, call.tool_params, asker),
                *move.steps,
            ),
            events=move.events,
            audit=(_line_for(execution),),
        )
        try:
            await self._store.submit(change)
        except ChangeRefused:
            if (earlier := await self._asked_before(execution, asker)) is not None:
                return earlier
            await check_not_stopped(self._store, execution)
            await self._blobs.check_params(call, asker)
            # Then the grant it was to pass on was used up meanwhile, or its session tainted.
            return await self.propose(call, asker)
        warn_if_denied(execution)
        return execution

    async def settle(
        self, execution_id: ExecutionId, *, wait_seconds: float | None = None
    ) -> ToolExecution:
        """Wait for the end of a call; its present state when `wait_seconds` have passed."""

        async def look() -> ToolExecution:
            execution = await self._store.find_execution(execution_id)
            if execution is None:
                raise NotFound(f"there is no execution {execution_id}")
            return execution

        return await self._room.wait(
            Topic.execution(execution_id),
            look,
            lambda execution: execution.status.is_final,
            seconds=wait_seconds,
        )

    # The longer name is used in older designs.
    wait_for_tool_result = settle

    async def settle_for(
        self, execution: ToolExecution, seconds: float, check: Callable[[], Awaitable[None]]
    ) -> ToolExecution:
        """Wait likewise, for somebody who may lose the right to: then `check` raises."""
        while seconds > 0 and not execution.status.is_final and not self._room.closed:
            step = min(seconds, _CHECK_SECONDS)
            execution = await self.settle(execution.id, wait_seconds=step)
            seconds -= step
            if not execution.status.is_final:
                await check()
        return execution

    async def _weigh(self, call: ToolCall, asker: Principal) -> tuple[ToolCall, str]:
        """The call under its own name, with what is too large for a row put away, and as JSON."""
        name, params = self._registry.resolve(call.tool_name, call.tool_params)
        if name != call.tool_name or params is not call.tool_params:
            call = replace(call, tool_name=name, tool_params=params)
        tool = self._registry.find(name)
        large = None if tool is None else tool.large
        if large is not None:
            call = await self._blobs.put_away(call, large, asker)
        params_json = canonical(call.tool_params)
        check_size(call.tool_params, params_json, large)
        return call, params_json

    async def _judge(
        self, call: ToolCall, params_json: str, place: Place, asker: Principal
    ) -> Move:
        """The call after judgement: handed out, put to a person, or failed with the reason."""
        request_digest = digest_request(place.project.digest_salt, call.tool_name, params_json)
        masked = await self._mask(call, params_json, asker)
        pending = self._pending(call, masked, request_digest, place, asker)
        try:
            asked = Asked(call.tool_name, call.tool_params, params_json, call.origins)
            assessment = await self._origins.assess(self._assessor, asked, place)
            survey = await self._look(pending, call, assessment, place)
            if survey is not None:
                assessment = await self._origins.assess(self._assessor, asked, place, survey)
        except (BadInput, ToolError, BrokenTool) as error:
            error_text = mask_text(error.message[:_MOST_ERROR_CHARS])
            failed = pending.fail(error.error_type, error_text, pending.created_at)
            return Move(failed, (), (NewEvent.for_everyone(failed, EventKind.STATUS),))
        client_id = self._dispatcher.find_client(pending.workspace_id)
        if client_id is not None and _is_worth_a_look(assessment):
            return _look_first(assessment.judge(pending, client_id))
        return await self._approvals.rule(pending, assessment)

    async def _look(
        self, pending: ToolExecution, call: ToolCall, assessment: Assessment, place: Place
    ) -> Survey | None:
        """What a tool of the server sees there; nothing is looked at for a call that is refused."""
        if assessment.verdict.ruling is Ruling.DENY:
            return None
        params = assessment.tool.read_params(call.tool_params)
        return await self._looker.look(pending, assessment.tool, params, place)

    async def _mask(self, call: ToolCall, params_json: str, asker: Principal) -> JsonObject:
        """The parameters without their secrets; without that, nothing of the call is stored."""
        try:
            return await self._assessor.mask(asker.subject, call.tool_params, len(params_json))
        except NotJudged as error:
            raise Conflict(error.message) from error

    def _pending(
        self,
        call: ToolCall,
        masked: JsonObject,
        request_digest: str,
        place: Place,
        asker: Principal,
    ) -> ToolExecution:
        """The call before judgement. Nothing is known of it yet, so everything is feared."""
        at = self._clock.now()
        return ToolExecution(
            id=ExecutionId(mint("exe", at)),
            user_id=place.project.user_id,
            project_id=place.project.id,
            workspace_id=place.workspace.id,
            session_id=call.session_id,
            call_id=call.call_id,
            agent_id=asker.subject,
            tool_name=mask_text(call.tool_name),
            tool_params=masked,
            request_digest=request_digest,
            digest=request_digest,
            site=Site.CLIENT,
            effect=Effect.CHANGE,
            autonomy=place.autonomy,
            risk_level=RiskLevel.FORBIDDEN,
            reasons=(),
            requires_approval=False,
            status=Status.PENDING,
            reasoning=None if call.reasoning is None else mask_text(call.reasoning),
            created_at=at,
            origins=call.origins,
        )

    async def _asked_before(
        self, execution: ToolExecution, asker: Principal
    ) -> ToolExecution | None:
        """The call as the store has it already, if that is why it would not take it."""
        place = await self._store.find_place(execution.project_id, execution.session_id)
        if place is not None:
            check_owner(place.session, asker)
        earlier = await self._store.find_call(
            execution.project_id, execution.session_id, execution.call_id
        )
        if earlier is not None and earlier.request_digest != execution.request_digest:
            raise ConflictingCall(
                f"call {execution.call_id!r} was asked before with other parameters; use a new "
                f"call_id"
            )
        if earlier is None:
            await check_not_removed(self._store, execution)
        return earlier


def _opening_of(
    execution: ToolExecution, call: ToolCall, params_json: str, asker: Principal, place: Place
) -> OpenCall:
    opened_by = asker.subject if asker.role is Role.AGENT else None
    masked = execution.tool_params != call.tool_params
    tainted = place.session.tainted_at is not None
    return OpenCall(execution, params_json, masked, opened_by, tainted)


def _is_worth_a_look(assessment: Assessment) -> bool:
    """Whether the machine that is to do it is heard first: it may know more than the words say."""
    verdict = assessment.verdict
    is_open = verdict.ruling not in (Ruling.DENY, Ruling.DRAFT)
    undecided = verdict.risk > RiskLevel.LOW and is_open
    return undecided and assessment.tool.site is Site.CLIENT


def _look_first(judged: ToolExecution) -> Move:
    """Have its client look at the machine; the answer comes under the id of the question to be."""
    looking = judged._replace(approval_id=ApprovalId(mint("apr", judged.created_at)))
    return Move(looking, (), (NewEvent.about(looking, EventKind.SURVEY_REQUEST),))


def _line_for(execution: ToolExecution) -> AuditRecord:
    details = {
        "tool": execution.tool_name,
        "session": execution.session_id,
        "call": execution.call_id,
        "risk": execution.risk_level.name,
        "reasons": execution.reasons,
        "status": execution.status,
        "error": execution.error,
        "approval": execution.approval_id,
        "approved_by": execution.approved_by,
        "digest": execution.digest,
        "client": execution.client_id,
    }
    return AuditRecord("call.proposed", execution.agent_id, execution.id, details)
