"""Ids as people type them: the end of one is enough where it fits only one."""

import re
from collections.abc import Sequence
from typing import Any

from handrail.core.errors import BadInput

_SHOWN = 8
_ID = re.compile(r"[a-z]{3}_[0-9a-f]{20,}")


def short(whole: str) -> str:
    """The end of an id; what is no id, such as `operator:ada`, is shown as it is."""
    return whole[-_SHOWN:] if _ID.fullmatch(whole) else whole


def find_by_end(found: Sequence[dict[str, Any]], key: str, wanted: str, noun: str) -> Any:
    """The one thing whose id ends like this.

    Raises:
        BadInput: None does, or more than one.
    """
    fitting = [one for one in found if one[key].endswith(wanted)]
    if len(fitting) != 1:
        number = f"no {noun}" if not fitting else f"more than one {noun}"
        raise BadInput(f"{number} has an id that ends in {wanted!r}")
    return fitting[0]
