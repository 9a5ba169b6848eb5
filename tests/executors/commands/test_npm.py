"""npm runs nothing that nobody has seen: no program of its settings, and no other project."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from handrail.core.box import Profile
from handrail.core.stage import Stage
from handrail.executors.commands.executor import CommandExecutor
from handrail.executors.commands.npm import npm_settings
from handrail.executors.processes.programs import SEARCH_PATH, ProgramFinder
from handrail.policy.rulebook.command_line import read_line
from handrail.policy.rulebook.rules import default_rules

ENOUGH_SECONDS = 100
needs_npm = pytest.mark.skipif(
    any(shutil.which(name, path=":".join(SEARCH_PATH)) is None for name in ("npm", "git")),
    reason="npm or git is not installed here",
)


@pytest.fixture
def executor(root: Path) -> CommandExecutor:
    """In the open: what npm is told it is told there too."""
    return CommandExecutor(root, grace_seconds=0.5)


def make_project(root: Path, settings: str, **more: object) -> None:
    told = {"name": "small", "version": "1.0.0", "scripts": {"test": "echo tested"}, **more}
    (root / "package.json").write_text(json.dumps(told))
    (root / ".npmrc").write_text(settings)
    (root / "evil.sh").write_text(f"#!/bin/sh\ntouch {root}/ran\n")
    (root / "evil.sh").chmod(0o755)
    (root / "evil.js").write_text(f"require('fs').writeFileSync('{root}/ran', '')\n")


async def run(executor: CommandExecutor, *argv: str) -> str:
    stage = Stage(argv, Profile.WRITE, programs=argv[:1])
    outcome = await executor.run([stage], timeout_seconds=ENOUGH_SECONDS)
    return (outcome.stdout + outcome.stderr).decode()


@needs_npm
@pytest.mark.timeout(ENOUGH_SECONDS)
@pytest.mark.parametrize(
    ("setting", "argv"),
    [
        ("script-shell=./evil.sh", ["npm", "test"]),
        ("node-options=--require=./evil.js", ["npm", "run", "node"]),
        ("git=./evil.sh", ["npm", "view", "git+file:///nowhere"]),
        ("init-module=./evil.js", ["npm", "init", "-y"]),
    ],
)
async def test_a_project_names_no_program_for_npm(
    executor: CommandExecutor, root: Path, setting: str, argv: list[str]
) -> None:
    scripts = {"test": "echo tested", "node": "node -p 6*7"}
    make_project(root, setting, scripts=scripts)
    said = await run(executor, *argv)
    assert not (root / "ran").exists()
    if argv[1] in ("test", "run"):
        assert "tested" in said or "42" in said


@needs_npm
@pytest.mark.timeout(ENOUGH_SECONDS)
async def test_the_flags_of_what_npx_runs_are_not_its_own(
    executor: CommandExecutor, root: Path
) -> None:
    make_project(root, "")
    tsc = root / "node_modules" / ".bin" / "tsc"
    tsc.parent.mkdir(parents=True)
    tsc.write_text('#!/bin/sh\necho "told $*"\n')
    tsc.chmod(0o755)
    listed = default_rules().command_list
    argv = read_line(listed, ["npx", "tsc", "--script-shell=./evil.sh", "-p", "web"]).argv
    assert "told --script-shell=./evil.sh -p web" in await run(executor, *argv)
    assert not (root / "ran").exists()


@needs_npm
@pytest.mark.timeout(ENOUGH_SECONDS)
async def test_nor_does_a_package_that_is_fetched(executor: CommandExecutor, root: Path) -> None:
    store = root / "store"
    store.mkdir()
    further = {"y": "git+file:///nowhere"}
    scripts = {"prepare": "touch ran"}
    make_project(store, "git=./evil.sh\n", devDependencies=further, scripts=scripts)
    name = ["-c", "user.name=ada", "-c", "user.email=ada@example.org"]
    for words in (["init", "-q"], ["add", "-A"], [*name, "commit", "-qm", "first"]):
        subprocess.run(["git", *words], cwd=store, check=True, timeout=20)
    make_project(root, "", dependencies={"dep": f"git+file://{store}"})
    (root / "evil.sh").unlink()
    await run(executor, "npm", "install", "--ignore-scripts", "--no-audit", "--no-fund")
    assert not [*root.rglob("ran")]


def test_what_is_started_by_another_is_told_the_same(root: Path) -> None:
    programs = ProgramFinder(str(root))
    stage = Stage(("xargs", "npm", "view"), Profile.NET, programs=("xargs", "npm"))
    told = dict(npm_settings(stage, programs))
    assert told["NPM_CONFIG_SCRIPT_SHELL"] == "/bin/sh"
    assert "NPM_CONFIG_IGNORE_SCRIPTS" not in told
    assert npm_settings(Stage(("make",), Profile.WRITE, programs=("make",)), programs) == ()


def test_where_scripts_are_off_they_are_off_for_all_it_starts(root: Path) -> None:
    stage = Stage(("npm", "install", "--ignore-scripts"), Profile.NET, programs=("npm",))
    told = dict(npm_settings(stage, ProgramFinder(str(root))))
    assert told["NPM_CONFIG_IGNORE_SCRIPTS"] == "true"
