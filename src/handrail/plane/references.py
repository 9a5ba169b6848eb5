"""References: `${1.content}` in a chain stands for what an earlier call gave back.

Only whole values: nothing is ever put together from an agent's words and somebody else's.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, cast

from handrail.core.audit import canonical
from handrail.core.errors import BadInput
from handrail.core.execution import ToolExecution
from handrail.core.tool import ToolCall

_MOST_REFERENCES = 20
# Two texts that are just not blobs.
_MOST_FILLED_CHARS = 2_500_000

_REFERENCE = re.compile(r"\$\{([1-9][0-9]{0,3})((?:\.[A-Za-z0-9_]{1,64}){1,10})\}")


class Reference(NamedTuple):
    """Which call, counted from one, and the way to a value in its result."""

    text: str
    number: int
    way: tuple[str, ...]


def find_references(call: ToolCall, *, at_most: int) -> list[Reference]:
    """The references in a call's parameters.

    Raises:
        BadInput: One of them leads to a call that does not come before this one.
    """
    found = [reference for value in call.tool_params.values() for reference in _within(value)]
    if len(found) > _MOST_REFERENCES:
        raise BadInput(
            f"call {call.call_id!r} has {len(found):,} references;"
            f" at most {_MOST_REFERENCES} are allowed"
        )
    for reference in found:
        if reference.number > at_most:
            raise BadInput(f"call {call.call_id!r}: {reference.text} does not name an earlier call")
    return found


def fill_in(call: ToolCall, earlier: Sequence[ToolExecution | None]) -> ToolCall:
    """The call with values in the place of its references, and a note of where they are from.

    Raises:
        BadInput: A result holds no such value.
    """
    origins = {
        name: ", ".join(sorted({_call_id(earlier, one) for one in references}))
        for name, value in call.tool_params.items()
        if (references := list(_within(value)))
    }
    if not origins:
        return call
    _check_weight(call, earlier)
    params = {name: _filled(value, earlier) for name, value in call.tool_params.items()}
    return replace(call, tool_params=params, origins=origins)


def _check_weight(call: ToolCall, earlier: Sequence[ToolExecution | None]) -> None:
    """Before anything is put together: a few words can stand for very many."""
    references = [one for value in call.tool_params.values() for one in _within(value)]
    weight = sum(len(canonical(_look_up(reference, earlier))) for reference in references)
    if weight > _MOST_FILLED_CHARS:
        raise BadInput(
            f"call {call.call_id!r} would be filled with {weight:,} characters;"
            f" at most {_MOST_FILLED_CHARS:,} are allowed"
        )


def _within(value: object) -> Iterator[Reference]:
    if isinstance(value, str) and (reference := _as_reference(value)) is not None:
        yield reference
    elif isinstance(value, dict):
        for item in cast(dict[str, Any], value).values():
            yield from _within(item)
    elif isinstance(value, list):
        for item in cast(list[Any], value):
            yield from _within(item)


def _as_reference(text: str) -> Reference | None:
    if (match := _REFERENCE.fullmatch(text)) is None:
        return None
    return Reference(text, int(match[1]), tuple(match[2][1:].split(".")))


def _filled(value: object, earlier: Sequence[ToolExecution | None]) -> object:
    if isinstance(value, str) and (reference := _as_reference(value)) is not None:
        return _look_up(reference, earlier)
    if isinstance(value, dict):
        items = cast(dict[str, Any], value).items()
        return {name: _filled(item, earlier) for name, item in items}
    if isinstance(value, list):
        return [_filled(item, earlier) for item in cast(list[Any], value)]
    return value


def _look_up(reference: Reference, earlier: Sequence[ToolExecution | None]) -> object:
    execution = earlier[reference.number - 1]
    value: Any = None if execution is None else execution.result
    for step in reference.way:
        if isinstance(value, dict) and step in value:
            value = cast(dict[str, Any], value)[step]
        elif isinstance(value, list) and step.isdecimal() and int(step) < len(cast(Any, value)):
            value = cast(list[Any], value)[int(step)]
        else:
            raise BadInput(f"{reference.text}: the result of that call has no {step!r} there")
    return value


def _call_id(earlier: Sequence[ToolExecution | None], reference: Reference) -> str:
    execution = earlier[reference.number - 1]
    return reference.text if execution is None else execution.call_id
