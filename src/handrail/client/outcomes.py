"""A short text about the outcome of a call, for the person who approved it."""

from collections.abc import Mapping
from typing import Any, cast

from handrail.core.visible import cut

_MOST_CHARS = 200
_MOST_FILES = 3


def outcome_in_words(call: Mapping[str, Any]) -> str:
    """The exit code or failure of a finished call, and the files it changed."""
    result = cast(Mapping[str, Any], call.get("result") or {})
    if call["status"] != "completed":
        ending = "timed out" if call["status"] == "timeout" else str(call["status"])
        error = call.get("error")
        return f"{ending}: {cut(str(error), _MOST_CHARS)}" if error else ending
    return ", ".join(filter(None, (_ending(result), _changes(call, result))))


def _ending(result: Mapping[str, Any]) -> str:
    code = result.get("exit_code")
    if not isinstance(code, int):
        return "failed" if result.get("success") is False else "done"
    return f"killed by signal {-code}" if code < 0 else f"exit {code}"


def _changes(call: Mapping[str, Any], result: Mapping[str, Any]) -> str:
    changed = result.get("changed", [result.get("path")] if call.get("can_undo") else [])
    paths = [path for path in cast(list[object], changed) if isinstance(path, str)]
    if not paths:
        return "no file changed" if result.get("rehearsed") else ""
    more = f" and {len(paths) - _MOST_FILES:,} more" if len(paths) > _MOST_FILES else ""
    return f"changed {', '.join(paths[:_MOST_FILES])}{more}"
