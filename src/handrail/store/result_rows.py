"""Results as rows: a text that stands in a result twice is stored once.

`output` is what a model is shown, and most often begins with a field of the tool's own, such as
`content`. Then only the rest of it is stored, with the name of that field beside it.
"""

from typing import Any

from handrail.core.tool import JsonObject

_OUTPUT = "output"
# Below this, the name of a field is hardly shorter than what it would spare.
_WORTH_CHARS = 32


def without_repetition(result: JsonObject | None) -> tuple[JsonObject | None, str | None]:
    """The result to store, and the field that its output begins with, if it does."""
    output = (result or {}).get(_OUTPUT)
    if result is None or not isinstance(output, str) or len(output) < _WORTH_CHARS:
        return result, None
    starts = [
        (len(value), name)
        for name, value in result.items()
        if name != _OUTPUT and isinstance(value, str) and len(value) >= _WORTH_CHARS
        if output.startswith(value)
    ]
    if not starts:
        return result, None
    repeated, field = max(starts)
    return {**result, _OUTPUT: output[repeated:]}, field


def with_repetition(result: dict[str, Any] | None, field: str | None) -> dict[str, Any] | None:
    """The result as it was before it was stored."""
    if result is None or field is None:
        return result
    return {**result, _OUTPUT: result[field] + result[_OUTPUT]}
