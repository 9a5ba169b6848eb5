from datetime import UTC, datetime

from handrail.core.change import Change
from handrail.core.event import EventKind, NewEvent
from handrail.core.execution import Status
from handrail.core.ids import ExecutionId, ProjectId

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def test_change_with_events_wakes_the_project_and_each_execution() -> None:
    events = tuple(
        NewEvent(EventKind.STATUS, ExecutionId(name), Status.FAILED) for name in ("exe_1", "exe_2")
    )
    change = Change(ProjectId("prj_1"), NOW, steps=(), events=events)
    assert change.topics == ("project:prj_1", "execution:exe_1", "execution:exe_2")


def test_change_without_events_wakes_nobody() -> None:
    assert Change(ProjectId("prj_1"), NOW, steps=()).topics == ()
