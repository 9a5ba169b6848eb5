from datetime import UTC, datetime
from typing import Any

import pytest

from handrail.core.errors import BadInput, FileOperationError
from handrail.core.files import EntryKind
from handrail.core.hands import Entry, Hands, Listing
from handrail.core.pattern import NamePattern
from handrail.core.risk import RiskLevel
from handrail.core.tool import Effect, Site, ToolResult
from handrail.core.verdict import Plan
from handrail.policy.security import Scene
from handrail.testing import FakeCommands, FakeFiles, FakeHands
from handrail.tools.builtin.list_directory import ListDirectory, ListDirectoryParams
from handrail.tools.catalogue import builtin_registry

SCENE = Scene("/home/ada/project")
TREE = {"README.md": b"hello", "src/a.py": b"1", "src/deep/b.py": b"", ".env": b"x"}


async def listed(files: dict[str, bytes] = TREE, *, path: str = ".", **params: Any) -> ToolResult:
    wanted = ListDirectoryParams(path=path, **params)
    return await ListDirectory().execute(wanted, SCENE, FakeHands(files))


async def told(found: Listing) -> ToolResult:
    class Given(FakeFiles):
        async def list(self, path: str, pattern: NamePattern, *, most: int) -> Listing:
            return found

    hands = Hands(Given({}), FakeCommands({}))
    return await ListDirectory().execute(ListDirectoryParams(path="."), SCENE, hands)


async def test_each_entry_comes_with_name_path_type_size_and_time() -> None:
    when = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
    result = await told(Listing((Entry("src/a.py", EntryKind.FILE, 1234, when),), 1))
    assert result == ToolResult(
        success=True,
        output="src/a.py  1,234 bytes",
        fields={
            "files": [
                {
                    "name": "a.py",
                    "path": "src/a.py",
                    "type": "file",
                    "size": 1234,
                    "modified": "2026-03-01T12:00:00Z",
                }
            ],
            "total_count": 1,
            "truncated": False,
        },
    )


async def test_every_kind_is_told_apart_in_a_line() -> None:
    entries = (
        Entry("src", EntryKind.DIRECTORY, 4096),
        Entry("a", EntryKind.FILE, 0),
        Entry("b", EntryKind.FILE),
        Entry("l", EntryKind.LINK, 3),
        Entry("p", EntryKind.OTHER, 0),
    )
    result = await told(Listing(entries, 5))
    assert result.output.split("\n") == [
        "src/",
        "a  0 bytes",
        "b",
        "l  (link)",
        "p  (neither file nor folder)",
    ]


async def test_a_folder_is_listed_without_what_lies_below() -> None:
    assert (await listed()).output == "README.md  5 bytes\nsrc/"


async def test_below_only_when_asked() -> None:
    result = await listed(recursive=True, pattern="*.py")
    assert [entry["path"] for entry in result.fields["files"]] == ["src/a.py", "src/deep/b.py"]


async def test_a_pattern_with_a_slash_goes_as_deep_as_it_says() -> None:
    result = await listed(pattern="src/**/*.py")
    assert [entry["path"] for entry in result.fields["files"]] == ["src/a.py", "src/deep/b.py"]


async def test_hidden_ones_only_if_the_pattern_begins_with_a_dot() -> None:
    assert (await listed(pattern=".*")).output == ".env  1 bytes"


async def test_nothing_is_said_to_be_nothing() -> None:
    result = await listed(pattern="*.rs")
    assert (result.success, result.output) == (True, "[nothing here fits]")
    assert result.fields == {"files": [], "total_count": 0, "truncated": False}


async def test_after_a_thousand_entries_the_rest_is_counted() -> None:
    result = await listed({f"{number:04}": b"" for number in range(1_234)})
    assert (len(result.fields["files"]), result.fields["total_count"]) == (1_000, 1_234)
    assert result.fields["truncated"] is True
    assert result.output.endswith("\n[1,000 of 1,234 entries; narrow the path or the pattern]")


async def test_a_listing_that_was_cut_says_so() -> None:
    result = await told(Listing((Entry("a", EntryKind.FILE, 1),), 1, whole=False))
    assert result.fields["truncated"] is True
    assert "[there are too many entries to check" in result.output


async def test_skipped_folders_are_named_but_not_all_of_many() -> None:
    few = await told(Listing((), 0, ("a/b", "c")))
    many = await told(Listing((), 0, tuple("abcdefgh")))
    assert "[could not be read: a/b, c]" in few.output
    assert "[could not be read: a, b, c, d, e and 3 more]" in many.output


async def test_a_name_cannot_pretend_to_be_a_line_of_ours() -> None:
    result = await listed({"a\n[nothing here fits]": b"", "b\x1b[2J": b""})
    assert result.output.split("\n") == [
        "a\\x0a[nothing here fits]  0 bytes",
        "b\\x1b[2J  0 bytes",
    ]


async def test_missing_folder_is_an_error_of_the_file_system() -> None:
    with pytest.raises(FileOperationError):
        await listed(path="nothing")


@pytest.mark.parametrize(
    "path", ["src", "./src//", "lib/../src", "workspace/src", "/home/ada/project/src"]
)
async def test_what_is_listed_is_what_was_judged(path: str) -> None:
    assert (await listed(path=path)).fields["files"][0]["path"] == "src/a.py"
    plan = ListDirectory().plan(ListDirectoryParams(path=path), SCENE)
    assert plan == Plan(paths=("src",))


@pytest.mark.parametrize(
    ("path", "rule"),
    [
        ("", "path.spelling"),
        ("..", "path.boundary"),
        ("/etc", "path.boundary"),
        (".ssh", "path.credential-store"),
        ("home/.aws", "path.credential-store"),
        (".handrail", "path.handrail-own"),
    ],
)
def test_path_is_refused_before_anyone_is_asked(path: str, rule: str) -> None:
    findings = ListDirectory().pre_validate(ListDirectoryParams(path=path), SCENE)
    assert [(found.rule, found.risk) for found in findings] == [(rule, RiskLevel.FORBIDDEN)]


@pytest.mark.parametrize("path", [".", "src", ".git", ".github", "missing"])
def test_harmless_path_raises_no_concern(path: str) -> None:
    assert ListDirectory().pre_validate(ListDirectoryParams(path=path), SCENE) == []


@pytest.mark.parametrize(
    ("params", "field"),
    [
        ({}, "path"),
        ({"path": ".", "pattern": ""}, "pattern"),
        ({"path": ".", "pattern": "x" * 501}, "pattern"),
        ({"path": ".", "pattern": "../*"}, "pattern"),
        ({"path": ".", "recursive": "yes"}, "recursive"),
        ({"path": ".", "depth": 3}, "depth"),
    ],
)
def test_parameters_that_do_not_fit_are_refused_by_name(params: dict[str, Any], field: str) -> None:
    with pytest.raises(BadInput, match=rf"^{field}: "):
        builtin_registry().parse("list_directory", params)


def test_preview_says_what_will_happen() -> None:
    plain = ListDirectoryParams(path="src")
    choosy = ListDirectoryParams(path="src", recursive=True, pattern="*.py")
    assert ListDirectory().preview(plain) == "List src"
    assert ListDirectory().preview(choosy) == "List *.py in src and what lies below"


def test_listing_is_low_and_changes_nothing_and_happens_on_the_client() -> None:
    definition = ListDirectory().definition
    assert (definition.name, definition.safety_level, definition.effect, definition.site) == (
        "list_directory",
        RiskLevel.LOW,
        Effect.READ,
        Site.CLIENT,
    )
