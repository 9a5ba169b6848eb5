"""The scripts of a package.json that `npm test`, `npm run x` and their like run, for the card."""

import hashlib
import json
import posixpath
from collections.abc import Sequence
from typing import Any, cast

from handrail.core.errors import ToolError
from handrail.core.files import Files
from handrail.core.sight import FileSort, SeenFile, SeenStep
from handrail.core.visible import visible

_FILE = "package.json"
_MOST_BYTES = 1024 * 1024
_RUNNERS = {"npm", "pnpm", "yarn", "bun"}
_RUN = {"run", "run-script"}
_NPM_SHORT = {"test": "test", "tst": "test", "t": "test", "start": "start", "stop": "stop"}
# Any other flag may choose another package, whose scripts these are not.
_HARMLESS_FLAGS = {"-s", "--silent", "--if-present"}
# npm runs these before and after a script.
_AROUND = ("pre", "", "post")


async def script_lines(files: Files, steps: Sequence[SeenStep]) -> list[str]:
    """A line for each script that the steps run.

    Only the package.json that the approval is bound to is shown: one that has changed since the
    steps were looked at is left out.
    """
    return [line for step in steps for line in await _lines_of(files, step)]


async def _lines_of(files: Files, step: SeenStep) -> list[str]:
    name = _script_named_by(step.argv)
    seen = next((file for file in step.files if posixpath.basename(file.path) == _FILE), None)
    if name is None or seen is None or seen.sort is not FileSort.FILE:
        return []
    scripts = await _read(files, seen)
    names = [f"{when}{name}" for when in _AROUND]
    return [f"script   {one}: {visible(scripts[one])}" for one in names if one in scripts]


def _script_named_by(argv: Sequence[str]) -> str | None:
    program = posixpath.basename(argv[0])
    own = argv[1 : argv.index("--")] if "--" in argv else argv[1:]
    words = [word for word in own if word not in _HARMLESS_FLAGS]
    if program not in _RUNNERS or not words or any(word.startswith("-") for word in words):
        return None
    if words[0] in _RUN:
        return words[1] if len(words) > 1 else None
    if program == "npm":
        return _NPM_SHORT.get(words[0])
    return words[0] if program != "bun" else None


async def _read(files: Files, seen: SeenFile) -> dict[str, str]:
    try:
        data = (await files.read(seen.path, max_bytes=_MOST_BYTES)).data
        parsed = json.loads(data)
    except (ToolError, ValueError, RecursionError):
        return {}
    is_bound = seen.mark.startswith(hashlib.sha256(data).hexdigest())
    scripts = cast(dict[str, Any], parsed).get("scripts") if isinstance(parsed, dict) else None
    if not is_bound or not isinstance(scripts, dict):
        return {}
    found = cast(dict[str, object], scripts)
    return {name: text for name, text in found.items() if isinstance(text, str)}
