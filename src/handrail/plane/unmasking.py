"""Unmasker: the full text of an open question, for the person who decides on it.

Masks protect what is stored. Parameters are read from the store, which has them until the call
ends. Evidence is not stored in full: the client makes it again, and it is passed on from memory.
"""

import asyncio
from dataclasses import replace

import msgspec

from handrail.core.access import Principal
from handrail.core.approval import Approval, ApprovalStatus
from handrail.core.audit import AuditRecord
from handrail.core.change import Change
from handrail.core.digest import digest_unmasked
from handrail.core.errors import Conflict, NotFound
from handrail.core.event import EventKind, NewEvent
from handrail.core.execution import ToolExecution
from handrail.core.ids import ApprovalId, ClientId, ProjectId
from handrail.core.masks import count_masks
from handrail.core.ports import Clock, Store
from handrail.core.survey import Survey
from handrail.plane.assessment import Asked, Assessor
from handrail.plane.connections import Connections
from handrail.plane.looking import Looker

UNMASK_SECONDS = 5.0
_CHANGED = "the machine has changed since this was asked; refuse it, so that the agent asks again"
_TOO_OLD = "the client on the machine that has the full text is too old to send it; update it"

# What a client says when it is asked to look again; None where it refuses.
_Answer = asyncio.Future[Survey | None]


class Unmasker:
    def __init__(
        self,
        store: Store,
        clock: Clock,
        connections: Connections,
        assessor: Assessor,
        looker: Looker,
    ):
        self._store = store
        self._clock = clock
        self._connections = connections
        self._assessor = assessor
        self._looker = looker
        self._readers: dict[tuple[ApprovalId, ClientId], list[_Answer]] = {}

    async def unmask(
        self, approval_id: ApprovalId, reader: Principal, project_id: ProjectId
    ) -> Approval:
        """The question in full, with the digest that a yes to it must carry.

        Raises:
            NotFound: There is no such question in this project.
            Conflict: It is answered, or its machine cannot tell the text now, or tells another.
        """
        approval = await self._store.find_approval(approval_id)
        if approval is None or approval.project_id != project_id:
            raise NotFound(f"there is no approval {approval_id!r}")
        execution = await self._store.find_execution(approval.execution_id)
        if approval.status is not ApprovalStatus.PENDING or execution is None:
            raise Conflict(approval.how_it_ended)
        if not approval.masked_parts:
            return approval
        full = await self._in_full(approval, execution)
        line = AuditRecord("approval.unmasked", reader.subject, approval.id, {})
        await self._store.submit(Change(project_id, self._clock.now(), (), (), (line,)))
        return full

    def take(self, approval_id: ApprovalId, survey: Survey | None, client: Principal) -> bool:
        """Whether this survey, or None for a refusal, was asked for to unmask a question."""
        # Who comes after this asks again.
        readers = self._readers.pop((approval_id, ClientId(client.subject)), [])
        for answer in readers:
            if not answer.done():
                answer.set_result(survey)
        return bool(readers)

    async def _in_full(self, approval: Approval, execution: ToolExecution) -> Approval:
        place = await self._store.find_place(execution.project_id, execution.session_id)
        if place is None:
            raise NotFound(f"there is no session {execution.session_id!r}")
        params_json = await self._store.read_raw_params(execution)
        asked = Asked(execution.tool_name, msgspec.json.decode(params_json), params_json)
        tool, params = self._assessor.parse(asked)
        evidence, description = approval.evidence, approval.description
        if count_masks(description):
            description = tool.preview(params)
        if count_masks(evidence):
            survey = await self._looker.look(execution, tool, params, place)
            if survey is None:
                survey = await self._look_on_client(approval, execution)
            # The person must not be shown other facts than those the yes is bound to.
            assessment = await self._assessor.assess(asked, place, survey)
            if assessment.digest != approval.digest:
                raise Conflict(_CHANGED)
            evidence = survey.in_full
            description = survey.summary or description
        return replace(
            approval,
            tool_params=asked.tool_params,
            description=description,
            evidence=evidence,
            digest=digest_unmasked(place.project.digest_salt, approval.digest),
            unmasked=True,
        )

    async def _look_on_client(self, approval: Approval, execution: ToolExecution) -> Survey:
        client_id = self._connections.find_client(execution.workspace_id)
        if client_id is None:
            raise Conflict("the machine that has the full text is not connected")
        key = (approval.id, client_id)
        readers = self._readers.setdefault(key, [])
        answer: _Answer = asyncio.get_running_loop().create_future()
        readers.append(answer)
        try:
            if len(readers) == 1:
                await self._ask(client_id, execution)
            async with asyncio.timeout(UNMASK_SECONDS):
                survey = await answer
        except TimeoutError:
            raise Conflict(
                f"the machine that has the full text has not answered for {UNMASK_SECONDS:.0f} s"
            ) from None
        finally:
            readers.remove(answer)
            if not readers and self._readers.get(key) is readers:
                del self._readers[key]
        if survey is None:
            raise Conflict(_CHANGED)
        if survey.unmasked is None:
            raise Conflict(_TOO_OLD)
        return survey

    async def _ask(self, client_id: ClientId, execution: ToolExecution) -> None:
        request = NewEvent(
            EventKind.SURVEY_REQUEST, execution.id, execution.status, client_id, execution.epoch
        )
        now = self._clock.now()
        await self._store.submit(Change(execution.project_id, now, (), (request,)))
