from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handrail.core.errors import (
    BadInput,
    ErrorType,
    FileOperationError,
    PathValidationError,
    StaleFileError,
)
from handrail.core.grant import CallClass
from handrail.core.hands import FileContent, Hands
from handrail.core.project import Autonomy
from handrail.core.risk import Finding, RiskLevel
from handrail.core.survey import Survey
from handrail.core.tool import Effect, Site, ToolResult
from handrail.core.verdict import Plan, Ruling
from handrail.executors.files.filesystem import FileSystemExecutor
from handrail.policy.redaction import MASK
from handrail.policy.security import Scene
from handrail.testing import FakeCommands, FakeFiles, FakeHands
from handrail.tools.builtin.write_file import WriteFile, WriteFileParams
from handrail.tools.judgement import judge_call
from handrail.tools.registry import ToolRegistry

SCENE = Scene("/home/ada/project")
TOOL = WriteFile()


def wanted(content: str = "new\n", path: str = "a.txt", **others: Any) -> WriteFileParams:
    return WriteFileParams(path=path, content=content, **others)


async def survey(before: dict[str, bytes], params: WriteFileParams) -> Survey:
    return await TOOL.survey(params, SCENE, FakeHands(before))


async def after(before: dict[str, bytes], params: WriteFileParams) -> dict[str, bytes]:
    files = FakeFiles(before)
    result = await TOOL.execute(params, SCENE, Hands(files, FakeCommands({})))
    assert result.success
    return files.files


def concerns(found: Survey) -> list[tuple[str, RiskLevel]]:
    return [(finding.rule, finding.risk) for finding in found.findings]


async def test_new_file_is_written() -> None:
    hands = FakeHands()
    assert await TOOL.execute(wanted("héllo\n", "src/a.py"), SCENE, hands) == ToolResult(
        True, "Wrote 7 bytes to src/a.py", {"path": "src/a.py", "size": 7}
    )
    assert (await hands.files.read("src/a.py", max_bytes=9)).data == "héllo\n".encode()


async def test_old_file_is_replaced() -> None:
    assert await after({"a.txt": b"old and longer"}, wanted()) == {"a.txt": b"new\n"}


async def test_text_is_added_to_the_end() -> None:
    hands = FakeHands({"a.txt": b"old\n"})
    result = await TOOL.execute(wanted(mode="append"), SCENE, hands)
    assert result == ToolResult(True, "Appended 4 bytes to a.txt", {"path": "a.txt", "size": 8})
    assert (await hands.files.read("a.txt", max_bytes=9)).data == b"old\nnew\n"


async def test_text_is_added_to_nothing() -> None:
    assert await after({}, wanted(mode="append")) == {"a.txt": b"new\n"}


async def test_content_is_kept_as_it_is() -> None:
    content = "a\r\nb\rc\n\n\x0b\u2028\ufeff"
    assert await after({}, wanted(content)) == {"a.txt": content.encode()}


@pytest.mark.parametrize("encoding", ["utf-16", "latin-1", "cp1252", "utf-8-sig"])
async def test_text_is_written_and_continued_in_its_encoding(encoding: str) -> None:
    files = await after({}, wanted("één\n", encoding=encoding))
    files = await after(files, wanted("twéé\n", encoding=encoding, mode="append"))
    assert files["a.txt"] == "één\ntwéé\n".encode(encoding)


@pytest.mark.parametrize(
    "path",
    [
        "src/a.py",
        "./src//a.py",
        "lib/../src/a.py",
        "workspace/src/a.py",
        "/home/ada/project/src/a.py",
    ],
)
async def test_what_is_written_is_what_was_judged(path: str) -> None:
    assert await after({}, wanted(path=path)) == {"src/a.py": b"new\n"}
    assert TOOL.plan(wanted(path=path), SCENE) == Plan(paths=("src/a.py",))


def parse(params: dict[str, Any]) -> WriteFileParams:
    _, parsed = ToolRegistry([TOOL]).parse("write_file", params)
    assert isinstance(parsed, WriteFileParams)
    return parsed


def test_what_is_not_said_is_utf_8_in_place_of_the_old() -> None:
    assert parse({"path": "a", "content": "x"}) == wanted("x", "a", mode="write", encoding="utf-8")


@pytest.mark.parametrize(
    ("params", "field"),
    [
        ({"path": "a"}, "content"),
        ({"content": "a"}, "path"),
        ({"path": "a", "content": 3}, "content"),
        ({"path": "a", "content": None}, "content"),
        ({"path": "a", "content": "x", "mode": "delete"}, "mode"),
        ({"path": "a", "content": "x", "mode": "a"}, "mode"),
        ({"path": "a", "content": "x", "encoding": "rot13"}, "encoding"),
        ({"path": "a", "content": "x", "encoding": "nonsense"}, "encoding"),
        ({"path": "a", "content": "x", "force": True}, "force"),
        ({"path": "a", "content": "é", "encoding": "ascii"}, "content"),
        ({"path": "a", "content": "\u2014", "encoding": "latin-1"}, "content"),
        ({"path": "a", "content": "\ud800"}, "content"),
    ],
)
def test_bad_parameters_are_refused_by_name(params: dict[str, Any], field: str) -> None:
    with pytest.raises(BadInput, match=rf"^{field}: "):
        parse(params)


@pytest.mark.parametrize(
    ("path", "rule"),
    [
        ("", "path.spelling"),
        ("../x", "path.boundary"),
        ("/etc/passwd", "path.boundary"),
        (".env", "path.dotenv"),
        (".git/hooks/pre-commit", "path.git-internals"),
        (".handrail/policy.toml", "path.handrail-own"),
        ("id_rsa", "path.private-key"),
        ("tool.exe", "write.binary"),
        ("lib/evil.so", "write.binary"),
    ],
)
def test_path_is_refused_before_anyone_is_asked(path: str, rule: str) -> None:
    findings = TOOL.pre_validate(wanted(path=path), SCENE)
    assert [(found.rule, found.risk) for found in findings] == [(rule, RiskLevel.FORBIDDEN)]
    assert judge_call(TOOL, wanted(path=path), SCENE).ruling is Ruling.DENY


@pytest.mark.parametrize(
    ("path", "risk"),
    [
        ("src/a.py", RiskLevel.MEDIUM),
        ("README", RiskLevel.MEDIUM),
        ("run.sh", RiskLevel.HIGH),
        ("src/../package.json", RiskLevel.HIGH),
        ("settings.json", RiskLevel.HIGH),
        ("a.xyz", RiskLevel.HIGH),
    ],
)
def test_risk_goes_by_kind(path: str, risk: RiskLevel) -> None:
    assert judge_call(TOOL, wanted(path=path), SCENE).risk is risk


@pytest.mark.parametrize(
    ("path", "autonomy", "ruling"),
    [
        ("a.py", Autonomy.READ_ONLY, Ruling.DENY),
        ("a.py", Autonomy.SUPERVISED, Ruling.ASK),
        ("a.py", Autonomy.FULL, Ruling.ALLOW),
        ("a.sh", Autonomy.FULL, Ruling.ASK),
    ],
)
def test_who_is_asked_goes_by_autonomy(path: str, autonomy: Autonomy, ruling: Ruling) -> None:
    scene = Scene("/home/ada/project", autonomy)
    assert judge_call(TOOL, wanted(path=path), scene).ruling is ruling


@pytest.mark.parametrize(
    ("characters", "encoding", "allowed"),
    [
        (100_000_000, "utf-8", True),
        (100_000_001, "utf-8", False),
        (50_000_000, "utf-16-le", True),
        (50_000_001, "utf-16-le", False),
    ],
)
def test_size_is_counted_in_bytes(characters: int, encoding: str, allowed: bool) -> None:
    findings = TOOL.pre_validate(wanted("x" * characters, encoding=encoding), SCENE)
    assert ("size.file" in [found.rule for found in findings]) is not allowed


async def test_file_that_would_grow_too_large_is_refused() -> None:
    before = {"a.txt": b"x" * 99_999_999}
    params = wanted("yy", mode="append")
    assert ("size.file", RiskLevel.FORBIDDEN) in concerns(await survey(before, params))
    hands = FakeHands(before)
    result = await TOOL.execute(params, SCENE, hands)
    assert (result.success, result.error_type) == (False, ErrorType.VALIDATION)
    assert (await hands.files.read("a.txt", max_bytes=10**9)).size == 99_999_999


@pytest.mark.parametrize(
    ("params", "sentence"),
    [
        (wanted("a\nb\n", "src/a.py"), "Write 2 lines to src/a.py"),
        (wanted("a\nb", "src/a.py"), "Write 2 lines to src/a.py"),
        (wanted("a", "src/a.py"), "Write 1 line to src/a.py"),
        (wanted("", "src/a.py"), "Write 0 lines to src/a.py"),
        (wanted("a\n" * 1234, "a.md", mode="append"), "Append 1,234 lines to a.md"),
    ],
)
def test_preview_says_what_will_happen(params: WriteFileParams, sentence: str) -> None:
    assert TOOL.preview(params) == sentence


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("src/app/main.py", "writes to src/**/*.py"),
        ("src/main.py", "writes to src/**/*.py"),
        ("./src/x/../main.py", "writes to src/**/*.py"),
        ("docs/a.md", "writes to docs/**/*.md"),
        ("notes.md", "writes to *.md in the workspace's top folder"),
    ],
)
def test_class_is_a_folder_and_a_kind(path: str, words: str) -> None:
    found = TOOL.call_class(wanted(path=path), SCENE)
    assert found is not None
    assert found.words == words


def test_calls_of_one_class_have_one_key_and_others_another() -> None:
    keys = [
        found.key
        for path in ("src/a.py", "src/b/c.py", "src/a.js", "lib/a.py", "a.py")
        if (found := TOOL.call_class(wanted(path=path), SCENE)) is not None
    ]
    assert keys[0] == keys[1]
    assert len(set(keys)) == 4
    assert TOOL.call_class(wanted(path="a.py"), SCENE) == CallClass(
        "write_file:*.py", "writes to *.py in the workspace's top folder"
    )


@pytest.mark.parametrize(
    "path",
    ["README", ".gitignore", "src/run", "src/run.sh", "src/conftest.py", "pyproject.toml",
     ".github/a.md", "a.xyz", "a.exe", "../a.py", ".env", "src/main.py."],
)  # fmt: skip
def test_no_class_is_offered_for_what_is_more_than_ordinary(path: str) -> None:
    assert TOOL.call_class(wanted(path=path), SCENE) is None


async def test_survey_of_a_new_file_shows_it_all() -> None:
    assert await survey({}, wanted("a\nb\n", "src/a.py")) == Survey(
        facts={"the file src/a.py": {"exists": False}},
        evidence="--- /dev/null\n+++ b/src/a.py\n@@ -0,0 +1,2 @@\n+a\n+b\n",
        unmasked="--- /dev/null\n+++ b/src/a.py\n@@ -0,0 +1,2 @@\n+a\n+b\n",
        summary="Create src/a.py (2 lines)",
    )


@pytest.mark.parametrize(
    ("before", "after", "title"),
    [
        ("one\ntwo\n", "one\n2\n", "Change 1 line in a.txt (+1 \N{MINUS SIGN}1)"),
        ("one\ntwo\n", "1\n2\n3\n", "Change 3 lines in a.txt (+3 \N{MINUS SIGN}2)"),
        ("one\n", "one\ntwo\n", "Add 1 line to a.txt"),
        ("one\ntwo\n", "", "Remove 2 lines from a.txt"),
    ],
)
async def test_the_title_of_a_card_counts_the_lines_that_change(
    before: str, after: str, title: str
) -> None:
    assert (await survey({"a.txt": before.encode()}, wanted(after))).summary == title


async def test_lines_do_not_tell_what_becomes_of_a_binary_file() -> None:
    assert (await survey({"a.txt": b"\x89PNG\0\0"}, wanted())).summary == ""


async def test_survey_of_an_old_file_knows_it_again_and_shows_the_change() -> None:
    found = await survey({"a.txt": b"one\ntwo\n"}, wanted("one\n2\n"))
    assert found.facts == {"the file a.txt": FileContent(b"one\ntwo\n", 8).state.as_facts()}
    assert found.evidence == "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n"
    assert found.findings == ()


async def test_survey_of_an_addition_shows_only_what_comes() -> None:
    found = await survey({"a.txt": b"one\n"}, wanted("two\n", mode="append"))
    assert found.evidence.endswith("@@ -1,1 +1,2 @@\n one\n+two\n")


async def test_write_that_changes_nothing_has_nothing_to_show() -> None:
    found = await survey({"a.txt": b"same\n"}, wanted("same\n"))
    assert (found.evidence, found.findings) == ("", ())
    assert found.changes_nothing


@pytest.mark.parametrize("mode", ["write", "append"])
async def test_a_write_of_what_is_there_touches_no_file(mode: str) -> None:
    files = FakeFiles({"a.txt": b"same\n"})
    params = wanted("same\n" if mode == "write" else "", mode=mode)
    before = files.files["a.txt"]
    result = await TOOL.execute(params, SCENE, Hands(files, FakeCommands({})))
    assert result.output == "a.txt already has this content; nothing was written"
    assert files.files["a.txt"] is before


async def test_the_same_text_in_another_encoding_is_a_change() -> None:
    found = await survey({"a.txt": b"same\n"}, wanted("same\n", encoding="utf-8-sig"))
    assert not found.changes_nothing


@pytest.mark.parametrize("before", [b"\x89PNG\0\0", b"caf\xe9"], ids=["binary", "latin"])
@pytest.mark.parametrize(
    ("mode", "verb"), [("write", "replaces"), ("append", "is added to")], ids=["write", "append"]
)
async def test_content_that_is_no_text_is_a_concern(before: bytes, mode: str, verb: str) -> None:
    found = await survey({"a.txt": before}, wanted(mode=mode))
    assert found.findings == (
        Finding(
            "write.over-binary",
            f"text {verb} content that is binary, or not utf-8",
            RiskLevel.HIGH,
        ),
    )
    assert found.evidence == "--- a/a.txt\n+++ b/a.txt\n@@ -0,0 +1,1 @@\n+new\n"


async def test_secrets_are_masked_in_what_is_stored_and_in_full_on_the_card() -> None:
    found = await survey({"a.txt": b"token=abcdef123\n"}, wanted("password='hunter22'\n"))
    assert "abcdef123" not in found.evidence
    assert "hunter22" not in found.evidence
    assert found.unmasked is not None
    assert "-token=abcdef123\n+password='hunter22'\n" in found.unmasked


async def test_lines_between_the_marks_of_a_key_are_shown() -> None:
    content = "# -----BEGIN PRIVATE KEY-----\nimport os\nos.system('evil')\n"
    found = await survey({}, wanted(content))
    assert "+os.system('evil')" in found.in_full


async def test_change_too_large_to_be_shown_is_said_to_be() -> None:
    found = await survey({}, wanted("x = 1\n" * 100_000))
    assert concerns(found) == [("write.shown-in-part", RiskLevel.HIGH)]
    assert found.findings[-1].reason == "99,800 of 100,000 changed lines are not shown"


@pytest.mark.slow
@pytest.mark.timeout(30)
async def test_largest_file_is_surveyed_in_time() -> None:
    before = {"a.txt": b"line\n" * 20_000_000}
    params = wanted("Line\n" * 20_000_000)
    found = await survey(before, params)
    assert len(found.evidence) < 201_000


async def test_write_fits_the_facts_of_its_survey() -> None:
    hands = FakeHands({"a.txt": b"old\n"})
    found = await TOOL.survey(wanted(), SCENE, hands)
    assert (await TOOL.execute(wanted(), SCENE, hands, found.facts)).success
    with pytest.raises(StaleFileError, match=r"^a\.txt has changed since it was checked$"):
        await TOOL.execute(wanted(), SCENE, hands, found.facts)


async def test_file_that_came_into_being_since_the_survey_is_not_replaced() -> None:
    found = await survey({}, wanted())
    with pytest.raises(StaleFileError):
        await TOOL.execute(wanted(), SCENE, FakeHands({"a.txt": b"a stranger's"}), found.facts)


@pytest.mark.parametrize("mode", ["write", "append"])
async def test_file_changed_while_it_is_written_is_not_lost(mode: str) -> None:
    class Meddled(FakeFiles):
        async def find(self, path: str, *, max_bytes: int) -> FileContent | None:
            found = await super().find(path, max_bytes=max_bytes)
            self.files[path] = b"a stranger's"
            return found

    files = Meddled({"a.txt": b"old"})
    with pytest.raises(StaleFileError):
        await TOOL.execute(wanted(mode=mode), SCENE, Hands(files, FakeCommands({})))
    assert files.files == {"a.txt": b"a stranger's"}


def test_writing_shows_medium_and_changes_things_on_the_client() -> None:
    definition = TOOL.definition
    assert (definition.name, definition.safety_level, definition.effect, definition.site) == (
        "write_file",
        RiskLevel.MEDIUM,
        Effect.CHANGE,
        Site.CLIENT,
    )


@settings(deadline=None)
@given(
    st.none() | st.binary(max_size=100) | st.text(max_size=50).map(str.encode),
    st.text(max_size=50),
    st.sampled_from(["write", "append"]),
    st.sampled_from(["utf-8", "utf-16", "utf-8-sig", "latin-1"]),
)
async def test_no_content_breaks_the_tool(
    before: bytes | None, content: str, mode: str, encoding: str
) -> None:
    try:
        content.encode(encoding)
    except UnicodeEncodeError:
        return
    params = wanted(content, mode=mode, encoding=encoding)
    files = {} if before is None else {"a.txt": before}
    found = await survey(files, params)
    data = (await after(files, params))["a.txt"]
    if mode == "write" or not before:
        assert data == content.encode(encoding)
    else:
        assert data.startswith(before)
    if not found.evidence and before is not None:
        assert not content or data.decode(encoding) == before.decode(encoding)


@pytest.fixture
def real(tmp_path: Path) -> Iterator[tuple[Path, Scene, Hands]]:
    with FileSystemExecutor(tmp_path) as files:
        yield tmp_path, Scene(str(tmp_path)), Hands(files, FakeCommands({}))


async def test_real_file_is_surveyed_and_written(real: tuple[Path, Scene, Hands]) -> None:
    root, scene, hands = real
    params = wanted("x = 1\n", f"{root}/src/new/a.py")
    found = await TOOL.survey(params, scene, hands)
    assert not (root / "src").exists()
    result = await TOOL.execute(params, scene, hands, found.facts)
    assert result.fields == {"path": "src/new/a.py", "size": 6}
    assert (root / "src" / "new" / "a.py").read_text() == "x = 1\n"


async def test_file_that_can_be_executed_is_a_concern(real: tuple[Path, Scene, Hands]) -> None:
    root, scene, hands = real
    (root / "main.py").write_text("old\n")
    (root / "main.py").chmod(0o755)
    found = await TOOL.survey(wanted(path="main.py"), scene, hands)
    assert found.findings == (
        Finding("write.executable", "'main.py' can be executed as a program", RiskLevel.HIGH),
    )
    assert judge_call(TOOL, wanted(path="main.py"), scene, found.findings).risk is RiskLevel.HIGH


async def test_file_made_executable_since_the_survey_is_not_written(
    real: tuple[Path, Scene, Hands],
) -> None:
    root, scene, hands = real
    (root / "a.txt").write_text("old\n")
    found = await TOOL.survey(wanted(), scene, hands)
    (root / "a.txt").chmod(0o755)
    with pytest.raises(StaleFileError):
        await TOOL.execute(wanted(), scene, hands, found.facts)
    assert (root / "a.txt").read_text() == "old\n"


@pytest.mark.parametrize(
    ("name", "error"), [("link.txt", PathValidationError), ("folder.txt", FileOperationError)]
)
async def test_what_cannot_be_written_needs_nobody_to_be_asked(
    real: tuple[Path, Scene, Hands], name: str, error: type[Exception]
) -> None:
    root, scene, hands = real
    (root / "folder.txt").mkdir()
    (root / "link.txt").symlink_to("/etc/passwd")
    for attempt in (TOOL.survey, TOOL.execute):
        with pytest.raises(error):
            await attempt(wanted(path=name), scene, hands)


# What is shown is what is meant


@pytest.mark.parametrize(
    ("content", "encoding", "expected"),
    [
        pytest.param("plain", "utf-8", [], id="utf-8"),
        pytest.param("plain", "latin-1", [], id="the-same-bytes"),
        pytest.param("grüße", "utf-8-sig", [], id="with-a-mark"),
        pytest.param("grüße", "latin-1", [("write.encoding", RiskLevel.HIGH)], id="latin-1"),
        pytest.param("plain", "utf-16-le", [("write.encoding", RiskLevel.HIGH)], id="utf-16"),
        pytest.param(
            b'import os;os.system("id")#'.decode("utf-16-le"),
            "utf-16-le",
            [("write.disguise", RiskLevel.FORBIDDEN)],
            id="program-dressed-as-chinese",
        ),
        pytest.param(
            "\u00c3\u00a9", "latin-1", [("write.disguise", RiskLevel.FORBIDDEN)], id="other-letters"
        ),
    ],
)
def test_bytes_that_mean_other_text_than_is_shown_are_refused(
    content: str, encoding: str, expected: list[tuple[str, RiskLevel]]
) -> None:
    findings = TOOL.pre_validate(wanted(content, "a.txt", encoding=encoding), SCENE)
    assert [(found.rule, found.risk) for found in findings] == expected


def test_preview_names_an_encoding_that_is_not_plain_and_a_path_without_detours() -> None:
    params = wanted("grüße", "docs/./" + "./" * 300 + "a.md", encoding="latin-1")
    assert TOOL.preview(params) == "Write 1 line to docs/a.md, as iso8859-1"


async def test_masks_in_the_stored_form_raise_nothing() -> None:
    found = await survey({"a.txt": b"password='old'\nx\n"}, wanted("token='ghp_abcdef'\n"))
    assert found.evidence.count(MASK) == 2
    assert concerns(found) == []
