"""The newest part of the truth, kept in memory by the store that has just written it.

What the hot path reads is nearly always what this process stored a moment ago. Nothing is here
before it is on disk, and everything is dropped when another process turns out to have written.
"""

from collections import deque
from itertools import islice

from handrail.core.access import Token
from handrail.core.change import (
    Advance,
    Change,
    ClearTaint,
    ForgetEvents,
    ForgetTalk,
    KeepLate,
    OpenCall,
    Reask,
    Rejudge,
    RemoveCalls,
    RemoveResults,
    Reoffer,
    RevokeToken,
    SetAutonomy,
    SetPolicy,
    Step,
    StopAgent,
    StopSession,
    TaintSession,
)
from handrail.core.event import Event
from handrail.core.execution import ToolExecution
from handrail.core.few import Few
from handrail.core.ids import ClientId, ExecutionId, ProjectId, SessionId
from handrail.core.ports import StreamItem
from handrail.core.project import Place, Project, Session
from handrail.core.revision_steps import Revise
from handrail.core.undo_record import AskUndo, KeepUndone

_MOST_CALLS = 1_000
_MOST_EVENTS = 2_000
_MOST_CHARS = 16_000


class Recent:
    """`places`, `tokens` and `projects` hold what was read, the rest what was stored.

    `changes` counts what was dropped of the former: an answer that was read before such a change is
    too old to be kept.
    """

    def __init__(self) -> None:
        self.changes = 0
        self.places: Few[tuple[ProjectId, SessionId], Place] = Few()
        self.tokens: Few[str, Token] = Few()
        self.projects: Few[ProjectId, Project] = Few()
        self._calls: dict[ExecutionId, ToolExecution] = {}
        self._raw_params: dict[ExecutionId, str] = {}
        self._tails: dict[ProjectId, deque[Event]] = {}

    def clear(self) -> None:
        self._calls.clear()
        self._raw_params.clear()
        self._tails.clear()
        self._forget_people()

    def remember(self, change: Change, events: list[Event]) -> None:
        """Take in a change that has just become durable."""
        for step in change.steps:
            self._take_in(step)
            if isinstance(step, ForgetEvents):
                self._tails.pop(change.project_id, None)
        if events:
            tail = self._tails.setdefault(change.project_id, deque(maxlen=_MOST_EVENTS))
            if tail and tail[-1].seq + 1 != events[0].seq:
                tail.clear()
            tail.extend(events)

    def find_execution(self, execution_id: ExecutionId) -> ToolExecution | None:
        return self._calls.get(execution_id)

    def read_stream(
        self, project_id: ProjectId, after: int, client_id: ClientId | None, limit: int
    ) -> list[StreamItem] | None:
        """The events after a number, or None when memory does not reach back that far."""
        tail = self._tails.get(project_id)
        if not tail or after + 1 < tail[0].seq:
            return None
        items: list[StreamItem] = []
        for event in islice(tail, after + 1 - tail[0].seq, None):
            if len(items) == limit:
                break
            if client_id is not None and event.client_id not in (None, client_id):
                continue
            execution = self._calls.get(event.execution_id)
            if event.kind.is_chat:
                items.append(StreamItem(event, None, None))
            elif execution is None:
                return None
            else:
                items.append(self._item(event, execution))
        return items

    def _take_in(self, step: Step) -> None:
        match step:
            case OpenCall(execution=execution, raw_params=raw_params):
                if not execution.status.is_final:
                    self._raw_params[execution.id] = raw_params
                self._keep(execution)
            case Advance(_, after) | Reoffer(_, after) | Rejudge(_, after) | Reask(_, after):
                # From its opening on or not at all: else its raw parameters are not here.
                if after.id in self._calls:
                    self._keep(after)
                if after.status.is_final:
                    self._raw_params.pop(after.id, None)
            case (
                KeepLate(execution) | AskUndo(execution) | KeepUndone(execution)
                | Revise(_, execution)
            ):  # fmt: skip
                # Seldom read again, and perhaps large.
                self._calls.pop(execution.id, None)
            case ForgetTalk(session):
                self._drop_calls_of(session)
            case RemoveResults(ids) | RemoveCalls(ids):
                for execution_id in ids:
                    self._calls.pop(execution_id, None)
            case _:
                self._drop_changed(step)

    def _drop_changed(self, step: Step) -> None:
        """Drop tokens and places that a step changes; new rows change none of them."""
        match step:
            case RevokeToken(all_of_subject=True):
                self.tokens.clear()
            case RevokeToken(token):
                self.tokens.drop(token.secret_hash)
            case StopSession(session) | ClearTaint(session):
                self.places.drop((session.project_id, session.id))
            case TaintSession() | StopAgent() | SetPolicy():
                self.places.clear()
            case SetAutonomy(project):
                self.places.clear()
                self.projects.drop(project.id)
            case _:
                return
        self.changes += 1

    def _drop_calls_of(self, session: Session) -> None:
        where = (session.project_id, session.id)
        for call in list(self._calls.values()):
            if (call.project_id, call.session_id) == where:
                del self._calls[call.id]

    def _forget_people(self) -> None:
        self.changes += 1
        self.places.clear()
        self.tokens.clear()
        self.projects.clear()

    def _item(self, event: Event, execution: ToolExecution) -> StreamItem:
        stands = execution.epoch == event.epoch
        raw_params = self._raw_params.get(execution.id) if stands else None
        return StreamItem(event, execution, raw_params)

    def _keep(self, execution: ToolExecution) -> None:
        if not _is_light(execution):
            self._calls.pop(execution.id, None)
            self._raw_params.pop(execution.id, None)
            return
        self._calls[execution.id] = execution
        if len(self._calls) > _MOST_CALLS:
            oldest = next(iter(self._calls))
            del self._calls[oldest]
            self._raw_params.pop(oldest, None)


def _is_light(execution: ToolExecution) -> bool:
    """Whether a thousand like it may stay in memory: short texts, numbers, and nothing nested."""
    diff = "" if execution.revision is None else execution.revision.diff
    chars = len(execution.error or "") + len(execution.reasoning or "") + len(diff)
    for values in (execution.tool_params, execution.result):
        for name, value in (values or {}).items():
            chars += len(name)
            if isinstance(value, str):
                chars += len(value)
            elif isinstance(value, dict | list):
                return False
    return chars <= _MOST_CHARS
