"""What the record of calls knows of undo: what can be undone, who asked, and what was undone."""

from dataclasses import dataclass
from typing import cast

from handrail.core.execution import Status, ToolExecution
from handrail.core.tool import Effect, JsonObject, Site


@dataclass(frozen=True, slots=True)
class AskUndo:
    """A person asks to undo a call. Refused if it cannot be undone, or was undone before."""

    execution: ToolExecution
    by: str


@dataclass(frozen=True, slots=True)
class KeepUndone:
    """A call is undone, for the person who asked last. Refused if that was so before."""

    execution: ToolExecution


_ONLY_FILES = "only changes of files in the workspace can be undone"

AboutUndo = AskUndo | KeepUndone


def why_not_undone(call: ToolExecution) -> str | None:
    """Why a call cannot be undone, in a few words; None if it can be, or was."""
    if call.can_undo:
        return None
    if not call.status.is_final:
        return "it has not ended yet"
    if call.started_at is None:
        return "it was never carried out"
    if call.effect is Effect.READ:
        return "it changed nothing"
    return _why_nothing_is_kept(call, call.result or {})


def _why_nothing_is_kept(call: ToolExecution, result: JsonObject) -> str:
    if call.site is Site.SERVER:
        return _ONLY_FILES
    if isinstance(told := result.get("why_not"), str):
        return told
    if call.status is not Status.COMPLETED:
        return "it did not complete, and its earlier files are not kept"
    if result.get("rehearsed") is True:
        return "it changed nothing"
    if "exit_code" in result or call.exit_code is not None:
        return "it ran outside a rehearsal"
    if isinstance(result.get("path"), str):
        return "it changed nothing"
    return _ONLY_FILES


def files_changed_by(call: ToolExecution) -> tuple[str, ...]:
    """The files that a call has changed, as its result says; that was written by a client."""
    result: JsonObject = call.result or (call.late_result or {}).get("result") or {}
    changed = result.get("changed", [result.get("path")])
    listed = cast(list[object], changed) if isinstance(changed, list) else []
    return tuple(path for path in listed if isinstance(path, str))
