"""write_file: put text into one file, whole or not at all."""

import asyncio
from typing import ClassVar, Literal

from pydantic import Field, ValidationInfo, field_validator

from handrail.core.blob import Blob
from handrail.core.errors import ErrorType
from handrail.core.grant import CallClass
from handrail.core.hands import FileContent, Hands
from handrail.core.risk import Finding, RiskLevel
from handrail.core.survey import Survey
from handrail.core.tool import JsonObject, ToolResult
from handrail.core.verdict import Plan
from handrail.core.visible import visible
from handrail.policy.security import Scene
from handrail.policy.validators.sizes import SizeLimiter
from handrail.tools.base import Tool, ToolParams
from handrail.tools.diff import Diff, count_lines, unified_diff
from handrail.tools.encoding import TextEncoding, decode_text, encode_behind
from handrail.tools.file_changes import (
    check_facts,
    class_of_writes,
    count_text_lines,
    encoding_note,
    find,
    judge_encoding,
    judge_executable,
    judge_written,
    resolve,
    show_change,
    shown_path,
    state_of,
    summarise,
)
from handrail.tools.long_text import LongText, fetch_text


class WriteFileParams(ToolParams):
    path: str = Field(description="File to write, relative to the workspace.")
    mode: Literal["write", "append"] = Field(
        default="write", description="Whether to replace what is there, or to add to its end."
    )
    encoding: TextEncoding = Field(
        default="utf-8", max_length=40, description="Text encoding of the file."
    )
    content: LongText = Field(description="The text, with its line ends, as it is to be written.")

    @field_validator("content")
    @classmethod
    def _can_be_encoded(cls, content: str | Blob, info: ValidationInfo) -> str | Blob:
        encoding = info.data.get("encoding")
        if isinstance(content, Blob) and encoding not in (None, "utf-8"):
            raise ValueError("uploaded content is written as it is, in utf-8")
        if isinstance(content, str) and encoding is not None:
            try:
                content.encode(encoding)
            except UnicodeError as error:
                raise ValueError(f"cannot be written in that encoding: {error}") from None
        return content

    @property
    def size(self) -> int:
        """How many bytes are to be written."""
        if isinstance(self.content, Blob):
            return self.content.size
        return len(self.content.encode(self.encoding))


class WriteFile(Tool[WriteFileParams]):
    name: ClassVar[str] = "write_file"
    description: ClassVar[str] = (
        "Write text to one file of the workspace, or append to it. Missing folders are created. "
        "The file is replaced whole or not at all and keeps its permissions; binary files "
        "cannot be written."
    )
    params = WriteFileParams
    safety_level: ClassVar[RiskLevel] = RiskLevel.MEDIUM
    large: ClassVar[str | None] = "content"
    editable: ClassVar[tuple[str, ...]] = ("content",)
    changes: ClassVar[str] = "a file in the workspace"

    def pre_validate(self, params: WriteFileParams, scene: Scene) -> list[Finding]:
        return [
            *judge_written(params.path, scene),
            *_judge_encoding(params),
            *_judge_extent(params),
        ]

    def plan(self, params: WriteFileParams, scene: Scene) -> Plan:
        return Plan(paths=(resolve(params.path, scene),))

    def preview(self, params: WriteFileParams) -> str:
        verb = "Append" if params.mode == "append" else "Write"
        name = shown_path(params.path) + _encoding_note(params)
        return f"{verb} {_extent(params.content)} to {name}"

    def call_class(self, params: WriteFileParams, scene: Scene) -> CallClass | None:
        if self.pre_validate(params, scene):
            return None
        return class_of_writes(resolve(params.path, scene))

    async def survey(self, params: WriteFileParams, scene: Scene, hands: Hands) -> Survey:
        path = resolve(params.path, scene)
        found = await find(path, hands)
        text = await _text(params, hands)
        # Hashing and comparing what is large takes a while, and others shall go on meanwhile.
        return await asyncio.to_thread(_look, path, found, text, params)

    async def execute(
        self,
        params: WriteFileParams,
        scene: Scene,
        hands: Hands,
        facts: JsonObject | None = None,
    ) -> ToolResult:
        path = resolve(params.path, scene)
        found = await find(path, hands)
        text = await _text(params, hands)
        state = state_of(found)
        check_facts(path, state, facts)
        kept, added = _content(params, found, text)
        if _is_same(found, kept + added):
            fields = {"path": path, "size": len(kept) + len(added)}
            return ToolResult(True, f"{path} already has this content; nothing was written", fields)
        if too_much := SizeLimiter().check_file(len(kept) + len(added)):
            return ToolResult.failed(too_much[0].reason, ErrorType.VALIDATION)
        await hands.files.write(path, kept + added, expected=state)
        verb = "Appended" if params.mode == "append" else "Wrote"
        fields = {"path": path, "size": len(kept) + len(added)}
        return ToolResult(True, f"{verb} {len(added):,} bytes to {path}", fields)


def _extent(content: str | Blob) -> str:
    if isinstance(content, Blob):
        return f"{content.size:,} bytes"
    return count_text_lines(content)


def _encoding_note(params: WriteFileParams) -> str:
    if isinstance(params.content, Blob):
        return ""
    return encoding_note(params.content, params.encoding)


def _judge_encoding(params: WriteFileParams) -> list[Finding]:
    if isinstance(params.content, Blob):
        return []
    return judge_encoding(params.content, params.encoding)


def _judge_extent(params: WriteFileParams) -> list[Finding]:
    """What travels apart is too large to be looked through, whether or not a machine has looked."""
    too_much = SizeLimiter().check_file(params.size)
    if too_much or not isinstance(params.content, Blob):
        return too_much
    reason = f"too large to review ({params.content.size / 1_000_000:.1f} MB)"
    return [Finding("write.large", reason, RiskLevel.HIGH)]


async def _text(params: WriteFileParams, hands: Hands) -> str:
    content = params.content
    return await fetch_text(content, hands) if isinstance(content, Blob) else content


def _content(params: WriteFileParams, found: FileContent | None, text: str) -> tuple[bytes, bytes]:
    """What is kept of the file, and what comes behind it."""
    kept = found.data if found is not None and params.mode == "append" else b""
    return kept, encode_behind(kept, text, params.encoding)


def _look(path: str, found: FileContent | None, text: str, params: WriteFileParams) -> Survey:
    diff = _diff(path, found, text, params)
    kept, added = _content(params, found, text)
    return show_change(
        {path: state_of(found)},
        diff,
        _concerns(path, found, params),
        summary=_summary(path, found, diff, params),
        changes_nothing=_is_same(found, kept + added),
    )


def _is_same(found: FileContent | None, data: bytes) -> bool:
    return found is not None and found.data == data


def _summary(path: str, found: FileContent | None, diff: Diff, params: WriteFileParams) -> str:
    """Which file changes, and by how many lines; empty where lines do not tell it."""
    name = visible(path) + _encoding_note(params)
    if found is None:
        return f"Create {name} ({count_lines(diff.added)})"
    return "" if decode_text(found.data, params.encoding) is None else summarise(name, diff)


def _concerns(path: str, found: FileContent | None, params: WriteFileParams) -> list[Finding]:
    """What the file that is there says against the write."""
    if found is None:
        return []
    kept = found.size if params.mode == "append" else 0
    findings = [*SizeLimiter().check_file(kept + params.size), *judge_executable(path, found)]
    if decode_text(found.data, params.encoding) is None:
        verb = "is added to" if params.mode == "append" else "replaces"
        reason = f"text {verb} content that is binary, or not {params.encoding}"
        findings.append(Finding("write.over-binary", reason, RiskLevel.HIGH))
    return findings


def _diff(path: str, found: FileContent | None, text: str, params: WriteFileParams) -> Diff:
    old = None if found is None else decode_text(found.data, params.encoding) or ""
    kept = old or "" if params.mode == "append" else ""
    return unified_diff(path, old, kept + text)
