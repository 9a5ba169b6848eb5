"""list_directory: what is in a folder."""

from datetime import datetime
from typing import Any, ClassVar

from pydantic import Field, field_validator

from handrail.core.files import EntryKind
from handrail.core.hands import Entry, Hands, Listing
from handrail.core.pattern import NamePattern
from handrail.core.risk import Finding, RiskLevel
from handrail.core.tool import Effect, JsonObject, ToolResult
from handrail.core.verdict import Plan
from handrail.core.visible import visible
from handrail.policy.security import Scene
from handrail.policy.validators.paths import PathValidator
from handrail.tools.base import Tool, ToolParams

SHOWN_ENTRIES = 1_000
_NAMED_SKIPPED = 5


class ListDirectoryParams(ToolParams):
    path: str = Field(description="Folder to list, relative to the workspace; `.` is its root.")
    recursive: bool = Field(default=False, description="Whether to list what lies below as well.")
    pattern: str = Field(
        default="*",
        min_length=1,
        max_length=500,
        description=(
            "Which names to list, such as `*.py`. With a slash it is matched against the path "
            "below "
            "the folder and goes as deep as it says, such as `src/**/*.py`."
        ),
    )

    @field_validator("pattern")
    @classmethod
    def _stays_below(cls, pattern: str) -> str:
        if ".." in pattern.split("/"):
            raise ValueError("`..` leads nowhere; choose another path instead")
        return pattern


class ListDirectory(Tool[ListDirectoryParams]):
    name: ClassVar[str] = "list_directory"
    description: ClassVar[str] = (
        "List a folder of the workspace, with type, size and time of each entry. Hidden entries "
        "are listed only if the pattern begins with a dot, and hidden folders are entered only if "
        f"they are the path. Links are listed, not followed. At most {SHOWN_ENTRIES:,} entries "
        "are shown; all are counted."
    )
    params = ListDirectoryParams
    safety_level: ClassVar[RiskLevel] = RiskLevel.LOW
    effect: ClassVar[Effect] = Effect.READ

    def pre_validate(self, params: ListDirectoryParams, scene: Scene) -> list[Finding]:
        return PathValidator(scene.workspace, scene.rules).validate_reading(params.path)

    def plan(self, params: ListDirectoryParams, scene: Scene) -> Plan:
        return Plan(paths=(_resolve(params, scene),))

    def preview(self, params: ListDirectoryParams) -> str:
        what = "" if params.pattern == "*" else f"{visible(params.pattern)} in "
        below = " and what lies below" if params.recursive else ""
        return f"List {what}{params.path}{below}"

    async def execute(
        self,
        params: ListDirectoryParams,
        scene: Scene,
        hands: Hands,
        facts: JsonObject | None = None,
    ) -> ToolResult:
        pattern = NamePattern.read(params.pattern, recursive=params.recursive)
        path = _resolve(params, scene)
        found = await hands.files.list(path, pattern, most=SHOWN_ENTRIES)
        fields = {
            "files": [_as_json(entry) for entry in found.entries],
            "total_count": found.total,
            "truncated": found.total > len(found.entries) or not found.whole,
        }
        return ToolResult(True, "\n".join([*map(_line, found.entries), *_notes(found)]), fields)


def _resolve(params: ListDirectoryParams, scene: Scene) -> str:
    return PathValidator(scene.workspace, scene.rules).resolve_reading(params.path)


def _as_json(entry: Entry) -> dict[str, Any]:
    return {
        "name": entry.name,
        "path": entry.path,
        "type": entry.kind,
        "size": entry.size,
        "modified": None if entry.modified is None else _in_words(entry.modified),
    }


def _in_words(moment: datetime) -> str:
    return moment.isoformat().replace("+00:00", "Z")


def _line(entry: Entry) -> str:
    """A name can hold anything, line ends as well; here one entry is one line."""
    path = visible(entry.path)
    match entry.kind:
        case EntryKind.DIRECTORY:
            return f"{path}/"
        case EntryKind.FILE:
            return path if entry.size is None else f"{path}  {entry.size:,} bytes"
        case EntryKind.LINK:
            return f"{path}  (link)"
        case EntryKind.OTHER:
            return f"{path}  (neither file nor folder)"


def _notes(found: Listing) -> list[str]:
    """In brackets, what the entries do not say."""
    notes: list[str] = []
    shown = len(found.entries)
    if not found.total:
        notes.append("[nothing here fits]")
    if found.total > shown:
        notes.append(f"[{shown:,} of {found.total:,} entries; narrow the path or the pattern]")
    if not found.whole:
        notes.append("[there are too many entries to check; narrow the path or the pattern]")
    if found.skipped:
        named = ", ".join(map(visible, found.skipped[:_NAMED_SKIPPED]))
        more = len(found.skipped) - _NAMED_SKIPPED
        rest = f" and {more:,} more" if more > 0 else ""
        notes.append(f"[could not be read: {named}{rest}]")
    return notes
