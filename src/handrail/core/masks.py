"""The marks that stand for text which is not stored: secrets, and the rest of what is long."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

MASK = "[masked]"
_CUT = re.compile(r"… \[[\d,]+ more characters\]\Z")


def cut_mark(chars: int) -> str:
    """The end of a text of which so many characters are left out."""
    return f"… [{chars:,} more characters]"


def is_cut(text: str) -> bool:
    """True if the end of the text is left out."""
    return _CUT.search(text) is not None


def count_masks(value: Any) -> int:
    """How many marks are in a JSON value. Text that only looks like a mark counts as one."""
    if isinstance(value, str):
        return value.count(MASK) + is_cut(value)
    if isinstance(value, Mapping):
        items = [*cast(Mapping[str, Any], value).values()]
    elif isinstance(value, list | tuple):
        items = [*cast(Sequence[Any], value)]
    else:
        return 0
    return sum(map(count_masks, items))
