"""A change as the writes that store it. Pure, and the same for every database."""

from collections.abc import Iterator
from typing import Any, assert_never

from handrail.core.access import Token
from handrail.core.approval import Approval
from handrail.core.audit import canonical
from handrail.core.change import (
    AboutBlobs,
    AboutMemories,
    AboutPeople,
    AboutTokens,
    Add,
    Advance,
    Change,
    ClearTaint,
    CountTokens,
    ForgetEvents,
    ForgetMemory,
    ForgetTalk,
    KeepBlob,
    KeepLate,
    KeepMemory,
    KeepTold,
    LetBlobGo,
    MoveRun,
    OpenCall,
    OpenRun,
    OpenSession,
    Reask,
    Rejudge,
    RemoveCalls,
    RemoveResults,
    Reoffer,
    Resolve,
    RevokeToken,
    Row,
    Say,
    SetAutonomy,
    SetPolicy,
    SetVector,
    ShrinkFile,
    StopAgent,
    StopSession,
    TaintSession,
    UseBlob,
)
from handrail.core.execution import ToolExecution
from handrail.core.grant import Grant
from handrail.core.grant_steps import RevokeGrant, UseGrant
from handrail.core.ids import OWN_AGENT
from handrail.core.project import Client, Project, User, Workspace
from handrail.core.revision_steps import Revise
from handrail.core.undo_record import AskUndo, KeepUndone
from handrail.store import (
    approval_statements,
    blob_statements,
    memory_statements,
    statements,
    taint_statements,
    token_statements,
    told_statements,
    undo_statements,
)
from handrail.store.approval_rows import answer_row, approval_row, grant_row, shown_row
from handrail.store.chat_steps import write_about_run, writes_that_forget
from handrail.store.memory_rows import memory_row, replaced_row, vector_row
from handrail.store.retention_steps import writes_that_prune
from handrail.store.rows import (
    execution_row,
    judged_row,
    late_row,
    moving_row,
    plain_row,
    revised_row,
    to_micros,
    told_row,
)
from handrail.store.write import Write


def writes_for(change: Change) -> Iterator[Write]:
    for step in change.steps:
        match step:
            case OpenCall() | Advance():  # Most steps are one of these.
                yield from _writes_for_step(step)
            case (
                Reask() | Revise() | Resolve() | UseGrant() | RevokeGrant() | StopSession()
                | TaintSession() | ClearTaint() | RevokeToken() | StopAgent()
            ):  # fmt: skip
                yield from _writes_about_people(step, to_micros(change.at))
            case KeepBlob() | UseBlob() | LetBlobGo():
                yield _write_about_blob(step)
            case OpenRun() | MoveRun() | Say() | CountTokens():
                yield write_about_run(step)
            case KeepMemory() | ForgetMemory() | SetVector():
                yield _write_about_memory(step)
            case ForgetTalk(session):
                yield from writes_that_forget(session)
            case RemoveResults() | RemoveCalls() | ForgetEvents() | ShrinkFile():
                yield from writes_that_prune(step, change.project_id, to_micros(change.at))
            case SetPolicy() | SetAutonomy() | AskUndo() | KeepUndone():
                yield _write_alone(step, to_micros(change.at))
            case _:
                yield from _writes_for_step(step)


def _write_alone(step: SetPolicy | SetAutonomy | AskUndo | KeepUndone, now: int) -> Write:
    match step:
        case SetPolicy(workspace):
            this = {"expected_id": workspace.id, "expected_project": workspace.project_id}
            told = {"policy": workspace.policy, "walls": ",".join(workspace.walls)}
            return Write(statements.SET_POLICY, {**this, **told})
        case SetAutonomy(project):
            told = {"expected_project": project.id, "autonomy": project.autonomy}
            return Write(statements.SET_AUTONOMY, told)
        case AskUndo(execution, by):
            asked = {"expected_id": execution.id, "asked_by": by}
            return Write(undo_statements.ASK_UNDO, asked)
        case KeepUndone(execution):
            return Write(undo_statements.KEEP_UNDONE, {"expected_id": execution.id, "now": now})


def _writes_about_people(step: AboutPeople | AboutTokens, now: int) -> Iterator[Write]:
    match step:
        case Reask(before, after, approval):
            yield Write(statements.REJUDGE_WAITING, _asked_anew(before, after))
            yield _reshow(approval)
        case Revise(before, after, approval, raw_params, asked_params):
            yield Write(statements.REVISE_WAITING, _asked_anew(before, after) | revised_row(after))
            yield _reshow(approval)
            raw = {"execution_id": after.id, "params": raw_params, "asked": asked_params}
            yield Write(statements.SET_RAW_PARAMS, raw)
        case Resolve(approval):
            values = {"expected_id": approval.id, **answer_row(approval)}
            yield Write(approval_statements.RESOLVE_APPROVAL, values)
        case UseGrant(grant, session_id):
            use = {"expected_id": grant.id, "expected_session": session_id, "now": now}
            yield Write(approval_statements.USE_GRANT, use)
        case RevokeGrant(grant):
            values = {"expected_id": grant.id, "revoked_at": now}
            yield Write(approval_statements.REVOKE_GRANT, values)
        case StopSession(session):
            this = {"expected_project": session.project_id, "expected_session": session.id}
            yield Write(statements.STOP_SESSION, {**this, "stopped_at": now})
            grants = {**this, "revoked_at": now}
            yield Write(approval_statements.REVOKE_GRANTS_OF, grants, may_miss=True)
        case TaintSession(execution, by):
            this = {
                "expected_project": execution.project_id,
                "expected_session": execution.session_id,
                "expected_opener": None if execution.agent_id == OWN_AGENT else execution.agent_id,
            }
            cause = {"tainted_at": now, "tainted_by": by, "tainted_call": execution.id}
            yield Write(taint_statements.TAINT_SESSION, this | cause, may_miss=True)
        case ClearTaint(session):
            this = {"expected_project": session.project_id, "expected_session": session.id}
            yield Write(taint_statements.CLEAR_TAINT, this)
            cause = {"expected_project": session.project_id, "expected_call": session.tainted_call}
            yield Write(taint_statements.CLEAR_SAME_TAINT, cause, may_miss=True)
        case RevokeToken() | StopAgent():
            yield from _writes_about_tokens(step, now)


def _writes_about_tokens(step: AboutTokens, now: int) -> Iterator[Write]:
    match step:
        case RevokeToken(token, all_of_subject):
            values = {"expected_id": token.id, "revoked_at": now}
            yield Write(token_statements.REVOKE_TOKEN, values)
            if all_of_subject:
                others = {"expected_subject": token.subject, "revoked_at": now}
                yield Write(token_statements.REVOKE_TOKENS_OF, others, may_miss=True)
        case StopAgent(project_id, agent_id):
            this = {"expected_project": project_id, "expected_opener": agent_id}
            grants = {**this, "revoked_at": now}
            yield Write(token_statements.REVOKE_GRANTS_OF_AGENT, grants, may_miss=True)
            sessions = {**this, "stopped_at": now}
            yield Write(token_statements.STOP_SESSIONS_OF_AGENT, sessions, may_miss=True)


def _write_about_blob(step: AboutBlobs) -> Write:
    match step:
        case KeepBlob(hold):
            return Write(blob_statements.KEEP_BLOB, plain_row(hold))
        case UseBlob(hold, agent_id):
            return Write(blob_statements.USE_BLOB, plain_row(hold) | {"agent_id": agent_id})
        case LetBlobGo(hold):
            return Write(blob_statements.LET_BLOB_GO, plain_row(hold), may_miss=True)


def _write_about_memory(step: AboutMemories) -> Write:
    match step:
        case KeepMemory(user_id, memory, vector, replaces):
            row = memory_row(user_id, memory, vector) | replaced_row(replaces)
            return Write(memory_statements.KEEP_MEMORY, row)
        case ForgetMemory(user_id, key):
            this = {"expected_user": user_id, "expected_key": key}
            return Write(memory_statements.FORGET_MEMORY, this)
        case SetVector(user_id, memory, vector):
            seen = {"expected_change": to_micros(memory.updated_at)}
            this = {"expected_user": user_id, "expected_key": memory.key, **seen}
            return Write(memory_statements.SET_VECTOR, this | vector_row(vector), may_miss=True)


def _writes_for_step(
    step: Add | OpenSession | OpenCall | Advance | Reoffer | Rejudge | KeepLate | KeepTold,
) -> Iterator[Write]:
    match step:
        case Add(row):
            yield _add(row)
        case OpenSession(session):
            yield Write(statements.ADD_SESSION, plain_row(session), may_miss=True)
        case OpenCall(execution, raw_params, masked, opened_by, judged_tainted):
            session = {
                "expected_project": execution.project_id,
                "expected_session": execution.session_id,
                "expected_opener": opened_by,
                "judged_tainted": judged_tainted,
            }
            params = canonical(execution.tool_params) if masked else raw_params
            yield Write(statements.ADD_EXECUTION, execution_row(execution, params) | session)
            if masked and not execution.status.is_final:
                raw = {"execution_id": execution.id, "params": raw_params}
                yield Write(statements.ADD_RAW_PARAMS, raw)
        case Advance(before, after):
            ends = after.status.is_final
            statement = statements.END_EXECUTION if ends else statements.ADVANCE_EXECUTION
            yield Write(statement, moving_row(after) | _as_seen(before))
            yield from _erasure(after)
        case Rejudge(before, after):
            ends = after.status.is_final
            statement = statements.END_REJUDGED_EXECUTION if ends else statements.REJUDGE_EXECUTION
            yield Write(statement, moving_row(after) | judged_row(after) | _as_seen(before))
            yield from _erasure(after)
        case Reoffer(before, after):
            hands = {"client_id": after.client_id, "epoch": after.epoch}
            yield Write(statements.REOFFER_EXECUTION, hands | _as_seen(before))
        case KeepLate(execution):
            yield Write(statements.KEEP_LATE_RESULT, late_row(execution))
        case KeepTold(execution, keys):
            yield Write(told_statements.KEEP_TOLD, told_row(execution), True, ("value", keys))
        case _:
            assert_never(step)


def _erasure(after: ToolExecution) -> Iterator[Write]:
    """Raw parameters do not outlive their call."""
    if after.status.is_final:
        ended = {"execution_id_ended": after.id}
        yield Write(statements.ERASE_RAW_PARAMS, ended, may_miss=True)


def _asked_anew(before: ToolExecution, after: ToolExecution) -> dict[str, Any]:
    hands = {"client_id": after.client_id, "epoch": after.epoch}
    return judged_row(after) | hands | _as_seen(before)


def _reshow(approval: Approval) -> Write:
    question = {"expected_id": approval.id, **shown_row(approval)}
    return Write(approval_statements.RESHOW_APPROVAL, question)


def _as_seen(before: ToolExecution) -> dict[str, Any]:
    return {
        "expected_id": before.id,
        "expected_status": before.status,
        "expected_epoch": before.epoch,
    }


def _add(row: Row) -> Write:
    match row:
        case User():
            return Write(statements.ADD_USER, plain_row(row))
        case Project():
            return Write(statements.ADD_PROJECT, plain_row(row))
        case Workspace():
            added = {**plain_row(row), "walls": ",".join(row.walls)}
            return Write(statements.ADD_WORKSPACE, added)
        case Client():
            return Write(statements.ADD_CLIENT, plain_row(row))
        case Token():
            return Write(statements.ADD_TOKEN, plain_row(row))
        case Approval():
            return Write(approval_statements.ADD_APPROVAL, approval_row(row))
        case Grant():
            session = {"expected_project": row.project_id, "expected_session": row.session_id}
            return Write(approval_statements.ADD_GRANT, grant_row(row) | session)
        case _:
            assert_never(row)
