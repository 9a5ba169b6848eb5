"""The statements that take out of a session what was said, and what its calls brought back."""

from sqlalchemy import Text, bindparam, delete, exists, null, select, update

from handrail.store.chat_schema import messages, runs
from handrail.store.schema import UNFINISHED, blob_holds, sessions, tool_executions
from handrail.store.told_schema import told_values

_project = bindparam("expected_project", type_=Text())
_session = bindparam("expected_session", type_=Text())
_CALLS = (tool_executions.c.project_id == _project, tool_executions.c.session_id == _session)

# It changes nothing, and touches one row where the session is over.
IS_OVER = (
    update(sessions)
    .where(
        sessions.c.project_id == _project,
        sessions.c.id == _session,
        sessions.c.stopped_at.is_not(None),
        ~exists(select(tool_executions.c.id).where(*_CALLS, UNFINISHED)),
    )
    .values(stopped_at=sessions.c.stopped_at)
)
FORGET = (
    delete(messages).where(messages.c.project_id == _project, messages.c.session_id == _session),
    delete(runs).where(runs.c.project_id == _project, runs.c.session_id == _session),
    # What made a result suspicious quotes it; the agent's reason is out of the conversation.
    update(tool_executions)
    .where(*_CALLS)
    .values(result=null(), late_result=null(), suspicion=null(), reasoning=null()),
    delete(told_values).where(
        told_values.c.project_id == _project, told_values.c.session_id == _session
    ),
    delete(blob_holds).where(
        blob_holds.c.project_id == _project,
        blob_holds.c.purpose == "result",
        blob_holds.c.holder.in_(select(tool_executions.c.id).where(*_CALLS)),
    ),
)
