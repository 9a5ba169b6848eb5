"""edit_file: replace an exact text within one file."""

import asyncio
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import ClassVar, Self

from pydantic import Field, model_validator

from handrail.core.errors import ErrorType, FileOperationError, ToolError
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
from handrail.tools.diff import count_lines, unified_diff
from handrail.tools.encoding import TextEncoding, decode_text, encode_like
from handrail.tools.file_changes import (
    check_facts,
    class_of_writes,
    encoding_note,
    find,
    judge_encoding,
    judge_executable,
    judge_written,
    line_count,
    resolve,
    show_change,
    shown_path,
    summarise,
)

MOST_REPLACEMENTS = 10_000
_MOST_NAMED = 5
# A hint is worth no more than a moment.
_MOST_HINTED = 1_000_000
_LINE_ENDS = re.compile(r"\r\n?")


class EditFileParams(ToolParams):
    path: str = Field(description="File to change, relative to the workspace.")
    old: str = Field(
        min_length=1,
        description="The exact text to replace, with its whitespace and line ends. It must occur "
        "`count` times; add lines around it until it does.",
    )
    new: str = Field(description="The text that takes its place; empty to remove it.")
    count: int = Field(
        default=1, ge=1, le=MOST_REPLACEMENTS, description="How often `old` occurs in the file."
    )
    encoding: TextEncoding = Field(
        default="utf-8", max_length=40, description="Text encoding of the file."
    )

    @model_validator(mode="after")
    def _makes_a_change(self) -> Self:
        if self.old == self.new:
            raise ValueError("old and new are the same text, so nothing would change")
        for name, text in (("old", self.old), ("new", self.new)):
            try:
                text.encode(self.encoding)
            except UnicodeError as error:
                raise ValueError(f"{name} cannot be written in that encoding: {error}") from None
        return self


class CannotEdit(ToolError):
    """The text does not occur as often as it should, or the file cannot be changed like this."""

    error_type = ErrorType.VALIDATION


class EditFile(Tool[EditFileParams]):
    name: ClassVar[str] = "edit_file"
    description: ClassVar[str] = (
        "Replace an exact text in one file of the workspace; all else in it stays as it is. Use "
        "this instead of write_file for a small change: the person sees a short diff. The call "
        "fails, and says where the text occurs, unless it occurs exactly `count` times."
    )
    params = EditFileParams
    safety_level: ClassVar[RiskLevel] = RiskLevel.MEDIUM
    editable: ClassVar[tuple[str, ...]] = ("new",)
    ruled_as: ClassVar[tuple[str, ...]] = ("write_file",)
    changes: ClassVar[str] = "a file in the workspace"

    def pre_validate(self, params: EditFileParams, scene: Scene) -> list[Finding]:
        return [*judge_written(params.path, scene), *judge_encoding(params.new, params.encoding)]

    def plan(self, params: EditFileParams, scene: Scene) -> Plan:
        return Plan(paths=(resolve(params.path, scene),))

    def preview(self, params: EditFileParams) -> str:
        lines = count_lines(max(map(line_count, (params.old, params.new))))
        where = f"in {params.count:,} places of" if params.count > 1 else "in"
        name = shown_path(params.path) + encoding_note(params.new, params.encoding)
        return f"Change {lines} {where} {name}"

    def call_class(self, params: EditFileParams, scene: Scene) -> CallClass | None:
        if self.pre_validate(params, scene):
            return None
        return class_of_writes(resolve(params.path, scene))

    async def survey(self, params: EditFileParams, scene: Scene, hands: Hands) -> Survey:
        path = resolve(params.path, scene)
        found = await _find(path, hands)
        # Comparing what is large takes a while, and others shall go on meanwhile.
        return await asyncio.to_thread(_look, path, found, params)

    async def execute(
        self,
        params: EditFileParams,
        scene: Scene,
        hands: Hands,
        facts: JsonObject | None = None,
    ) -> ToolResult:
        path = resolve(params.path, scene)
        found = await _find(path, hands)
        state = await asyncio.to_thread(lambda: found.state)
        check_facts(path, state, facts)
        edit = await asyncio.to_thread(_edit, path, found, params)
        await hands.files.write(path, edit.data, expected=state)
        fields = {
            "path": path,
            "size": len(edit.data),
            "replacements": params.count,
            "line": edit.line,
        }
        times = "1 place" if params.count == 1 else f"{params.count:,} places"
        where = f"line {edit.line:,}" if params.count == 1 else f"the first in line {edit.line:,}"
        return ToolResult(True, f"Changed {times} in {path}, {where}", fields)


@dataclass(frozen=True, slots=True)
class _Edit:
    """A file before and after; `line` is where the first replacement begins."""

    before: str
    after: str
    data: bytes
    line: int


async def _find(path: str, hands: Hands) -> FileContent:
    found = await find(path, hands)
    if found is None:
        raise FileOperationError(f"{path} does not exist; write_file makes a new file")
    return found


def _look(path: str, found: FileContent, params: EditFileParams) -> Survey:
    edit = _edit(path, found, params)
    diff = unified_diff(path, edit.before, edit.after)
    findings = [
        *judge_executable(path, found),
        *judge_encoding(edit.after, params.encoding),
    ]
    name = visible(path) + encoding_note(edit.after, params.encoding)
    return show_change({path: found.state}, diff, findings, summary=summarise(name, diff))


def _edit(path: str, found: FileContent, params: EditFileParams) -> _Edit:
    """The file with the text replaced; raises CannotEdit."""
    before = decode_text(found.data, params.encoding)
    if before is None:
        raise CannotEdit(f"{path} is binary, or not {params.encoding}; only text can be edited")
    if encode_like(found.data, before, params.encoding) != found.data:
        raise CannotEdit(
            f"{path} cannot be edited as {params.encoding}: the rest of it would change as well"
        )
    if (times := before.count(params.old)) != params.count:
        raise CannotEdit(_why_not(path, before, params, times))
    # A character is at least a byte. What is far too large is not even made.
    _check_size(len(before) + times * (len(params.new) - len(params.old)))
    after = before.replace(params.old, params.new)
    data = encode_like(found.data, after, params.encoding)
    _check_size(len(data))
    return _Edit(before, after, data, _line_at(before, before.index(params.old)))


def _check_size(size: int) -> None:
    if too_much := SizeLimiter().check_file(size):
        raise CannotEdit(too_much[0].reason)


def _why_not(path: str, text: str, params: EditFileParams, times: int) -> str:
    if not times:
        return f"`old` does not occur in {path}{_hint(text, params.old)}; nothing was changed"
    lines = [_line_at(text, at) for at in islice(_places(text, params.old), _MOST_NAMED)]
    more = " and further ones" if times > len(lines) else ""
    where = f"{'line' if times == 1 else 'lines'} {', '.join(f'{line:,}' for line in lines)}{more}"
    advice = "add lines around it to `old` until it fits, or set `count`"
    return (
        f"`old` occurs {_times(times)} in {path} ({where}), not {_times(params.count)}; {advice}; "
        "nothing was changed"
    )


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number:,} times"


def _places(text: str, old: str) -> Iterator[int]:
    at = text.find(old)
    while at >= 0:
        yield at
        at = text.find(old, at + len(old))


def _line_at(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def _hint(text: str, old: str) -> str:
    """What else the agent may have meant, if only line ends or other whitespace differ."""
    if len(text) + len(old) > _MOST_HINTED:
        return ""
    if _LINE_ENDS.sub("\n", old) in _LINE_ENDS.sub("\n", text):
        ends = "\\r\\n" if "\r\n" in text else "\\n"
        return f": only the line ends differ, the lines of the file end with {ends}"
    words = " ".join(old.split())
    at = " ".join(text.split()).find(words) if words else -1
    if at < 0:
        return ""
    return f": only the whitespace differs from line {_line_of_word(text, at):,}"


def _line_of_word(text: str, at: int) -> int:
    """The line of a place in the text, which was found with one space between its words."""
    left = " ".join(text.split()).count(" ", 0, at)
    for number, line in enumerate(text.split("\n"), 1):
        left -= len(line.split())
        if left < 0:
            return number
    raise AssertionError("the place is in the text")
