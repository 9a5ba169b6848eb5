"""What is said, as the writes that store it."""

from collections.abc import Iterator
from typing import Any

from handrail.core.change import AboutRuns, CountTokens, MoveRun, OpenRun, Say
from handrail.core.project import Session
from handrail.store import chat_statements as statements
from handrail.store import forget_statements
from handrail.store.chat_rows import message_row, moving_run_row, run_row
from handrail.store.write import Write


def write_about_run(step: AboutRuns) -> Write:
    match step:
        case OpenRun(run):
            session = {"expected_project": run.project_id, "expected_session": run.session_id}
            return Write(statements.ADD_RUN, run_row(run) | session)
        case MoveRun(before, after, last_seq):
            seen = _as_seen(before.id, before.epoch) | {"last_seq": last_seq}
            return Write(statements.MOVE_RUN, moving_run_row(after) | seen)
        case Say(message, epoch):
            row = message_row(message) | _as_seen(message.run_id, epoch)
            return Write(statements.ADD_MESSAGE, row)
        case CountTokens(user_id, day, usage):
            return Write(
                statements.COUNT_TOKENS, {"user_id": user_id, "day": day, **usage._asdict()}
            )


def writes_that_forget(session: Session) -> Iterator[Write]:
    this = {"expected_project": session.project_id, "expected_session": session.id}
    yield Write(forget_statements.IS_OVER, this)
    for statement in forget_statements.FORGET:
        yield Write(statement, this, may_miss=True)


def _as_seen(run_id: str, epoch: int | None) -> dict[str, Any]:
    return {"expected_run": run_id, "expected_epoch": epoch}
