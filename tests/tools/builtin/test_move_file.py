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
from handrail.core.grant import CallClass
from handrail.core.hands import FileContent, Hands
from handrail.core.project import Autonomy
from handrail.core.risk import RiskLevel
from handrail.core.survey import Survey
from handrail.core.tool import ToolResult
from handrail.core.verdict import Plan, Ruling
from handrail.executors.files.filesystem import FileSystemExecutor
from handrail.policy.security import Scene
from handrail.testing import FakeCommands, FakeHands
from handrail.tools.builtin.move_file import MoveFile, MoveFileParams
from handrail.tools.judgement import judge_call

SCENE = Scene("/home/ada/project")
TOOL = MoveFile()


def wanted(path: str = "a.py", to: str = "lib/a.py") -> MoveFileParams:
    return MoveFileParams(path=path, to=to)


def rules(params: MoveFileParams) -> list[tuple[str, RiskLevel]]:
    return [(found.rule, found.risk) for found in TOOL.pre_validate(params, SCENE)]


async def test_a_file_is_moved() -> None:
    hands = FakeHands({"a.py": b"x\n"})
    found = await TOOL.survey(wanted(), SCENE, hands)
    result = await TOOL.execute(wanted(), SCENE, hands, found.facts)
    fields = {"path": "lib/a.py", "changed": ["a.py", "lib/a.py"]}
    assert result == ToolResult(True, "Moved a.py to lib/a.py", fields)
    assert hands.files.files == {"lib/a.py": b"x\n"}


@pytest.mark.parametrize(
    ("path", "to"),
    [("./a.py", "lib//a.py"), ("/home/ada/project/a.py", "workspace/x/../lib/a.py")],
)
def test_what_is_moved_is_what_was_judged(path: str, to: str) -> None:
    assert TOOL.plan(wanted(path, to), SCENE) == Plan(paths=("a.py", "lib/a.py"))


@pytest.mark.parametrize("forbidden", ["path", "to"])
@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("", "path.spelling"),
        ("../a.py", "path.boundary"),
        ("/etc/passwd", "path.boundary"),
        (".env", "path.dotenv"),
        (".git/config", "path.git-internals"),
        ("x/../.git/hooks/pre-commit", "path.git-internals"),
        (".handrail/policy.toml", "path.handrail-own"),
        ("id_rsa", "path.private-key"),
    ],
)
def test_neither_path_may_be_one_that_is_not_written(forbidden: str, name: str, rule: str) -> None:
    params = wanted(name) if forbidden == "path" else wanted(to=name)
    assert (rule, RiskLevel.FORBIDDEN) in rules(params)
    assert judge_call(TOOL, params, SCENE).ruling is Ruling.DENY


def test_nothing_becomes_a_program_by_a_move() -> None:
    assert rules(wanted(to="evil.so")) == [("write.binary", RiskLevel.FORBIDDEN)]


def test_a_move_to_the_same_path_is_refused() -> None:
    assert rules(wanted(to="./a.py")) == [("write.same-path", RiskLevel.FORBIDDEN)]


@pytest.mark.parametrize(
    ("path", "to", "risk", "reasons"),
    [
        ("a.py", "lib/b.py", RiskLevel.MEDIUM, ["changes the path of a file in the workspace"]),
        ("a.py", "run.sh", RiskLevel.HIGH, ["'run.sh': "]),
        ("a.py", "Makefile", RiskLevel.HIGH, ["'Makefile': "]),
        ("a.py", "a.xyz", RiskLevel.HIGH, ["'a.xyz' has an unknown file type"]),
        ("Makefile", "old.txt", RiskLevel.HIGH, ["moves away 'Makefile': "]),
        (".github/workflows/ci.yml", "ci.md", RiskLevel.HIGH, ["moves away '.github"]),
        ("Makefile", "run.sh", RiskLevel.HIGH, ["'run.sh': ", "moves away 'Makefile': "]),
    ],
)
def test_risk_goes_by_the_kind_of_both_paths(
    path: str, to: str, risk: RiskLevel, reasons: list[str]
) -> None:
    verdict = judge_call(TOOL, wanted(path, to), SCENE)
    assert verdict.risk is risk
    assert len(verdict.reasons) == len(reasons)
    for found, begin in zip(verdict.reasons, reasons, strict=True):
        assert found.startswith(begin)


@pytest.mark.parametrize(
    ("to", "autonomy", "ruling"),
    [
        ("lib/a.py", Autonomy.READ_ONLY, Ruling.DENY),
        ("lib/a.py", Autonomy.SUPERVISED, Ruling.ASK),
        ("lib/a.py", Autonomy.FULL, Ruling.ALLOW),
        ("Makefile", Autonomy.FULL, Ruling.ASK),
    ],
)
def test_who_is_asked_goes_by_autonomy(to: str, autonomy: Autonomy, ruling: Ruling) -> None:
    scene = Scene("/home/ada/project", autonomy)
    assert judge_call(TOOL, wanted(to=to), scene).ruling is ruling


def test_a_class_of_moves_stays_in_one_folder_and_kind() -> None:
    assert TOOL.call_class(wanted("src/a.py", "src/lib/a.py"), SCENE) == CallClass(
        "move_file:src/**/*.py", "moves of src/**/*.py in the same folder of the workspace"
    )
    for path, to in (("a.py", "lib/a.py"), ("src/a.py", "src/a.txt"), ("src/a.sh", "src/b.sh")):
        assert TOOL.call_class(wanted(path, to), SCENE) is None


def test_preview_says_from_where_to_where() -> None:
    assert TOOL.preview(wanted("./a.py", "lib//a.py")) == "Move a.py to lib/a.py"


async def test_an_ordinary_card_needs_no_content() -> None:
    shown = "[renamed] a.py → lib/a.py: 2 bytes\n"
    assert await TOOL.survey(wanted(), SCENE, FakeHands({"a.py": b"x\n"})) == Survey(
        facts={
            "the file a.py": FileContent(b"x\n", 2).state.as_facts(),
            "the file lib/a.py": {"exists": False},
        },
        evidence=shown,
        unmasked=shown,
    )


async def test_content_that_gets_weight_by_its_new_place_is_shown() -> None:
    hands = FakeHands({"notes.txt": b"all:\n\techo token='abcdef123'\n"})
    found = await TOOL.survey(wanted("notes.txt", "Makefile"), SCENE, hands)
    assert found.in_full == (
        "--- /dev/null\n+++ b/Makefile\n@@ -0,0 +1,2 @@\n+all:\n+\techo token='abcdef123'\n"
    )
    assert "abcdef123" not in found.evidence


async def test_a_file_that_was_changed_since_the_survey_is_not_moved() -> None:
    hands = FakeHands({"a.py": b"x\n"})
    found = await TOOL.survey(wanted(), SCENE, hands)
    hands.files.files["a.py"] = b"by a person\n"
    with pytest.raises(StaleFileError, match=r"^a\.py has changed since it was checked$"):
        await TOOL.execute(wanted(), SCENE, hands, found.facts)
    assert hands.files.files == {"a.py": b"by a person\n"}


async def test_another_file_is_never_replaced() -> None:
    hands = FakeHands({"a.py": b"x\n", "lib/a.py": b"y\n"})
    said = r"^lib/a\.py exists already, and move_file never replaces a file$"
    for attempt in (TOOL.survey, TOOL.execute):
        with pytest.raises(FileOperationError, match=said):
            await attempt(wanted(), SCENE, hands)
    assert hands.files.files == {"a.py": b"x\n", "lib/a.py": b"y\n"}


@pytest.fixture
def real(tmp_path: Path) -> Iterator[tuple[Path, Scene, Hands]]:
    with FileSystemExecutor(tmp_path) as files:
        yield tmp_path, Scene(str(tmp_path)), Hands(files, FakeCommands({}))


async def test_a_real_file_stays_the_same_one(real: tuple[Path, Scene, Hands]) -> None:
    root, scene, hands = real
    (root / "a.py").write_text("x\n")
    (root / "a.py").chmod(0o700)
    before = (root / "a.py").stat()
    found = await TOOL.survey(wanted(to="new/lib/a.py"), scene, hands)
    assert [one.rule for one in found.findings] == ["write.executable"]
    assert not (root / "new").exists()
    await TOOL.execute(wanted(to="new/lib/a.py"), scene, hands, found.facts)
    after = (root / "new/lib/a.py").stat()
    assert (after.st_ino, after.st_mode, after.st_mtime_ns) == (
        before.st_ino,
        before.st_mode,
        before.st_mtime_ns,
    )
    assert not (root / "a.py").exists()


@pytest.mark.parametrize(
    ("path", "to", "error", "said"),
    [
        ("nothing", "b.py", FileOperationError, "nothing does not exist"),
        ("folder", "b", FolderError, "folder is a directory; move it with `mv` in run_bash"),
        ("a.py", "folder", FolderError, "folder is a directory; say the whole new path"),
        ("link.py", "b.py", PathValidationError, "link.py is a link; "),
        ("a.py", "link.py", PathValidationError, "link.py is a link; "),
        ("hard.py", "b.py", PathValidationError, "hard.py has a second name"),
        ("notes.md", "b.md", PathValidationError, "notes.md has a second name"),
        ("a.py", "out/a.py", PathValidationError, "out/a.py goes through a link that leads out"),
        ("a.py", "near/a.py", PathValidationError, "near/a.py leads to folder/a.py"),
        ("a.py", "docs/a.py", PathValidationError, "docs/a.py leads to .git/a.py"),
        ("a.py", "hard.py/b.py", FileOperationError, "a part of hard.py/b.py is not a directory"),
    ],
)
async def test_what_cannot_be_moved_needs_nobody_to_be_asked(
    real: tuple[Path, Scene, Hands], path: str, to: str, error: type[Exception], said: str
) -> None:
    root, scene, hands = real
    for folder in ("folder", ".git"):
        (root / folder).mkdir()
    for name in ("a.py", "b.txt", ".env"):
        (root / name).write_text("x")
    (root / "notes.md").hardlink_to(root / ".env")
    (root / "hard.py").hardlink_to(root / "b.txt")
    for name, target in (
        ("link.py", "a.py"),
        ("out", "/etc"),
        ("near", "folder"),
        ("docs", ".git"),
    ):
        (root / name).symlink_to(target)
    before = sorted(os.listdir(root))
    for attempt in (TOOL.survey, TOOL.execute):
        with pytest.raises(error, match=f"^{said}"):
            await attempt(wanted(path, to), scene, hands)
    assert sorted(os.listdir(root)) == before
