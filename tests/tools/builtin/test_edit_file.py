import codecs
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
    FolderError,
    PathValidationError,
    StaleFileError,
    ToolError,
)
from handrail.core.grant import CallClass
from handrail.core.hands import FileContent, Hands
from handrail.core.project import Autonomy
from handrail.core.risk import Finding, RiskLevel
from handrail.core.survey import Survey
from handrail.core.tool import ToolResult
from handrail.core.verdict import Plan, Ruling
from handrail.executors.files.filesystem import FileSystemExecutor
from handrail.policy.security import Scene
from handrail.testing import FakeCommands, FakeFiles, FakeHands
from handrail.tools.builtin.edit_file import EditFile, EditFileParams
from handrail.tools.builtin.write_file import WriteFile, WriteFileParams
from handrail.tools.judgement import judge_call
from handrail.tools.registry import ToolRegistry

SCENE = Scene("/home/ada/project")
TOOL = EditFile()
CART = b"import money\n\ntotal = 1\nprint(total)\n"


def wanted(
    old: str = "total = 1", new: str = "total = 2", path: str = "cart.py", **others: Any
) -> EditFileParams:
    return EditFileParams(path=path, old=old, new=new, **others)


async def survey(before: bytes, params: EditFileParams) -> Survey:
    return await TOOL.survey(params, SCENE, FakeHands({"cart.py": before}))


async def after(before: bytes, params: EditFileParams) -> bytes:
    files = FakeFiles({"cart.py": before})
    result = await TOOL.execute(params, SCENE, Hands(files, FakeCommands({})))
    assert result.success
    return files.files["cart.py"]


async def refusal(before: bytes, params: EditFileParams) -> str:
    """Why an edit fails, which must be known before anyone is asked."""
    said: list[str] = []
    for attempt in (TOOL.survey, TOOL.execute):
        files = FakeFiles({"cart.py": before})
        with pytest.raises(ToolError) as caught:
            await attempt(params, SCENE, Hands(files, FakeCommands({})))
        assert caught.value.error_type is ErrorType.VALIDATION
        assert files.files == {"cart.py": before}
        said.append(caught.value.message)
    assert said[0] == said[1]
    return said[0]


async def test_the_text_is_replaced_and_all_else_stays() -> None:
    hands = FakeHands({"cart.py": CART})
    assert await TOOL.execute(wanted(), SCENE, hands) == ToolResult(
        True,
        "Changed 1 place in cart.py, line 3",
        {"path": "cart.py", "size": len(CART), "replacements": 1, "line": 3},
    )
    assert hands.files.files["cart.py"] == CART.replace(b"= 1", b"= 2")


async def test_every_occurrence_is_replaced_if_there_are_as_many_as_said() -> None:
    hands = FakeHands({"cart.py": CART})
    result = await TOOL.execute(wanted("total", "sum", count=2), SCENE, hands)
    assert result.output == "Changed 2 places in cart.py, the first in line 3"
    assert hands.files.files["cart.py"] == CART.replace(b"total", b"sum")


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("b\r\n", "B\r\n", b"a\r\nB\r\nc\n\xef\xbb\xbf"),
        ("b\r\n", "", b"a\r\nc\n\xef\xbb\xbf"),
        ("c", "\\1 \\n $0 \u00e9", "a\r\nb\r\n\\1 \\n $0 \u00e9\n\ufeff".encode()),
    ],
    ids=["line", "removed", "literal"],
)
async def test_texts_are_taken_as_they_are(old: str, new: str, expected: bytes) -> None:
    assert await after(b"a\r\nb\r\nc\n\xef\xbb\xbf", wanted(old, new)) == expected


@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        ("a\u00e9n".encode("latin-1"), "latin-1"),
        (codecs.BOM_UTF8 + "a\u00e9n".encode(), "utf-8"),
        (codecs.BOM_UTF8 + "a\u00e9n".encode(), "utf-8-sig"),
        (codecs.BOM_UTF16_LE + "a\u00e9n".encode("utf-16-le"), "utf-16"),
        (codecs.BOM_UTF16_BE + "a\u00e9n".encode("utf-16-be"), "utf-16"),
        (codecs.BOM_UTF32_BE + "a\u00e9n".encode("utf-32-be"), "utf-32"),
    ],
    ids=["latin", "mark", "mark-aside", "little", "big", "wide"],
)
async def test_a_file_keeps_its_encoding_and_its_order_of_bytes(data: bytes, encoding: str) -> None:
    edited = await after(data, wanted("n", "m", encoding=encoding))
    assert len(edited) == len(data)
    assert edited.decode(encoding) == data.decode(encoding).replace("n", "m")
    assert edited[:2] == data[:2]


@pytest.mark.parametrize(
    ("before", "params", "said"),
    [
        (CART, wanted("totl"), "`old` does not occur in cart.py; nothing was changed"),
        (
            CART,
            wanted("total"),
            "`old` occurs 2 times in cart.py (lines 3, 4), not once; add lines around it to `old` "
            "until it fits, or set `count`; nothing was changed",
        ),
        (
            b"x\n" * 9,
            wanted("x", count=3),
            "`old` occurs 9 times in cart.py (lines 1, 2, 3, 4, 5 and further ones), not 3 times; "
            "add lines around it to `old` until it fits, or set `count`; nothing was changed",
        ),
        (
            CART,
            wanted(count=2),
            "`old` occurs once in cart.py (line 3), not 2 times; add lines around it to `old` "
            "until it fits, or set `count`; nothing was changed",
        ),
        (
            b"a\r\nb\r\n",
            wanted("a\nb"),
            "`old` does not occur in cart.py: only the line ends differ, the lines of the file end "
            "with \\r\\n; nothing was changed",
        ),
        (
            b"a\nb\n",
            wanted("a\r\nb"),
            "`old` does not occur in cart.py: only the line ends differ, the lines of the file end "
            "with \\n; nothing was changed",
        ),
        (
            b"if x:\n\ttotal  = 1\n",
            wanted("    total = 1\n"),
            "`old` does not occur in cart.py: only the whitespace differs from line 2; nothing was "
            "changed",
        ),
        (b"a", wanted(" \n"), "`old` does not occur in cart.py; nothing was changed"),
        (
            b"a b\n\n  c  d e\n",
            wanted("  d\n e"),
            "`old` does not occur in cart.py: only the whitespace differs from line 3; nothing was "
            "changed",
        ),
        (b"", wanted(), "`old` does not occur in cart.py; nothing was changed"),
        (
            b"\x89PNG\0\0",
            wanted(),
            "cart.py is binary, or not utf-8; only text can be edited",
        ),
        (
            b"caf\xe9 total = 1",
            wanted(),
            "cart.py is binary, or not utf-8; only text can be edited",
        ),
        (
            CART,
            wanted(encoding="utf-8-sig"),
            "cart.py cannot be edited as utf-8-sig: the rest of it would change as well",
        ),
    ],
    ids=["none", "two", "many", "one", "crlf", "lf", "tabs", "blank", "middle", "empty", "binary",
         "latin", "no-mark"],
)  # fmt: skip
async def test_an_edit_that_does_not_fit_the_file_says_why_and_changes_nothing(
    before: bytes, params: EditFileParams, said: str
) -> None:
    assert await refusal(before, params) == said


async def test_a_hint_is_not_looked_for_in_what_is_very_large() -> None:
    said = await refusal(b"total\t=\t1\n" + b"x" * 2_000_000, wanted())
    assert said == "`old` does not occur in cart.py; nothing was changed"


async def test_a_missing_file_is_not_made() -> None:
    for attempt in (TOOL.survey, TOOL.execute):
        with pytest.raises(FileOperationError, match=r"^a\.py does not exist; write_file makes"):
            await attempt(wanted(path="a.py"), SCENE, FakeHands())


def parse(params: dict[str, Any]) -> EditFileParams:
    _, parsed = ToolRegistry([TOOL]).parse("edit_file", params)
    assert isinstance(parsed, EditFileParams)
    return parsed


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"path": "a", "old": "x"}, "new: "),
        ({"path": "a", "new": "x"}, "old: "),
        ({"old": "x", "new": "y"}, "path: "),
        ({"path": "a", "old": "", "new": "y"}, "old: "),
        ({"path": "a", "old": "x", "new": "x"}, "old and new are the same text"),
        ({"path": "a", "old": "x", "new": "y", "count": 0}, "count: "),
        ({"path": "a", "old": "x", "new": "y", "count": 10_001}, "count: "),
        ({"path": "a", "old": "x", "new": "y", "count": True}, "count: "),
        ({"path": "a", "old": "x", "new": "y", "encoding": "rot13"}, "encoding: "),
        (
            {"path": "a", "old": "x", "new": "\u2014", "encoding": "latin-1"},
            "new cannot be written",
        ),
        ({"path": "a", "old": "\ud800", "new": "x"}, "old: "),
        ({"path": "a", "old": "x", "new": "y", "force": True}, "force: "),
    ],
)
def test_bad_parameters_are_refused_by_name(params: dict[str, Any], said: str) -> None:
    with pytest.raises(BadInput, match=said):
        parse(params)


@pytest.mark.parametrize(
    ("path", "rule"),
    [
        ("", "path.spelling"),
        ("../x.py", "path.boundary"),
        ("/etc/passwd", "path.boundary"),
        (".env", "path.dotenv"),
        (".git/config", "path.git-internals"),
        ("src/../.git/hooks/pre-commit", "path.git-internals"),
        (".handrail/policy.toml", "path.handrail-own"),
        ("id_rsa", "path.private-key"),
        ("lib/evil.so", "write.binary"),
    ],
)
def test_path_is_refused_before_anyone_is_asked(path: str, rule: str) -> None:
    verdict = judge_call(TOOL, wanted(path=path), SCENE)
    assert (verdict.ruling, verdict.findings[0].rule) == (Ruling.DENY, rule)


@pytest.mark.parametrize(
    ("path", "autonomy", "ruling"),
    [
        ("cart.py", Autonomy.READ_ONLY, Ruling.DENY),
        ("cart.py", Autonomy.SUPERVISED, Ruling.ASK),
        ("cart.py", Autonomy.FULL, Ruling.ALLOW),
        ("Makefile", Autonomy.FULL, Ruling.ASK),
    ],
)
def test_an_edit_is_judged_as_a_write_to_that_kind(
    path: str, autonomy: Autonomy, ruling: Ruling
) -> None:
    scene = Scene("/home/ada/project", autonomy)
    edited = judge_call(TOOL, wanted(path=path), scene)
    written = judge_call(WriteFile(), WriteFileParams(path=path, content="x"), scene)
    assert edited.ruling is ruling
    assert (edited.risk, edited.ruling) == (written.risk, written.ruling)


def test_an_answer_for_a_class_of_writes_covers_edits() -> None:
    expected = CallClass("write_file:src/**/*.py", "writes to src/**/*.py")
    assert TOOL.call_class(wanted(path="src/cart.py"), SCENE) == expected
    written = WriteFileParams(path="src/cart.py", content="x")
    assert WriteFile().call_class(written, SCENE) == expected
    for path in ("src/run.sh", "Makefile", ".env", "../a.py"):
        assert TOOL.call_class(wanted(path=path), SCENE) is None


@pytest.mark.parametrize(
    ("params", "sentence"),
    [
        (wanted(), "Change 1 line in cart.py"),
        (wanted("a\nb\n", "c"), "Change 2 lines in cart.py"),
        (wanted("a", "", count=3), "Change 1 line in 3 places of cart.py"),
        (wanted("a", "\u00e9", "./x//a.md", encoding="latin-1"),
         "Change 1 line in x/a.md, as iso8859-1"),
    ],
)  # fmt: skip
def test_preview_says_what_will_happen(params: EditFileParams, sentence: str) -> None:
    assert TOOL.preview(params) == sentence
    assert TOOL.plan(params, SCENE) == Plan(paths=(params.path.replace("./x//", "x/"),))


async def test_survey_shows_the_change_and_knows_the_file_again() -> None:
    diff = (
        "--- a/cart.py\n+++ b/cart.py\n@@ -1,4 +1,4 @@\n import money\n \n-total = 1\n"
        "+total = 2\n print(total)\n"
    )
    assert await survey(CART, wanted()) == Survey(
        facts={"the file cart.py": FileContent(CART, len(CART)).state.as_facts()},
        evidence=diff,
        unmasked=diff,
        summary="Change 1 line in cart.py (+1 \N{MINUS SIGN}1)",
    )


async def test_secrets_are_masked_in_what_is_stored_and_in_full_on_the_card() -> None:
    found = await survey(b"token='abcdef123'\n", wanted("abcdef123", "ghp_hunter22"))
    assert "abcdef123" not in found.evidence
    assert "hunter22" not in found.evidence
    assert "-token='abcdef123'\n+token='ghp_hunter22'\n" in found.in_full


async def test_text_in_an_encoding_that_few_expect_is_a_concern() -> None:
    found = await survey("h\u00e9 n".encode("latin-1"), wanted("n", "m", encoding="latin-1"))
    assert [one.rule for one in found.findings] == ["write.encoding"]
    assert found.summary == "Change 1 line in cart.py, as iso8859-1 (+1 \N{MINUS SIGN}1)"


async def test_bytes_that_become_other_text_than_is_shown_are_refused() -> None:
    found = await survey(b"n", wanted("n", "\u00c3\u00a9", encoding="latin-1"))
    assert [(one.rule, one.risk) for one in found.findings] == [
        ("write.disguise", RiskLevel.FORBIDDEN)
    ]


async def test_a_change_too_large_to_be_shown_is_said_to_be() -> None:
    found = await survey(b"x\n", wanted("x\n", "y = 1\n" * 100_000))
    assert [one.rule for one in found.findings] == ["write.shown-in-part"]


@pytest.mark.parametrize("new", ["mmm", "é"], ids=["characters", "bytes"])
async def test_a_file_that_would_grow_too_large_is_refused(new: str) -> None:
    said = await refusal(b"x" * 99_999_999 + b"n", wanted("n", new))
    assert said.endswith("is more than the 100,000,000 allowed")


async def test_a_small_call_cannot_make_a_file_grow_without_bounds() -> None:
    said = await refusal(b"x" * 10_000, wanted("x", "y" * 500_000, count=10_000))
    assert said == "5,000,000,000 bytes is more than the 100,000,000 allowed"


async def test_an_edit_fits_the_facts_of_its_survey() -> None:
    hands = FakeHands({"cart.py": CART})
    found = await TOOL.survey(wanted(), SCENE, hands)
    hands.files.files["cart.py"] = CART + b"\n"
    with pytest.raises(StaleFileError, match=r"^cart\.py has changed since it was checked$"):
        await TOOL.execute(wanted(), SCENE, hands, found.facts)
    assert hands.files.files["cart.py"] == CART + b"\n"


async def test_a_file_changed_while_it_is_edited_is_not_lost() -> None:
    class Meddled(FakeFiles):
        async def find(self, path: str, *, max_bytes: int) -> FileContent | None:
            found = await super().find(path, max_bytes=max_bytes)
            self.files[path] = b"a stranger's"
            return found

    files = Meddled({"cart.py": CART})
    with pytest.raises(StaleFileError):
        await TOOL.execute(wanted(), SCENE, Hands(files, FakeCommands({})))
    assert files.files == {"cart.py": b"a stranger's"}


@settings(deadline=None)
@given(st.text("ab\n\r", max_size=12), st.text("ab\n\r", min_size=1, max_size=3), st.text("bc"))
async def test_an_edit_is_a_replacement_or_a_refusal(text: str, old: str, new: str) -> None:
    if old == new:
        return
    times = text.count(old)
    if times:
        edited = await after(text.encode(), wanted(old, new, count=times))
        assert edited.decode() == text.replace(old, new)
    assert "`old`" in await refusal(text.encode(), wanted(old, new, count=times + 1))


@pytest.fixture
def real(tmp_path: Path) -> Iterator[tuple[Path, Scene, Hands]]:
    with FileSystemExecutor(tmp_path) as files:
        yield tmp_path, Scene(str(tmp_path)), Hands(files, FakeCommands({}))


async def test_a_real_file_is_edited_and_keeps_its_mode(real: tuple[Path, Scene, Hands]) -> None:
    root, scene, hands = real
    (root / "cart.py").write_bytes(CART)
    (root / "cart.py").chmod(0o750)
    found = await TOOL.survey(wanted(), scene, hands)
    assert found.findings == (
        Finding("write.executable", "'cart.py' can be executed as a program", RiskLevel.HIGH),
    )
    assert (await TOOL.execute(wanted(), scene, hands, found.facts)).success
    assert (root / "cart.py").read_bytes() == CART.replace(b"= 1", b"= 2")
    assert (root / "cart.py").stat().st_mode & 0o7777 == 0o750


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("link.py", PathValidationError),
        ("hard.py", PathValidationError),
        ("out/cart.py", PathValidationError),
        ("folder.py", FolderError),
    ],
)
async def test_what_cannot_be_edited_needs_nobody_to_be_asked(
    real: tuple[Path, Scene, Hands], name: str, error: type[Exception]
) -> None:
    root, scene, hands = real
    (root / "folder.py").mkdir()
    (root / "cart.py").write_bytes(CART)
    (root / "hard.py").hardlink_to(root / "cart.py")
    (root / "link.py").symlink_to("cart.py")
    (root / "out").symlink_to("/etc")
    for attempt in (TOOL.survey, TOOL.execute):
        with pytest.raises(error):
            await attempt(wanted(path=name), scene, hands)
    assert (root / "cart.py").read_bytes() == CART
