import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from handrail.core.errors import (
    FileOperationError,
    FolderError,
    PathValidationError,
    StaleFileError,
)
from handrail.core.hands import FileContent, Hands
from handrail.core.project import Autonomy
from handrail.core.risk import Finding, RiskLevel
from handrail.core.survey import Survey
from handrail.core.tool import ToolResult
from handrail.core.verdict import Plan, Ruling
from handrail.executors.files.filesystem import FileSystemExecutor
from handrail.policy.security import Scene
from handrail.testing import FakeCommands, FakeHands
from handrail.tools.builtin.delete_file import DeleteFile, DeleteFileParams
from handrail.tools.judgement import judge_call

SCENE = Scene("/home/ada/project")
TOOL = DeleteFile()


def wanted(path: str = "src/a.py") -> DeleteFileParams:
    return DeleteFileParams(path=path)


async def test_a_file_is_deleted() -> None:
    hands = FakeHands({"src/a.py": b"x\n", "b.py": b"y\n"})
    found = await TOOL.survey(wanted(), SCENE, hands)
    result = await TOOL.execute(wanted(), SCENE, hands, found.facts)
    assert result == ToolResult(True, "Deleted src/a.py", {"path": "src/a.py"})
    assert hands.files.files == {"b.py": b"y\n"}


@pytest.mark.parametrize("path", ["src/a.py", "README", "a.png", "tool.exe", "Makefile"])
def test_every_deletion_is_high_and_says_what_it_deletes(path: str) -> None:
    verdict = judge_call(TOOL, wanted(path), SCENE)
    assert verdict.findings == (Finding("write.deletes", f"deletes {path!r}", RiskLevel.HIGH),)
    assert (verdict.risk, verdict.plan) == (RiskLevel.HIGH, Plan(paths=(path,)))


@pytest.mark.parametrize(
    ("autonomy", "ruling"),
    [
        (Autonomy.READ_ONLY, Ruling.DENY),
        (Autonomy.SUPERVISED, Ruling.ASK),
        (Autonomy.FULL, Ruling.ASK),
    ],
)
def test_a_deletion_asks_at_every_level_that_allows_it(autonomy: Autonomy, ruling: Ruling) -> None:
    scene = Scene("/home/ada/project", autonomy)
    assert judge_call(TOOL, wanted(), scene).ruling is ruling


@pytest.mark.parametrize(
    ("path", "rule"),
    [
        ("", "path.spelling"),
        ("../x", "path.boundary"),
        ("/etc/passwd", "path.boundary"),
        (".env", "path.dotenv"),
        ("a/../.git/hooks/x", "path.git-internals"),
        (".handrail/policy.toml", "path.handrail-own"),
        ("id_rsa", "path.private-key"),
    ],
)
def test_path_is_refused_before_anyone_is_asked(path: str, rule: str) -> None:
    findings = TOOL.pre_validate(wanted(path), SCENE)
    assert [(found.rule, found.risk) for found in findings] == [(rule, RiskLevel.FORBIDDEN)]


def test_no_answer_for_a_class_covers_a_deletion() -> None:
    assert TOOL.call_class(wanted(), SCENE) is None


def test_preview_names_the_file() -> None:
    assert TOOL.preview(wanted("./src//a.py")) == "Delete src/a.py"


async def test_the_card_shows_every_line_that_goes() -> None:
    diff = "--- a/src/a.py\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\n-b\n"
    assert await TOOL.survey(wanted(), SCENE, FakeHands({"src/a.py": b"a\nb\n"})) == Survey(
        facts={"the file src/a.py": FileContent(b"a\nb\n", 4).state.as_facts()},
        evidence=diff,
        unmasked=diff,
        summary="Delete src/a.py (2 lines)",
    )


@pytest.mark.parametrize(
    ("data", "kind"),
    [(b"\x89PNG\0\0", "PNG image, 6 bytes"), (b"\0" * 1234, "binary, 1,234 bytes")],
)
async def test_the_card_of_a_binary_file_says_what_it_is(data: bytes, kind: str) -> None:
    found = await TOOL.survey(wanted("a.bin"), SCENE, FakeHands({"a.bin": data}))
    assert found.summary == f"Delete a.bin ({kind})"
    assert found.evidence == f"[deleted] a.bin: {kind}\n"


async def test_secrets_in_what_goes_are_masked_in_what_is_stored() -> None:
    hands = FakeHands({"a.txt": b"password='hunter22'\n"})
    found = await TOOL.survey(wanted("a.txt"), SCENE, hands)
    assert "hunter22" not in found.evidence
    assert "-password='hunter22'\n" in found.in_full


async def test_a_file_that_was_changed_since_the_survey_is_not_deleted() -> None:
    hands = FakeHands({"src/a.py": b"x\n"})
    found = await TOOL.survey(wanted(), SCENE, hands)
    hands.files.files["src/a.py"] = b"by a person\n"
    with pytest.raises(StaleFileError, match=r"^src/a\.py has changed since it was checked$"):
        await TOOL.execute(wanted(), SCENE, hands, found.facts)
    assert hands.files.files == {"src/a.py": b"by a person\n"}


@pytest.fixture
def real(tmp_path: Path) -> Iterator[tuple[Path, Scene, Hands]]:
    with FileSystemExecutor(tmp_path) as files:
        yield tmp_path, Scene(str(tmp_path)), Hands(files, FakeCommands({}))


async def test_a_real_file_is_deleted_and_its_folder_stays(
    real: tuple[Path, Scene, Hands],
) -> None:
    root, scene, hands = real
    (root / "src").mkdir()
    (root / "src/a.py").write_text("x\n")
    found = await TOOL.survey(wanted(), scene, hands)
    assert (await TOOL.execute(wanted(), scene, hands, found.facts)).success
    assert os.listdir(root / "src") == []


@pytest.mark.parametrize(
    ("name", "error", "said"),
    [
        ("nothing", FileOperationError, "nothing does not exist"),
        ("folder", FolderError, "folder is a directory; delete it with `rm -r` in run_bash"),
        ("link", PathValidationError, "link is a link; "),
        ("hard", PathValidationError, "hard has a second name"),
        ("out/passwd", PathValidationError, "out/passwd goes through a link that leads out"),
        ("notes", PathValidationError, "notes has a second name"),
    ],
)
async def test_what_cannot_be_deleted_needs_nobody_to_be_asked(
    real: tuple[Path, Scene, Hands], name: str, error: type[Exception], said: str
) -> None:
    root, scene, hands = real
    (root / "folder").mkdir()
    (root / "a").write_text("x")
    (root / ".env").write_text("KEY=1")
    (root / "notes").hardlink_to(root / ".env")
    (root / "hard").hardlink_to(root / "a")
    (root / "link").symlink_to("a")
    (root / "out").symlink_to("/etc")
    before = sorted(os.listdir(root))
    for attempt in (TOOL.survey, TOOL.execute):
        with pytest.raises(error, match=f"^{said}"):
            await attempt(wanted(name), scene, hands)
    assert sorted(os.listdir(root)) == before
