"""What is no longer kept, as the writes that remove it."""

from collections.abc import Iterator

from handrail.core.change import (
    AboutRetention,
    ForgetEvents,
    RemoveCalls,
    RemoveResults,
    ShrinkFile,
)
from handrail.core.ids import ProjectId
from handrail.store import retention_statements as statements
from handrail.store.event_statements import FORGET_EVENTS
from handrail.store.write import Write


def writes_that_prune(step: AboutRetention, project_id: ProjectId, now: int) -> Iterator[Write]:
    match step:
        case RemoveResults(ids):
            for execution_id in ids:
                this = {"expected_project": project_id, "expected_id": execution_id}
                yield Write(statements.REMOVE_RESULT, {**this, "now": now})
                yield Write(statements.LET_BLOBS_GO, this, may_miss=True)
        case RemoveCalls(ids):
            for execution_id in ids:
                this = {"expected_project": project_id, "expected_id": execution_id}
                yield Write(statements.ADD_REMOVED_CALL, {**this, "now": now})
                for statement in statements.REMOVE_WITH_CALL:
                    yield Write(statement, this, may_miss=True)
                yield Write(statements.REMOVE_CALL, this)
        case ForgetEvents(through):
            values = {"project_of_events": project_id, "through": through}
            yield Write(FORGET_EVENTS, values, may_miss=True)
        case ShrinkFile():
            yield Write(statements.FREE_PAGES, {}, may_miss=True)
