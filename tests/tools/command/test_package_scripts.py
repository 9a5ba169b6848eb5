"""A card says which scripts of package.json a command runs."""

import json
from pathlib import Path

import pytest

from handrail.executors.commands.executor import CommandExecutor
from handrail.executors.files.filesystem import FileSystemExecutor
from handrail.executors.processes.programs import SEARCH_PATH
from handrail.policy.validators.scripts import ScriptValidator
from handrail.tools.command.package_scripts import script_lines

SCRIPTS = {
    "pretest": "tsc",
    "test": "vitest run\n--bail",
    "build": "vite build",
    "install": "node evil.js",
    "odd": 3,
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path / "ws"
    (made / "web").mkdir(parents=True)
    (made / "package.json").write_text(json.dumps({"scripts": SCRIPTS}))
    (made / "web/package.json").write_text(json.dumps({"scripts": {"test": "web only"}}))
    bin_ = tmp_path / "bin"
    bin_.mkdir()
    for name in ("npm", "pnpm", "yarn", "bun"):
        (bin_ / name).write_text("#!/bin/sh\n")
        (bin_ / name).chmod(0o755)
    return made


async def lines(root: Path, line: str, *, then: str | None = None) -> list[str]:
    executor = CommandExecutor(root, search_path=(str(root.parent / "bin"), *SEARCH_PATH))
    sight = await executor.look(ScriptValidator(str(root)).stages_of(line))
    if then is not None:
        (root / "package.json").write_text(then)
    with FileSystemExecutor(root) as files:
        return await script_lines(files, sight.steps)


TEST = ["script   pretest: tsc", "script   test: vitest run\\x0a--bail"]


@pytest.mark.parametrize(
    "line",
    ["npm test", "npm t", "npm run test", "npm run-script -s test", "yarn test", "pnpm test"],
)
async def test_a_script_is_shown_with_what_runs_before_it(root: Path, line: str) -> None:
    assert await lines(root, line) == TEST


async def test_arguments_for_the_script_change_nothing(root: Path) -> None:
    assert await lines(root, "npm run build -- --prefix x") == ["script   build: vite build"]


async def test_it_is_the_package_of_the_folder_that_the_command_runs_in(root: Path) -> None:
    assert await lines(root, "cd web && npm test") == ["script   test: web only"]


async def test_each_command_of_a_line_is_shown(root: Path) -> None:
    assert await lines(root, "npm run build && npm test") == ["script   build: vite build", *TEST]


@pytest.mark.parametrize(
    "line",
    ["npm run", "npm run odd", "npm run missing", "npm build", "npm test -w web", "bun test"],
)
async def test_nothing_is_shown_that_may_not_be_what_runs(root: Path, line: str) -> None:
    assert await lines(root, line) == []


@pytest.mark.parametrize("text", ["{", "[]", '{"scripts": []}', '{"scripts": {"test": "other"}}'])
async def test_a_file_that_changed_since_it_was_bound_is_not_shown(root: Path, text: str) -> None:
    assert await lines(root, "npm test", then=text) == []


@pytest.mark.parametrize("text", ["{", "[]", '{"scripts": []}', "[" * 100_000])
async def test_a_file_that_cannot_be_read_shows_nothing(root: Path, text: str) -> None:
    (root / "package.json").write_text(text)
    assert await lines(root, "npm test") == []
