"""delete_file: remove one file, so that a person can bring it back."""

import asyncio
from typing import ClassVar

from pydantic import Field

from handrail.core.errors import FileOperationError, FolderError
from handrail.core.hands import FileContent, Hands
from handrail.core.risk import Finding, RiskLevel
from handrail.core.survey import Survey
from handrail.core.tool import JsonObject, ToolResult
from handrail.core.verdict import Plan
from handrail.core.visible import visible
from handrail.policy.security import Scene
from handrail.policy.validators.paths import PathValidator
from handrail.tools.base import Tool, ToolParams
from handrail.tools.diff import Diff, count_lines, unified_diff
from handrail.tools.effects import binary_kind
from handrail.tools.encoding import decode_text
from handrail.tools.file_changes import check_facts, find, resolve, show_change, shown_path


class DeleteFileParams(ToolParams):
    path: str = Field(description="File to delete, relative to the workspace.")


class DeleteFile(Tool[DeleteFileParams]):
    name: ClassVar[str] = "delete_file"
    description: ClassVar[str] = (
        "Delete one file of the workspace. Folders, links and files of more than 100 MB are "
        "deleted with `rm` in run_bash."
    )
    params = DeleteFileParams
    safety_level: ClassVar[RiskLevel] = RiskLevel.HIGH
    ruled_as: ClassVar[tuple[str, ...]] = ("write_file",)
    changes: ClassVar[str] = "a file in the workspace"

    def pre_validate(self, params: DeleteFileParams, scene: Scene) -> list[Finding]:
        validator = PathValidator(scene.workspace, scene.rules)
        if findings := validator.validate_path(params.path, writing=True):
            return findings
        reason = f"deletes {validator.resolve_path(params.path)!r}"
        return [Finding("write.deletes", reason, RiskLevel.HIGH)]

    def plan(self, params: DeleteFileParams, scene: Scene) -> Plan:
        return Plan(paths=(resolve(params.path, scene),))

    def preview(self, params: DeleteFileParams) -> str:
        return f"Delete {shown_path(params.path)}"

    async def survey(self, params: DeleteFileParams, scene: Scene, hands: Hands) -> Survey:
        path = resolve(params.path, scene)
        found = await _find(path, hands)
        # Hashing what is large takes a while, and others shall go on meanwhile.
        return await asyncio.to_thread(_look, path, found)

    async def execute(
        self,
        params: DeleteFileParams,
        scene: Scene,
        hands: Hands,
        facts: JsonObject | None = None,
    ) -> ToolResult:
        path = resolve(params.path, scene)
        found = await _find(path, hands)
        state = await asyncio.to_thread(lambda: found.state)
        check_facts(path, state, facts)
        await hands.files.remove(path, expected=state)
        return ToolResult(True, f"Deleted {path}", {"path": path})


async def _find(path: str, hands: Hands) -> FileContent:
    try:
        found = await find(path, hands)
    except FolderError as error:
        raise FolderError(f"{error}; delete it with `rm -r` in run_bash") from error
    if found is None:
        raise FileOperationError(f"{path} does not exist")
    return found


def _look(path: str, found: FileContent) -> Survey:
    text = decode_text(found.data, "utf-8")
    if text is None:
        extent = f"{binary_kind(found.data)}, {found.size:,} bytes"
        diff = Diff(f"[deleted] {visible(path)}: {extent}\n")
    else:
        diff = unified_diff(path, text, None)
        extent = count_lines(diff.removed)
    return show_change({path: found.state}, diff, summary=f"Delete {visible(path)} ({extent})")
