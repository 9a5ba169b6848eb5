"""Receiver: takes what clients report, once, and keeps what comes too late."""

from dataclasses import dataclass, replace
from typing import Literal

from handrail.core.access import Principal
from handrail.core.audit import AuditRecord
from handrail.core.change import Advance, Change, KeepLate
from handrail.core.errors import ChangeRefused, Conflict, ErrorType, OfferedAnew
from handrail.core.event import EventKind, NewEvent
from handrail.core.execution import Status, ToolExecution
from handrail.core.ids import ClientId, ExecutionId, ProjectId
from handrail.core.ports import Clock, Store
from handrail.core.tool import JsonObject
from handrail.plane.blobs import BlobKeeper
from handrail.plane.calls import get_call
from handrail.plane.move import ending
from handrail.plane.origins import keep_told
from handrail.plane.suspicion import Suspicion
from handrail.plane.taint import Tainting
from handrail.policy.redaction import mask_text

# Ends that nobody on the machine has told us of: there the true outcome may still come.
_TOLD_BY_NOBODY = (ErrorType.OUTCOME_UNKNOWN, ErrorType.CANCELLED, ErrorType.NO_CLIENT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What a client says became of a call. Without an epoch, the present one is meant."""

    execution_id: ExecutionId
    status: Literal[Status.COMPLETED, Status.FAILED]
    epoch: int | None = None
    result: JsonObject | None = None
    error: str | None = None
    error_type: ErrorType | None = None
    execution_time_ms: int | None = None

    def is_known_to(self, ended: ToolExecution) -> bool:
        """Whether just this was told before, as the end or after it; its time may differ."""
        late = ended.late_result or {}
        return (self.status, self.result, self.error) in (
            (ended.status, ended.result, ended.error),
            (late.get("status"), late.get("result"), late.get("error")),
        )

    def as_late(self) -> JsonObject:
        return {
            "status": self.status,
            "result": self.result,
            "error": self.error,
            "error_type": self.error_type,
            "execution_time_ms": self.execution_time_ms,
        }


class Receiver:
    def __init__(
        self, store: Store, clock: Clock, blobs: BlobKeeper, suspicion: Suspicion | None = None
    ):
        self._store = store
        self._clock = clock
        self._blobs = blobs
        self._suspicion = suspicion or Suspicion()

    async def accept(
        self, report: Report, client: Principal, project_id: ProjectId
    ) -> ToolExecution:
        """Take a report: the same one twice is one, and one after the end is kept beside it.

        The result of a call that was offered and not claimed counts as its claim.

        Raises:
            NotFound: There is no such call in this project.
            OfferedAnew: It was handed to this client again since.
            Conflict: The call has ended otherwise, or is in other hands by now.
            BadInput: It names a blob that is not here.
        """
        if report.error is not None:
            report = replace(report, error=mask_text(report.error))
        execution = await get_call(self._store, report.execution_id, project_id)
        try:
            if execution.client_id != client.subject:
                raise Conflict(f"{execution.id} was not handed to this client")
            if execution.status.is_final:
                return await self._accept_late(execution, report, client)
            return await self._accept(execution, report, client)
        except ChangeRefused:
            return await self.accept(report, client, project_id)
        except OfferedAnew:
            raise  # Its client reports it again, under the new epoch.
        except Conflict:
            await self._reject(execution, client)
            raise

    async def _accept(
        self, execution: ToolExecution, report: Report, client: Principal
    ) -> ToolExecution:
        if execution.status not in (Status.APPROVED, Status.EXECUTING):
            raise Conflict(f"{execution.id} is {execution.status}; it was not to be executed yet")
        if report.epoch not in (None, execution.epoch):
            raise OfferedAnew(
                f"{execution.id} was handed out again since; report under its new epoch"
            )
        found = await self._suspicion.about(execution, report.result, report.error)
        claims = execution.status is Status.APPROVED and report.status is Status.COMPLETED
        begun = execution.advance(Status.EXECUTING, self._clock.now()) if claims else execution
        ended = begun.advance(
            report.status,
            self._clock.now(),
            suspicion=found,
            result=report.result,
            error=report.error,
            error_type=report.error_type,
            execution_time_ms=report.execution_time_ms,
        )
        blobs = await self._blobs.use_in_result(execution, report.result)
        told = await keep_told(ended, report.result, report.error)
        change = ending(begun, ended, client.subject, EventKind.RESULT_ACK, *blobs, *told)
        if claims:
            change = _with_claim(change, execution, begun, client)
        await self._store.submit(Tainting.by(ended).added_to(change))
        return ended

    async def _reject(self, execution: ToolExecution, client: Principal) -> None:
        """Tell a client on its stream that its report was turned away."""
        news = NewEvent.about(execution, EventKind.RESULT_REJECTED)
        told = news._replace(client_id=ClientId(client.subject))
        change = Change(execution.project_id, self._clock.now(), (), (told,))
        await self._store.submit(change)

    async def _accept_late(
        self, execution: ToolExecution, report: Report, client: Principal
    ) -> ToolExecution:
        if report.is_known_to(execution):
            return execution
        if not _may_be_followed(execution) or report.epoch not in (None, execution.epoch):
            raise Conflict(f"{execution.id} has ended already, as {execution.status}")
        found = await self._suspicion.about(execution, report.result, report.error)
        kept = execution.keep_late(report.as_late(), found)
        line = AuditRecord(
            "call.late_result",
            client.subject,
            kept.id,
            {"ended": execution.error_type, "status": report.status, "error": report.error},
        )
        news = NewEvent.about(kept, EventKind.RESULT_KEPT)
        blobs = await self._blobs.use_in_result(kept, report.result)
        steps = (KeepLate(kept), *blobs, *await keep_told(kept, report.result, report.error))
        change = Change(kept.project_id, self._clock.now(), steps, (news,), (line,))
        await self._store.submit(Tainting.by(kept).added_to(change))
        return kept


def _with_claim(
    change: Change, approved: ToolExecution, begun: ToolExecution, client: Principal
) -> Change:
    """A client that executes without claiming claims by its result: it alone was signalled.

    The claim is part of the same change, so it holds the same fences as any other: the call is
    still this client's, under the same epoch, and has neither begun nor ended.
    """
    line = AuditRecord(
        "call.claimed", client.subject, begun.id, {"epoch": begun.epoch, "by": "result"}
    )
    news = NewEvent.for_everyone(begun, EventKind.STATUS)
    return replace(
        change,
        steps=(Advance(approved, begun), *change.steps),
        events=(news, *change.events),
        audit=(line, *change.audit),
    )


def _may_be_followed(ended: ToolExecution) -> bool:
    """Whether a machine may still have a word to say: it had begun, and nobody heard the end."""
    # After a restore, a call can have run that the store never saw begin.
    may_have_begun = ended.started_at is not None or ended.error_type is ErrorType.OUTCOME_UNKNOWN
    unheard = may_have_begun and ended.error_type in _TOLD_BY_NOBODY
    return unheard and ended.late_result is None
