"""What a tool gave back, held to what can be written down and sent."""

import json
import math
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, cast

from handrail.core.blob import INLINE_BYTES
from handrail.core.errors import BrokenTool
from handrail.core.survey import Survey
from handrail.core.tool import ToolResult

MAX_RESULT_CHARS = 8_000_000
_MAX_INTEGER = 2**63

# Handrail sets these two in every result.
_NOT_FOR_FIELDS = {"success", "error"}


def as_result(tool_name: str, given: object) -> ToolResult:
    """A result as it is, text as what the model sees, an object as the tool's own fields.

    `{"status": "error", "error": "…"}` and `{"status": "success", "result": …}` are read as such.

    Raises:
        BrokenTool: It is none of these, cannot be told in JSON, or is more than is taken.
    """
    try:
        result = _read(given)
        size = _weigh([result.output, result.error, _without_long_texts(result.fields)])
    except (TypeError, ValueError, RecursionError) as error:
        raise BrokenTool(f"{tool_name} returned {error}") from error
    if size > MAX_RESULT_CHARS:
        raise BrokenTool(
            f"{tool_name} returned {size:,} characters; at most {MAX_RESULT_CHARS:,} are allowed"
        )
    return result


def _without_long_texts(fields: Mapping[str, Any]) -> dict[str, Any]:
    """What a report carries: long texts travel apart, as blobs, which have a limit of their own."""
    return {
        name: value
        for name, value in fields.items()
        if not (isinstance(value, str) and len(value) > INLINE_BYTES)
    }


def as_survey(tool_name: str, given: object) -> Survey:
    """What a tool has seen of the machine.

    Raises:
        BrokenTool: It is no survey, or cannot be told in JSON.
    """
    try:
        match given:
            case Survey(
                facts=facts, findings=findings, evidence=str(evidence), summary=str(summary)
            ):
                reasons = [(one.rule, one.reason, one.risk.name) for one in findings]
                _weigh([facts, reasons, evidence, summary])
                return given
            case _:
                raise TypeError(f"a {type(given).__name__} where a Survey was expected")
    except (TypeError, ValueError, RecursionError) as error:
        raise BrokenTool(f"{tool_name} returned {error}") from error


def _read(given: object) -> ToolResult:
    match given:
        case ToolResult(success=bool(), output=str(), error=None | str()):
            _check_fields(given.fields)
            return given
        case ToolResult():
            raise TypeError("a ToolResult whose success, output or error is of the wrong type")
        case str():
            return ToolResult(True, given)
        case Mapping():
            return _of_fields(cast(Mapping[str, Any], given))
        case _:
            what = type(given).__name__
            raise TypeError(f"a {what}; a tool gives back a ToolResult, a dict or a str")


def _of_fields(given: Mapping[str, Any]) -> ToolResult:
    match dict(given):
        case {"status": "error", "error": str(error), **rest} if not rest:
            return ToolResult.failed(error)
        case {"status": "success", "result": str(output), **rest} if not rest:
            return ToolResult(True, output, given)
        case _:
            pass
    _check_fields(given)
    _weigh(given)
    fields = {name: value for name, value in given.items() if name != "output"}
    output = given.get("output", json.dumps(fields, ensure_ascii=False))
    return ToolResult(True, output, fields)


def _check_fields(fields: Mapping[str, Any]) -> None:
    if taken := _NOT_FOR_FIELDS & set(fields):
        raise ValueError(
            f"a field named {min(taken)!r}; to fail, raise ToolError or give ToolResult.failed(…) "
            'or {"status": "error", "error": "…"}'
        )


def _weigh(value: object) -> int:
    """How many characters it is, about.

    Raises:
        TypeError: There is something in it that JSON does not have.
        ValueError: There is a number in it that JSON cannot hold.
    """
    match value:
        case None | bool():
            return 4
        case str() if type(value) is str or isinstance(value, StrEnum):
            return len(value)
        case int() if -_MAX_INTEGER <= value < _MAX_INTEGER:
            return 20
        case float() if math.isfinite(value):
            return 20
        case int() | float():
            raise ValueError(f"the number {value!r:.20}, which JSON cannot hold")
        case list() | tuple():
            return sum(map(_weigh, cast(list[object], value)))
        case Mapping():
            entries = cast(Mapping[object, object], value)
            for key in entries:
                if not isinstance(key, str):
                    raise TypeError(f"an object with {key!r:.20} as a name; names are text")
            return sum(map(_weigh, [*entries.keys(), *entries.values()]))
        case _:
            raise TypeError(f"a {type(value).__name__}, which JSON does not have")
