"""The arguments of a tool use, as a model writes them: mostly JSON.

What cannot be read is no trouble of the whole reply: it becomes a tool use whose input says so
under `_unreadable`. Whoever acts on tool uses asks `why_unreadable` first, and answers the model
with it. No tool of ours takes such a field, so that even a forgotten question ends in a refusal.
"""

import json
import re
from dataclasses import replace
from typing import Any, NoReturn, cast

from handrail.core.conversation import Opaque, ToolUse
from handrail.core.errors import BadInput
from handrail.core.shape import check_numbers, check_shape
from handrail.core.tool import JsonObject
from handrail.core.visible import cut

UNREADABLE = "_unreadable"
_MOST_CHARS = 500
# Wider than what tools are called here, so that a near miss is answered as one.
_NAME = re.compile(r"[A-Za-z0-9_.:-]{1,100}")
_MOST_NAME_CHARS = 100
_NO_SUCH_NAME = "a tool name has only letters, digits and _, at most 64 of them"


def read_arguments(given: object) -> JsonObject:
    """The object that a text says; some servers send the object itself."""
    found = _parse(given) if isinstance(given, str) else given
    try:
        # What is sent to us over HTTP is held to the same.
        check_shape(found)
        check_numbers(found)
    except BadInput as error:
        return mark_unreadable(f"the arguments are not accepted: {error.message}")
    if not isinstance(found, dict) or not _can_be_sent(cast("dict[str, Any]", found)):
        shown = given if isinstance(given, str) else repr(given)
        return mark_unreadable(
            f"the arguments are not a JSON object: {sound(cut(shown, _MOST_CHARS))}"
        )
    return cast("dict[str, Any]", found)


def with_sound_name(use: ToolUse) -> ToolUse:
    """The tool use as it is; one whose name no tool can have says so, and keeps little of it."""
    if _NAME.fullmatch(use.name):
        return use
    name = sound(use.name[:_MOST_NAME_CHARS])
    if (more := len(use.name) - _MOST_NAME_CHARS) > 0:
        name += f"… [{more:,} more characters]"
    return replace(use, name=name or "nameless", input=mark_unreadable(_NO_SUCH_NAME))


def is_sound(part: Opaque) -> bool:
    """Whether a block that we only keep can be kept and sent at all."""
    try:
        check_shape(part.block)
        check_numbers(part.block)
    except BadInput:
        return False
    return _can_be_sent(dict(part.block))


def mark_unreadable(why: str) -> JsonObject:
    return {UNREADABLE: why}


def why_unreadable(use: ToolUse) -> str | None:
    """Why a tool use cannot be acted on, in words for the model; None where it can."""
    if UNREADABLE not in use.input:
        return None
    if use.input[UNREADABLE] == _NO_SUCH_NAME:
        return _NO_SUCH_NAME
    return f"{use.input[UNREADABLE]}; call {use.name} again with one whole JSON object"


def sound(text: str) -> str:
    """The text without halves of characters, which some servers send."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _parse(text: str) -> object:
    if not text.strip():
        return {}
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return None


def _can_be_sent(found: dict[str, Any]) -> bool:
    """Half of a character can be written in JSON, and nowhere be stored or sent on."""
    try:
        json.dumps(found, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, TypeError, RecursionError):
        return False
    return True


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")
