"""The exit code of a command that ran to its end and failed."""

from collections.abc import Mapping
from typing import Any, cast


def failed_exit(call: Mapping[str, Any]) -> int | None:
    """The exit code of a completed call if it is not 0; None for any other call.

    A list of calls has the code itself, a call with its result has it in the result.
    """
    if call["status"] != "completed":
        return None
    result = cast(Mapping[str, Any], call.get("result") or {})
    code = call.get("exit_code", result.get("exit_code"))
    return code if isinstance(code, int) and code != 0 else None
