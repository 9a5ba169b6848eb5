"""move_file: give one file another path, and never replace another file."""

import asyncio
from typing import ClassVar

from pydantic import Field

from handrail.core.errors import FileOperationError, FolderError
from handrail.core.grant import CallClass
from handrail.core.hands import FileContent, Hands
from handrail.core.risk import Finding, RiskLevel, forbidden
from handrail.core.survey import Survey
from handrail.core.tool import JsonObject, ToolResult
from handrail.core.verdict import Plan
from handrail.core.visible import visible
from handrail.policy.effects import judge_move
from handrail.policy.security import Scene
from handrail.policy.validators.paths import PathValidator
from handrail.tools.base import Tool, ToolParams
from handrail.tools.diff import Diff, unified_diff
from handrail.tools.encoding import decode_text
from handrail.tools.file_changes import (
    ABSENT,
    check_facts,
    class_of_writes,
    find,
    judge_executable,
    resolve,
    show_change,
    shown_path,
)


class MoveFileParams(ToolParams):
    path: str = Field(description="File to move, relative to the workspace.")
    to: str = Field(
        description="Its whole new path, also relative to the workspace. Nothing may be there yet."
    )


class MoveFile(Tool[MoveFileParams]):
    name: ClassVar[str] = "move_file"
    description: ClassVar[str] = (
        "Move or rename one file of the workspace. Missing folders are created, and no other file "
        "is replaced. Folders, links and files of more than 100 MB are moved with `mv` in run_bash."
    )
    params = MoveFileParams
    safety_level: ClassVar[RiskLevel] = RiskLevel.MEDIUM
    ruled_as: ClassVar[tuple[str, ...]] = ("write_file",)
    changes: ClassVar[str] = "the path of a file in the workspace"

    def pre_validate(self, params: MoveFileParams, scene: Scene) -> list[Finding]:
        validator = PathValidator(scene.workspace, scene.rules)
        paths = params.path, params.to
        if findings := [
            found for path in paths for found in validator.validate_path(path, writing=True)
        ]:
            return findings
        path, to = _resolve(params, scene)
        if path == to:
            return [forbidden("write.same-path", f"{path!r} would be moved to where it is")]
        return [*scene.rules.judge_write(to), *judge_move(path, scene.rules)]

    def plan(self, params: MoveFileParams, scene: Scene) -> Plan:
        return Plan(paths=_resolve(params, scene))

    def preview(self, params: MoveFileParams) -> str:
        return f"Move {shown_path(params.path)} to {shown_path(params.to)}"

    def call_class(self, params: MoveFileParams, scene: Scene) -> CallClass | None:
        if self.pre_validate(params, scene):
            return None
        path, to = map(class_of_writes, _resolve(params, scene))
        if path is None or path != to:
            return None
        kind = path.key.partition(":")[2]
        return CallClass(
            f"move_file:{kind}", f"moves of {kind} in the same folder of the workspace"
        )

    async def survey(self, params: MoveFileParams, scene: Scene, hands: Hands) -> Survey:
        path, to = _resolve(params, scene)
        found = await _find(path, to, hands)
        # Hashing what is large takes a while, and others shall go on meanwhile.
        return await asyncio.to_thread(_look, path, to, found, scene)

    async def execute(
        self,
        params: MoveFileParams,
        scene: Scene,
        hands: Hands,
        facts: JsonObject | None = None,
    ) -> ToolResult:
        path, to = _resolve(params, scene)
        found = await _find(path, to, hands)
        state = await asyncio.to_thread(lambda: found.state)
        check_facts(path, state, facts)
        await hands.files.move(path, to, expected=state)
        return ToolResult(True, f"Moved {path} to {to}", {"path": to, "changed": [path, to]})


def _resolve(params: MoveFileParams, scene: Scene) -> tuple[str, str]:
    return resolve(params.path, scene), resolve(params.to, scene)


async def _find(path: str, to: str, hands: Hands) -> FileContent:
    try:
        found = await find(path, hands)
    except FolderError as error:
        raise FolderError(f"{error}; move it with `mv` in run_bash") from error
    if found is None:
        raise FileOperationError(f"{path} does not exist")
    try:
        there = await find(to, hands)
    except FolderError as error:
        raise FolderError(f"{error}; say the whole new path of the file") from error
    if there is not None:
        raise FileOperationError(f"{to} exists already, and move_file never replaces a file")
    return found


def _look(path: str, to: str, found: FileContent, scene: Scene) -> Survey:
    states = {path: found.state, to: ABSENT}
    diff = _diff(path, to, found, scene)
    return show_change(states, diff, judge_executable(path, found), summary="")


def _diff(path: str, to: str, found: FileContent, scene: Scene) -> Diff:
    """The content only where the new place gives it weight: it may run there by itself."""
    text = decode_text(found.data, "utf-8") if scene.rules.judge_write(to) else None
    if text is not None:
        return unified_diff(to, None, text)
    return Diff(
        f"[renamed] {visible(path)} \N{RIGHTWARDS ARROW} {visible(to)}: {found.size:,} bytes\n"
    )
