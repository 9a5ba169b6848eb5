"""Calls that run a program, as the command line that people would type."""

import shlex
from typing import cast

from handrail.core.tool import JsonObject

# Which parameter names the program or, for git, its action.
_FIRST = {"execute_command": "command", "git": "action"}
_IN_TEXT = {*_FIRST.values(), "args"}


def command_text(tool_name: str, params: JsonObject) -> str:
    """`git commit -m 'Fix tax' shop.py`; empty for tools that run no program."""
    first, args = params.get(_FIRST.get(tool_name, "")), params.get("args", [])
    if not isinstance(first, str) or not isinstance(args, list):
        return ""
    words = [first, *map(str, cast(list[object], args))]
    return shlex.join(["git", *words] if tool_name == "git" else words)


def further_params(params: JsonObject) -> JsonObject:
    """The parameters that are not part of the command line."""
    return {name: value for name, value in params.items() if name not in _IN_TEXT}
