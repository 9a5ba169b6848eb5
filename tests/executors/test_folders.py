"""A folder that is run as a script is bound by all that it holds, where that can be told."""

import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from handrail.core.errors import StaleCommandError
from handrail.core.sight import FileSort
from handrail.executors.command import CommandExecutor
from handrail.executors.folders import MOST_FILES
from handrail.policy.validators.commands import CommandValidator

needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path / "ws"
    (made / "app" / "parts").mkdir(parents=True)
    (made / "app" / "__main__.py").write_text("import parts.one\n")
    (made / "app" / "parts" / "one.py").write_text("print('one')\n")
    (made / "web").mkdir()
    (made / "web" / "package.json").write_text('{"main": "start.js"}')
    (made / "web" / "start.js").write_text("console.log('one')\n")
    pack(made / "app.pyz", "print('one')\n")
    pack(made / "app.zip", "print('one')\n")
    return made


def pack(path: Path, code: str) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("__main__.py", code)


async def rerun(root: Path, line: str, change: Callable[[], object]) -> str:
    executor = CommandExecutor(root, grace_seconds=0.5)
    command, *args = line.split()
    stages = [CommandValidator(str(root)).stage_of(command, args)]
    facts = (await executor.look(stages)).facts
    change()
    try:
        outcome = await executor.run(stages, timeout_seconds=20, expected=facts)
    except StaleCommandError as error:
        return error.message
    return (outcome.stdout + outcome.stderr).decode()


@pytest.mark.parametrize(
    "line",
    [
        *("python3 app", "python3 app/", "python3 -u ./app", "python3 app.pyz", "python3 app.zip"),
        pytest.param("node web", marks=needs_node),
    ],
)
async def test_what_has_not_changed_runs(root: Path, line: str) -> None:
    assert await rerun(root, line, lambda: None) == "one\n"


@pytest.mark.parametrize(
    ("line", "file", "named"),
    [
        ("python3 app", "app/__main__.py", "app"),
        ("python3 app", "app/parts/one.py", "app"),
        ("python3 app", "app/new.py", "app"),
        ("python3 app/", "app/__main__.py", "app"),
        ("python3 app.pyz", "app.pyz", "app.pyz"),
        ("python3 app.zip", "app.zip", "app.zip"),
        ("node web", "web/start.js", "web"),
        ("node web", "web/package.json", "web"),
        ("node web", "web/index.js", "web"),
    ],
)
async def test_what_has_changed_in_it_is_not_run(
    root: Path, line: str, file: str, named: str
) -> None:
    if line.startswith("node") and shutil.which("node") is None:
        pytest.skip("node is not installed")
    told = await rerun(root, line, lambda: (root / file).write_text("print('two')\n"))
    assert told.startswith("changed since the call was looked at: ")
    assert f"the file {named}" in told


@pytest.mark.parametrize(
    ("prepare", "sort"),
    [
        (lambda root: None, FileSort.SEVERAL),
        (lambda root: (root / "app/out").symlink_to("/etc/hostname"), FileSort.FOLDER),
        (lambda root: (root / "app/web").symlink_to(root / "web"), FileSort.FOLDER),
        (lambda root: many(root / "app"), FileSort.FOLDER),
    ],
)
async def test_it_is_said_where_not_all_of_it_can_be_told(
    root: Path, prepare: Callable[[Path], object], sort: FileSort
) -> None:
    prepare(root)
    stage = CommandValidator(str(root)).stage_of("python3", ["app"])
    sight = await CommandExecutor(root).look([stage])
    assert [file.sort for file in sight.steps[0].files] == [sort]


def many(folder: Path) -> None:
    for number in range(MOST_FILES):
        (folder / f"{number}.py").touch()
