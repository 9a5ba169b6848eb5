from typing import Any

import pytest

from handrail.core.errors import BadInput, ToolError
from handrail.core.hands import Hands
from handrail.core.risk import RiskLevel
from handrail.core.search import Found, Match, Query
from handrail.core.tool import Effect, Site, ToolResult
from handrail.core.verdict import Plan
from handrail.policy.security import Scene
from handrail.testing import FakeCommands, FakeFiles, FakeHands
from handrail.tools.builtin.search_code import SearchCode, SearchCodeParams
from handrail.tools.catalogue import builtin_registry

SCENE = Scene("/home/ada/project")
TREE = {"a.py": b"import os\nOS = 1\n", "src/b.py": b"x\n  import os\n", "c.md": b"import os\n"}


async def searched(pattern: str = "import", **params: Any) -> ToolResult:
    wanted = SearchCodeParams(pattern=pattern, **params)
    return await SearchCode().execute(wanted, SCENE, FakeHands(TREE))


class Given:
    """A searcher that has found something already, and remembers what it was asked."""

    def __init__(self, found: Found):
        self.found = found
        self.asked: list[tuple[Query, str, int]] = []

    async def search(self, query: Query, path: str, *, most: int) -> Found:
        self.asked.append((query, path, most))
        return self.found


async def told(found: Found, **params: Any) -> ToolResult:
    hands = Hands(FakeFiles({}), FakeCommands({}), Given(found))
    return await SearchCode().execute(SearchCodeParams(pattern="x", **params), SCENE, hands)


async def test_each_match_comes_with_path_line_column_and_text() -> None:
    assert await searched(path="src") == ToolResult(
        success=True,
        output="src/b.py:2:   import os",
        fields={
            "matches": [{"path": "src/b.py", "line": 2, "column": 3, "text": "  import os"}],
            "total_count": 1,
            "truncated": False,
        },
    )


async def test_only_files_that_fit_are_searched() -> None:
    result = await searched(file_pattern="*.py")
    assert [match["path"] for match in result.fields["matches"]] == ["a.py", "src/b.py"]


async def test_case_counts_unless_it_is_said_not_to() -> None:
    assert (await searched("OS")).fields["total_count"] == 1
    assert (await searched("OS", case_sensitive=False)).fields["total_count"] == 4


async def test_after_so_many_the_rest_is_counted() -> None:
    result = await searched(max_results=2)
    assert (len(result.fields["matches"]), result.fields["total_count"]) == (2, 3)
    assert result.fields["truncated"] is True
    assert result.output.endswith("\n[2 of 3 matches; narrow the search]")


async def test_nothing_is_said_to_be_nothing() -> None:
    result = await searched("nowhere")
    assert (result.success, result.output) == (True, "[no matches]")
    assert result.fields == {"matches": [], "total_count": 0, "truncated": False}


async def test_a_search_that_was_cut_short_says_why() -> None:
    result = await told(Found((Match("a", 1, 1, "x"),), 1, "the search was ended after 30 s"))
    assert result.fields["truncated"] is True
    assert result.output == "a:1: x\n[not all was found: the search was ended after 30 s]"


async def test_a_line_cannot_pretend_to_be_one_of_ours() -> None:
    result = await told(Found((Match("a\nb", 1, 1, "\tx\x1b[2J\u202e"),), 1))
    assert result.output == "a\\x0ab:1: \tx\\x1b[2J\\u{202e}"


async def test_words_reach_the_searcher_as_they_were_judged() -> None:
    given = Given(Found((), 0))
    params = SearchCodeParams(
        pattern="-x", path="lib/../src", file_pattern="*.c", case_sensitive=False, max_results=7
    )
    await SearchCode().execute(params, SCENE, Hands(FakeFiles({}), FakeCommands({}), given))
    assert given.asked == [(Query("-x", False, "*.c"), "src", 7)]
    assert SearchCode().plan(params, SCENE) == Plan(paths=("src",))


async def test_hands_without_a_searcher_say_so() -> None:
    with pytest.raises(ToolError, match="a search is not available here"):
        await SearchCode().execute(
            SearchCodeParams(pattern="x"), SCENE, Hands(FakeFiles({}), FakeCommands({}))
        )


@pytest.mark.parametrize(
    ("path", "rule"),
    [
        ("", "path.spelling"),
        ("..", "path.boundary"),
        ("/etc", "path.boundary"),
        (".env", "path.dotenv"),
        (".ssh", "path.credential-store"),
    ],
)
def test_path_is_refused_before_anyone_is_asked(path: str, rule: str) -> None:
    findings = SearchCode().pre_validate(SearchCodeParams(pattern="x", path=path), SCENE)
    assert [(found.rule, found.risk) for found in findings] == [(rule, RiskLevel.FORBIDDEN)]


def test_the_whole_workspace_raises_no_concern() -> None:
    assert SearchCode().pre_validate(SearchCodeParams(pattern="x"), SCENE) == []


@pytest.mark.parametrize(
    ("params", "field"),
    [
        ({}, "pattern"),
        ({"pattern": ""}, "pattern"),
        ({"pattern": "x" * 1_001}, "pattern"),
        ({"pattern": "a\0b"}, "pattern"),
        ({"pattern": "\ud800"}, "pattern"),
        ({"pattern": "x", "file_pattern": ""}, "file_pattern"),
        ({"pattern": "x", "max_results": 0}, "max_results"),
        ({"pattern": "x", "max_results": 1_001}, "max_results"),
        ({"pattern": "x", "flags": "-z"}, "flags"),
    ],
)
def test_parameters_that_do_not_fit_are_refused_by_name(params: dict[str, Any], field: str) -> None:
    with pytest.raises(BadInput, match=rf"^{field}: "):
        builtin_registry().parse("search_code", params)


def test_preview_says_what_will_happen() -> None:
    plain = SearchCodeParams(pattern="a\nb")
    choosy = SearchCodeParams(pattern="x" * 100, path="src", file_pattern="*.py")
    assert SearchCode().preview(plain) == "Search . for a\\x0ab"
    assert (
        SearchCode().preview(choosy) == f"Search *.py in src for {'x' * 80}… [20 more characters]"
    )


def test_model_is_told_what_is_left_out() -> None:
    assert "What .gitignore names is left out" in SearchCode().description


def test_searching_is_low_and_changes_nothing_and_happens_on_the_client() -> None:
    definition = SearchCode().definition
    assert (definition.name, definition.safety_level, definition.effect, definition.site) == (
        "search_code",
        RiskLevel.LOW,
        Effect.READ,
        Site.CLIENT,
    )
