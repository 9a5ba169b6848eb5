"""write_file: put text into one file, whole or not at all."""

import asyncio
import codecs
from typing import ClassVar, Literal

from pydantic import Field, ValidationInfo, field_validator

from handrail.core.blob import Blob
from handrail.core.errors import ErrorType, StaleFileError
from handrail.core.grant import CallClass
from handrail.core.hands import FileContent, FileState, Hands
from handrail.core.risk import Finding, RiskLevel, forbidden
from handrail.core.sight import fact_of
from handrail.core.survey import Survey
from handrail.core.tool import JsonObject, ToolResult
from handrail.core.verdict import Plan
from handrail.core.visible import visible
from handrail.policy.redaction import mask_text
from handrail.policy.security import Scene
from handrail.policy.validators.paths import PathValidator
from handrail.policy.validators.sizes import SizeLimiter
from handrail.tools.base import Tool, ToolParams
from handrail.tools.diff import Diff, count_lines, unified_diff
from handrail.tools.encoding import TextEncoding, decode_text, encode_behind
from handrail.tools.long_text import LongText, fetch_text

_ANY_EXECUTE = 0o111


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
    changes: ClassVar[str] = "a file in the workspace"

    def pre_validate(self, params: WriteFileParams, scene: Scene) -> list[Finding]:
        validator = PathValidator(scene.workspace, scene.rules)
        if findings := validator.validate_path(params.path, writing=True):
            return findings
        return [
            *scene.rules.judge_write(validator.resolve_path(params.path)),
            *_judge_encoding(params),
            *_judge_extent(params),
        ]

    def plan(self, params: WriteFileParams, scene: Scene) -> Plan:
        return Plan(paths=(_resolve(params, scene),))

    def preview(self, params: WriteFileParams) -> str:
        verb = "Append" if params.mode == "append" else "Write"
        path = "/".join(part for part in params.path.split("/") if part not in ("", "."))
        return f"{verb} {_extent(params.content)} to {visible(path)}{_encoding_note(params)}"

    def call_class(self, params: WriteFileParams, scene: Scene) -> CallClass | None:
        if self.pre_validate(params, scene):
            return None
        top, *below = _resolve(params, scene).split("/")
        stem, _, extension = (below or [top])[-1].rpartition(".")
        if not stem or not extension:
            return None
        if not below:
            kind = f"*.{extension}"
            return CallClass(
                f"write_file:{kind}", f"writes to {kind} in the workspace's top folder"
            )
        kind = f"{top}/**/*.{extension}"
        return CallClass(f"write_file:{kind}", f"writes to {kind}")

    async def survey(self, params: WriteFileParams, scene: Scene, hands: Hands) -> Survey:
        path = _resolve(params, scene)
        found = await _find(path, hands)
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
        path = _resolve(params, scene)
        found = await _find(path, hands)
        text = await _text(params, hands)
        state = _state(found)
        if facts and FileState.from_facts(facts[fact_of(path)]) != state:
            raise StaleFileError(f"{path} has changed since it was checked")
        kept, added = _content(params, found, text)
        if _is_same(found, kept + added):
            fields = {"path": path, "size": len(kept) + len(added)}
            return ToolResult(True, f"{path} already has this content; nothing was written", fields)
        if too_much := SizeLimiter().check_file(len(kept) + len(added)):
            return ToolResult.failed(too_much[0].reason, ErrorType.VALIDATION)
        await hands.files.write(path, kept + added, expected=state)
        draft: JsonObject = {"draft": True} if hands.in_draft else {}
        verb = "Appended" if params.mode == "append" else "Wrote"
        where = f"{path} in the draft" if hands.in_draft else path
        fields = {"path": path, "size": len(kept) + len(added), **draft}
        return ToolResult(True, f"{verb} {len(added):,} bytes to {where}", fields)


def _resolve(params: WriteFileParams, scene: Scene) -> str:
    return PathValidator(scene.workspace, scene.rules).resolve_path(params.path)


def _extent(content: str | Blob) -> str:
    if isinstance(content, Blob):
        return f"{content.size:,} bytes"
    return count_lines(content.count("\n") + (content[-1:] not in ("", "\n")))


def _encoding_note(params: WriteFileParams) -> str:
    return "" if _is_plain(params) else f", as {params.encoding}"


def _is_plain(params: WriteFileParams) -> bool:
    """Whether the bytes are those everybody expects of this text."""
    if isinstance(params.content, Blob):
        return True
    data = params.content.encode(params.encoding)
    return data.removeprefix(codecs.BOM_UTF8) == params.content.encode()


def _judge_encoding(params: WriteFileParams) -> list[Finding]:
    """A person is shown text, but programs read bytes, and most take them for UTF-8."""
    if isinstance(params.content, Blob) or _is_plain(params):
        return []
    if decode_text(params.content.encode(params.encoding), "utf-8") is not None:
        reason = f"written as {params.encoding}, this becomes other text than it shows"
        return [forbidden("write.disguise", reason)]
    reason = f"it is written as {params.encoding}, which few programs expect"
    return [Finding("write.encoding", reason, RiskLevel.HIGH)]


def _judge_extent(params: WriteFileParams) -> list[Finding]:
    """What travels apart is too large to be looked through, whether or not a machine has looked."""
    too_much = SizeLimiter().check_file(params.size)
    if too_much or not isinstance(params.content, Blob):
        return too_much
    reason = f"too large to review ({params.content.size / 1_000_000:.1f} MB)"
    return [Finding("write.large", reason, RiskLevel.HIGH)]


async def _find(path: str, hands: Hands) -> FileContent | None:
    return await hands.files.find(path, max_bytes=SizeLimiter().max_file_bytes)


def _state(found: FileContent | None) -> FileState:
    return FileState(exists=False) if found is None else found.state


async def _text(params: WriteFileParams, hands: Hands) -> str:
    content = params.content
    return await fetch_text(content, hands) if isinstance(content, Blob) else content


def _content(params: WriteFileParams, found: FileContent | None, text: str) -> tuple[bytes, bytes]:
    """What is kept of the file, and what comes behind it."""
    kept = found.data if found is not None and params.mode == "append" else b""
    return kept, encode_behind(kept, text, params.encoding)


def _look(path: str, found: FileContent | None, text: str, params: WriteFileParams) -> Survey:
    diff = _diff(path, found, text, params)
    findings = _concerns(path, found, params)
    if not diff.whole:
        findings.append(Finding("write.shown-in-part", diff.not_shown, RiskLevel.HIGH))
    facts = {fact_of(path): _state(found).as_facts()}
    kept, added = _content(params, found, text)
    return Survey(
        facts,
        tuple(findings),
        mask_text(diff.text),
        unmasked=diff.text,
        summary=_summary(path, found, diff, params),
        changes_nothing=_is_same(found, kept + added),
    )


def _is_same(found: FileContent | None, data: bytes) -> bool:
    return found is not None and found.data == data


def _summary(path: str, found: FileContent | None, diff: Diff, params: WriteFileParams) -> str:
    """Which file changes, and by how many lines; empty where lines do not tell it."""
    name = visible(path) + _encoding_note(params)
    added, removed = diff.added, diff.removed
    if found is None:
        return f"Create {name} ({count_lines(added)})"
    if not (added or removed) or decode_text(found.data, params.encoding) is None:
        return ""
    if not removed:
        return f"Add {count_lines(added)} to {name}"
    if not added:
        return f"Remove {count_lines(removed)} from {name}"
    counts = f"+{added:,} \N{MINUS SIGN}{removed:,}"
    return f"Change {count_lines(max(added, removed))} in {name} ({counts})"


def _concerns(path: str, found: FileContent | None, params: WriteFileParams) -> list[Finding]:
    """What the file that is there says against the write."""
    if found is None:
        return []
    kept = found.size if params.mode == "append" else 0
    findings = SizeLimiter().check_file(kept + params.size)
    if found.mode & _ANY_EXECUTE:
        reason = f"{path!r} can be executed as a program"
        findings.append(Finding("write.executable", reason, RiskLevel.HIGH))
    if decode_text(found.data, params.encoding) is None:
        verb = "is added to" if params.mode == "append" else "replaces"
        reason = f"text {verb} content that is binary, or not {params.encoding}"
        findings.append(Finding("write.over-binary", reason, RiskLevel.HIGH))
    return findings


def _diff(path: str, found: FileContent | None, text: str, params: WriteFileParams) -> Diff:
    old = None if found is None else decode_text(found.data, params.encoding) or ""
    kept = old or "" if params.mode == "append" else ""
    return unified_diff(path, old, kept + text)
