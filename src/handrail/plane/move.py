"""What a ruling makes of a call, and the change that ends one."""

from typing import NamedTuple

from handrail.core.audit import AuditRecord
from handrail.core.change import Advance, Change, Step
from handrail.core.event import EventKind, NewEvent
from handrail.core.execution import ToolExecution

# Who acts where no person and no client does.
HANDRAIL = "handrail"


class Move(NamedTuple):
    """What becomes of a call, with all that must be stored along with it.

    `via` is the state it passes through on the way, where one change takes it two steps.
    """

    after: ToolExecution
    steps: tuple[Step, ...] = ()
    events: tuple[NewEvent, ...] = ()
    via: ToolExecution | None = None

    @property
    def first(self) -> ToolExecution:
        """Where the first step leads."""
        return self.after if self.via is None else self.via

    @property
    def rest(self) -> tuple[Step, ...]:
        """What is to be stored after the first step."""
        return self.steps if self.via is None else (Advance(self.via, self.after), *self.steps)


def ending(
    before: ToolExecution,
    after: ToolExecution,
    actor: str,
    news: EventKind = EventKind.STATUS,
    *steps: Step,
) -> Change:
    """The end of a call, told and written down; `steps` go with it."""
    assert after.completed_at is not None  # noqa: S101  it has ended
    details = {
        "status": after.status,
        "error": after.error,
        "error_type": after.error_type,
        "execution_time_ms": after.execution_time_ms,
    }
    if (box := (after.result or {}).get("box")) is not None:
        details["box"] = box
    event = NewEvent.about(after, news) if _is_for_one(news) else NewEvent.for_everyone(after, news)
    line = AuditRecord("call.ended", actor, after.id, details)
    return Change(
        before.project_id,
        after.completed_at,
        (Advance(before, after), *steps),
        (event,),
        (line,),
    )


def _is_for_one(news: EventKind) -> bool:
    return news in (EventKind.RESULT_ACK, EventKind.CANCEL)
