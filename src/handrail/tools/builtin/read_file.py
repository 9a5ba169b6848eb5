"""read_file: the content of one file."""

import asyncio
import base64
import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import ClassVar

from pydantic import Field

from handrail.core.errors import ErrorType
from handrail.core.hands import Hands
from handrail.core.risk import Finding, RiskLevel
from handrail.core.tool import Effect, JsonObject, ToolResult
from handrail.core.verdict import Plan
from handrail.policy.security import Scene
from handrail.policy.validators.paths import PathValidator
from handrail.policy.validators.sizes import SizeLimiter
from handrail.tools.base import Tool, ToolParams
from handrail.tools.encoding import TextEncoding, decode_text

SHOWN_LINES = 2_000
SHOWN_BYTES = 256_000

# Up to here, finding lines is quicker than asking a thread to do it.
_INLINE_BYTES = 256_000

_STRETCH = 65_536

_LINE = re.compile(r"[^\n]*\n|[^\n]+")

# Binary files that models can look at, by how they begin.
_MEDIA = {
    b"%PDF-": "application/pdf",
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
}


class ReadFileParams(ToolParams):
    path: str = Field(description="File to read, relative to the workspace.")
    encoding: TextEncoding = Field(
        default="utf-8", max_length=40, description="Text encoding of the file."
    )
    offset: int | None = Field(default=None, ge=0, description="Lines to skip before reading.")
    limit: int | None = Field(
        default=None, ge=1, description=f"Lines to read; without it, at most {SHOWN_LINES}."
    )


class ReadFile(Tool[ReadFileParams]):
    name: ClassVar[str] = "read_file"
    description: ClassVar[str] = (
        "Read one file of the workspace. Text comes as lines; pdf, png, jpeg, gif and webp come "
        f"as base64. At most {SHOWN_LINES:,} lines or {SHOWN_BYTES // 1000} kB are shown at once: "
        "use offset and limit to go on."
    )
    params = ReadFileParams
    safety_level: ClassVar[RiskLevel] = RiskLevel.LOW
    effect: ClassVar[Effect] = Effect.READ

    def pre_validate(self, params: ReadFileParams, scene: Scene) -> list[Finding]:
        return PathValidator(scene.workspace, scene.rules).validate_reading(params.path)

    def plan(self, params: ReadFileParams, scene: Scene) -> Plan:
        return Plan(paths=(_resolve(params, scene),))

    def preview(self, params: ReadFileParams) -> str:
        return f"Read {params.path}"

    async def execute(
        self,
        params: ReadFileParams,
        scene: Scene,
        hands: Hands,
        facts: JsonObject | None = None,
    ) -> ToolResult:
        limit = SizeLimiter().max_file_bytes
        file = await hands.files.read(_resolve(params, scene), max_bytes=limit)
        if (media := _media_type(file.data)) is not None:
            return await asyncio.to_thread(_picture, file.data, media)
        text = decode_text(file.data, params.encoding)
        if text is None:
            return ToolResult.failed(
                f"{params.path} is binary, or not {params.encoding}; only text, pdf, png, jpeg, "
                "gif and webp can be read",
                ErrorType.VALIDATION,
            )
        if file.size <= _INLINE_BYTES:
            return _excerpt(text, params, file.size)
        return await asyncio.to_thread(_excerpt, text, params, file.size)


def _resolve(params: ReadFileParams, scene: Scene) -> str:
    return PathValidator(scene.workspace, scene.rules).resolve_reading(params.path)


def _media_type(data: bytes) -> str | None:
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next((media for start, media in _MEDIA.items() if data.startswith(start)), None)


def _picture(data: bytes, media: str) -> ToolResult:
    content = base64.b64encode(data).decode("ascii")
    fields = {"content": content, "encoding": "base64", "media_type": media, "size": len(data)}
    return ToolResult(True, f"[{media}, {len(data):,} bytes]", {**fields, "truncated": False})


def _excerpt(text: str, params: ReadFileParams, size: int) -> ToolResult:
    """The lines that were asked for, and as many of them as a model is shown."""
    total = text.count("\n") + (not text.endswith("\n") and text != "")
    first = min(params.offset or 0, total)
    most = min(params.limit or SHOWN_LINES, total - first)
    if most == total and _fits(text):
        return _found(text, text, params, size)
    start = _start_of(first, text) if most else len(text)
    lines = (match[0] for match in islice(_LINE.finditer(text, start), most))
    fitting = list(_as_many_as_fit(lines))
    shown, last, note = "".join(fitting), first + len(fitting), ""
    if most and not fitting:
        line = next(_LINE.finditer(text, start))[0]
        shown = line.encode()[:SHOWN_BYTES].decode(errors="ignore")
        note = f"\n[the beginning of line {first + 1:,}, which is {len(line):,} characters]"
    elif len(fitting) < most or (params.limit is None and last < total):
        note = f"\n[lines {first + 1:,} to {last:,} of {total:,}; go on with offset={last}]"
    content, truncated = shown, bool(note)
    if note and params.limit is not None:
        # Whoever asks for so many lines gets them; it is the model that is spared.
        end = len(text) if first + most == total else _start_of(most, text, start)
        content, truncated = text[start:end], False
    return _found(shown + note, content, params, size, truncated=truncated)


def _found(
    shown: str, content: str, params: ReadFileParams, size: int, *, truncated: bool = False
) -> ToolResult:
    fields = {"content": content, "encoding": params.encoding, "size": size}
    return ToolResult(True, shown, {**fields, "truncated": truncated})


def _fits(text: str) -> bool:
    # A character is at most four bytes: most texts need not be encoded to know.
    return len(text) * 4 <= SHOWN_BYTES or len(text.encode()) <= SHOWN_BYTES


def _start_of(line: int, text: str, start: int = 0) -> int:
    """Where a line begins. Line ends are counted a stretch at a time, not taken one by one."""
    while (passed := text.count("\n", start, start + _STRETCH)) < line:
        line -= passed
        start += _STRETCH
    for _ in range(line):
        start = text.index("\n", start) + 1
    return start


def _as_many_as_fit(lines: Iterable[str]) -> Iterator[str]:
    total = 0
    for line in lines:
        total += len(line.encode())
        if total > SHOWN_BYTES:
            return
        yield line
