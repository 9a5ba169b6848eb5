"""Tools in single files: loaded when they are safe to load, left out in one sentence otherwise."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from handrail.app.doctor.finding import Health, Patient
from handrail.app.doctor.tools import check_tools
from handrail.app.explain import explain
from handrail.app.home import Home
from handrail.app.plugins import OURS, load_toolbox
from handrail.app.settings import Settings
from handrail.app.workspace_root import usable_root
from handrail.core.errors import SetupError
from handrail.core.project import Autonomy
from handrail.core.risk import RiskLevel
from tests.packages import FINE

CLASSES = """
from __future__ import annotations

from handrail import Tool, ToolParams, ToolResult


class Eyes(ToolParams):
    count: Count = 6


Count = int


class Dice(Tool[Eyes]):
    name = "dice"
    description = "Throws a die."
    params = Eyes

    def preview(self, params):
        return "Throw a die"

    async def execute(self, params, scene, hands, facts=None):
        return ToolResult(True, str(params.count))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "home" / "tools"
    made.mkdir(parents=True, mode=0o700)
    return made


def drop(folder: Path, name: str, source: str) -> Path:
    file = folder / name
    file.write_text(source)
    file.chmod(0o644)
    return file


def test_a_file_has_classes_or_a_function_that_registers(folder: Path) -> None:
    dice, greet = drop(folder, "dice.py", CLASSES), drop(folder, "greet.py", FINE)
    drop(folder, "_draft.py", "raise ValueError")
    drop(folder, "notes.txt", "not Python")

    toolbox = load_toolbox(folder)

    assert toolbox.left_out == []
    assert [toolbox.origin_of(name) for name in ("read_file", "dice", "greet", "none")] == [
        OURS,
        str(dice),
        str(greet),
        None,
    ]
    assert toolbox.registry.get("dice").read_params({}).model_dump() == {"count": 6}


def test_without_a_folder_there_are_the_tools_that_handrail_ships(tmp_path: Path) -> None:
    assert load_toolbox(tmp_path / "tools").left_out == []


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("def f(:", "SyntaxError: "),
        ("import no_such_module_anywhere", "ModuleNotFoundError: "),
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("x = 1", "it has no class derived from Tool and no function register(registry)"),
        ("from handrail import Tool", "it has no class derived from Tool and no function"),
        ("register = 3", "bad.py is neither a Tool nor a function that registers one"),
        (CLASSES.replace('"dice"', '"read_file"'), "two tools are named 'read_file'; rename"),
        (CLASSES.replace('"dice"', '"config"'), "'config' is a name reserved by Handrail"),
        ("\0", "SyntaxError: "),
    ],
    ids=lambda value: ascii(value)[:30],
)
def test_a_broken_file_is_left_out_in_one_sentence(folder: Path, source: str, reason: str) -> None:
    bad = drop(folder, "bad.py", source)
    drop(folder, "greet.py", FINE)

    toolbox = load_toolbox(folder)

    (left_out,) = toolbox.left_out
    assert (left_out.origin, "\n" in left_out.reason) == (str(bad), False)
    assert left_out.reason.startswith(reason)
    assert toolbox.origin_of("greet") is not None


def make_writable(file: Path) -> None:
    file.chmod(0o664)


def make_linked(file: Path) -> None:
    os.link(file, file.parent.parent / "second-name.py")


def make_symbolic(file: Path) -> None:
    file.symlink_to(file.rename(file.parent.parent / "elsewhere.py"))


def make_pipe(file: Path) -> None:
    file.unlink()
    os.mkfifo(file)


def make_foreign(file: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give a file away")
    os.chown(file, 12345, 12345)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (make_writable, "other users can write to it; close it: chmod go-w "),
        (make_linked, "it has a second name (a hard link); copy it instead"),
        (make_symbolic, "it is a symbolic link; put the file itself there"),
        (make_pipe, "it is not a regular file"),
        (make_foreign, "it belongs to another user; give it back: sudo chown "),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_file_that_others_could_change_is_not_run(
    folder: Path, change: Callable[[Path], None], reason: str
) -> None:
    mark = folder.parent / "ran"
    file = drop(folder, "dice.py", f"open({str(mark)!r}, 'w').close()\n{CLASSES}")
    change(file)

    (left_out,) = load_toolbox(folder).left_out

    assert left_out.reason.startswith(reason)
    assert not mark.exists()


def test_a_folder_that_others_could_change_is_not_read(folder: Path) -> None:
    drop(folder, "greet.py", FINE)
    folder.chmod(0o770)
    (left_out,) = load_toolbox(folder).left_out
    assert (left_out.origin, left_out.reason.partition(";")[0]) == (
        str(folder),
        "other users can write to it",
    )
    folder.chmod(0o700)
    moved = folder.rename(folder.parent / "elsewhere")
    folder.symlink_to(moved)
    (left_out,) = load_toolbox(folder).left_out
    assert left_out.reason.startswith(f"{folder} is not a folder")


def test_agents_can_work_neither_around_the_folder_nor_in_it(folder: Path) -> None:
    home = Home(folder.parent)
    for workspace in (folder, folder.parent, folder.parent.parent):
        with pytest.raises(SetupError, match="Handrail's own"):
            usable_root(home, workspace)


def test_a_call_of_a_file_can_be_explained(folder: Path, tmp_path: Path) -> None:
    drop(folder, "dice.py", CLASSES)
    place = tmp_path / "workspace"
    place.mkdir()
    verdict = explain("dice", {}, place, Autonomy.SUPERVISED, folder.parent)
    assert verdict.risk is RiskLevel.MEDIUM


def test_doctor_names_a_file_that_is_left_out(folder: Path, settings: Settings) -> None:
    patient = Patient(settings, Home(folder.parent), folder, None)
    drop(folder, "dice.py", CLASSES)
    assert check_tools(patient).words == "21 can be used, among them dice"
    for name in ("bad.py", "worse.py"):
        bad = drop(folder, name, "1 / 0")

    found = check_tools(patient)

    assert found.health is Health.WARN
    assert found.words == (
        f"{bad.with_name('bad.py')} is left out: ZeroDivisionError: division by zero (and 1 more)"
    )
    assert found.remedy is not None
