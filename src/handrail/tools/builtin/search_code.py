"""search_code: the lines that match a regular expression."""

from typing import ClassVar

from pydantic import Field, field_validator

from handrail.core.hands import Hands
from handrail.core.risk import Finding, RiskLevel
from handrail.core.search import Found, Match, Query
from handrail.core.tool import Effect, JsonObject, ToolResult
from handrail.core.verdict import Plan
from handrail.core.visible import cut, visible
from handrail.policy.security import Scene
from handrail.policy.validators.paths import PathValidator
from handrail.tools.base import Tool, ToolParams

_PREVIEWED_CHARS = 80


class SearchCodeParams(ToolParams):
    pattern: str = Field(
        min_length=1, max_length=1_000, description="Regular expression, as ripgrep reads it."
    )
    path: str = Field(
        default=".", description="File or folder to search, relative to the workspace."
    )
    file_pattern: str | None = Field(
        default=None,
        min_length=1,
        max_length=500,
        description="Which files to search, such as `*.py` or `src/**/*.ts`; without it, all.",
    )
    case_sensitive: bool = Field(default=True, description="Whether `a` and `A` differ.")
    max_results: int = Field(
        default=200, ge=1, le=1_000, description="Lines to show; all are counted."
    )

    @field_validator("pattern")
    @classmethod
    def _can_be_searched_for(cls, pattern: str) -> str:
        try:
            data = pattern.encode()
        except UnicodeEncodeError:
            raise ValueError("contains characters that are not text") from None
        if b"\0" in data:
            raise ValueError("contains a zero byte; files that contain one are not searched")
        return pattern


class SearchCode(Tool[SearchCodeParams]):
    name: ClassVar[str] = "search_code"
    description: ClassVar[str] = (
        "Search the text files of the workspace for a regular expression, line by line, with "
        "ripgrep. What .gitignore names is left out, and so are hidden files (unless file_pattern "
        "begins with a dot), binary files, protected files and links. Long lines are cut."
    )
    params = SearchCodeParams
    safety_level: ClassVar[RiskLevel] = RiskLevel.LOW
    effect: ClassVar[Effect] = Effect.READ

    def pre_validate(self, params: SearchCodeParams, scene: Scene) -> list[Finding]:
        return PathValidator(scene.workspace, scene.rules).validate_reading(params.path)

    def plan(self, params: SearchCodeParams, scene: Scene) -> Plan:
        return Plan(paths=(_resolve(params, scene),))

    def preview(self, params: SearchCodeParams) -> str:
        pattern = cut(visible(params.pattern), _PREVIEWED_CHARS)
        files = "" if params.file_pattern is None else f"{visible(params.file_pattern)} in "
        return f"Search {files}{visible(params.path)} for {pattern}"

    async def execute(
        self,
        params: SearchCodeParams,
        scene: Scene,
        hands: Hands,
        facts: JsonObject | None = None,
    ) -> ToolResult:
        query = Query(params.pattern, params.case_sensitive, params.file_pattern)
        path = _resolve(params, scene)
        found = await hands.searches.search(query, path, most=params.max_results)
        fields = {
            "matches": [_as_json(match) for match in found.matches],
            "total_count": found.total,
            "truncated": found.total > len(found.matches) or found.cut_short is not None,
        }
        return ToolResult(True, "\n".join([*map(_line, found.matches), *_notes(found)]), fields)


def _resolve(params: SearchCodeParams, scene: Scene) -> str:
    return PathValidator(scene.workspace, scene.rules).resolve_reading(params.path)


def _as_json(match: Match) -> JsonObject:
    return {"path": match.path, "line": match.line, "column": match.column, "text": match.text}


def _line(match: Match) -> str:
    text = visible(match.text, keep="\t")
    return f"{visible(match.path)}:{match.line}: {text}"


def _notes(found: Found) -> list[str]:
    """In brackets, what the matches do not say."""
    notes: list[str] = []
    shown = len(found.matches)
    if not found.total:
        notes.append("[no matches]")
    if found.total > shown:
        notes.append(f"[{shown:,} of {found.total:,} matches; narrow the search]")
    if found.cut_short is not None:
        notes.append(f"[not all was found: {found.cut_short}]")
    return notes
