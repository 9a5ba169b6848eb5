"""The arguments of a tool use, as a model writes them: mostly JSON.

What cannot be read is no trouble of the whole reply: it becomes a tool use whose input says so
under `_unreadable`. Whoever acts on tool uses asks `why_unreadable` first, and answers the model
with it. No tool of ours takes such a field, so that even a forgotten question ends in a refusal.
"""

import json
from typing import Any, NoReturn, cast

from handrail.core.conversation import ToolUse
from handrail.core.tool import JsonObject
from handrail.core.visible import cut

UNREADABLE = "_unreadable"
_MOST_CHARS = 500


def read_arguments(given: object) -> JsonObject:
    """The object that a text says; some servers send the object itself."""
    found = _parse(given) if isinstance(given, str) else given
    if not isinstance(found, dict) or not _can_be_sent(cast("dict[str, Any]", found)):
        shown = given if isinstance(given, str) else repr(given)
        return mark_unreadable(
            f"the arguments are no JSON object: {sound(cut(shown, _MOST_CHARS))}"
        )
    return cast("dict[str, Any]", found)


def mark_unreadable(why: str) -> JsonObject:
    return {UNREADABLE: why}


def why_unreadable(use: ToolUse) -> str | None:
    """Why a tool use cannot be acted on, in words for the model; None where it can."""
    if UNREADABLE not in use.input:
        return None
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
