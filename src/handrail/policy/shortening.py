"""Long values cut to what a person looks at; what is left out is counted."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

SHOWN_CHARS = 2_000
SHOWN_ITEMS = 100


def shorten(value: Any) -> Any:
    """The same JSON value with long texts and lists cut."""
    if isinstance(value, str) and len(value) > SHOWN_CHARS:
        return f"{value[:SHOWN_CHARS]}… [{len(value) - SHOWN_CHARS:,} more characters]"
    if isinstance(value, Mapping):
        return {key: shorten(item) for key, item in cast(Mapping[str, Any], value).items()}
    if isinstance(value, list | tuple):
        items = cast(Sequence[Any], value)
        rest = [f"… [{len(items) - SHOWN_ITEMS:,} more]"] if len(items) > SHOWN_ITEMS else []
        return [*map(shorten, items[:SHOWN_ITEMS]), *rest]
    return value
