"""Package managers and interpreters have many ways to be told to run something else."""

import pytest

from handrail.core.box import Profile
from handrail.core.risk import RiskLevel, worst
from handrail.policy.validators.commands import CommandValidator
from handrail.policy.validators.scripts import ScriptValidator

COMMANDS = CommandValidator("/workspace")
LINES = ScriptValidator("/workspace")

HIGH, FORBIDDEN = RiskLevel.HIGH, RiskLevel.FORBIDDEN


def risk_of(line: str) -> RiskLevel:
    command, *args = line.split()
    return worst(COMMANDS.validate_command(command, args))


def is_grantable(line: str) -> bool:
    command, *args = line.split()
    return COMMANDS.class_of(command, args) is not None


def files_run_by(line: str) -> set[str]:
    command, *args = line.split()
    return {script.path for script in COMMANDS.stage_of(command, args).scripts}


@pytest.mark.parametrize("flag", ["script-shell=./x", "node-options=-r./x", "no-script-shell"])
@pytest.mark.parametrize("dashes", ["-", "--", "---", "-----"])
def test_npm_takes_any_number_of_dashes(flag: str, dashes: str) -> None:
    assert risk_of(f"npm test {dashes}{flag}") is FORBIDDEN
    assert risk_of(f"npm {dashes}{flag} test") is FORBIDDEN


@pytest.mark.parametrize("flag", ["-prefix", "---prefix", "--C", "-C"])
@pytest.mark.parametrize("mark", [" ", "="])
def test_npm_is_bound_to_the_folder_it_goes_to_however_that_is_said(flag: str, mark: str) -> None:
    assert "web/package.json" in files_run_by(f"npm test {flag}{mark}web")
    assert not is_grantable(f"npm test {flag}{mark}web")


def test_three_dashes_end_the_flags_of_npm_as_two_do() -> None:
    words = COMMANDS.stage_of("npm", ["install", "x", "---"]).argv
    assert words == ("npm", "install", "x", "--ignore-scripts", "---")


@pytest.mark.parametrize("command", ["test", "run build", "rebuild", "pack"])
@pytest.mark.parametrize(
    "flag",
    ["--workspaces", "-ws", "--ws", "--workspace=web", "-w web", "-r", "--filter web", "-F web"],
)
def test_scripts_of_other_packages_are_asked_for_each_time(command: str, flag: str) -> None:
    for line in (f"npm {command} {flag}", f"pnpm {flag} {command}"):
        assert risk_of(line) is HIGH
        assert not is_grantable(line)


@pytest.mark.parametrize(
    "line", ["npm --prefix we* test", "npm test --prefix we*", "make -C we*", "yarn --cwd we* test"]
)
def test_a_folder_that_only_a_pattern_tells_is_not_said_to_be_held(line: str) -> None:
    assert worst(LINES.validate_script(line)) is HIGH
    (stage,) = LINES.stages_of(line)
    assert not any("we*" in script.path for script in stage.scripts)


@pytest.mark.parametrize(
    "line",
    [
        *("pip install", "pip3 wheel --no-deps", "npm install", "yarn add", "uv pip install"),
        *("uv add", "pnpm add"),
    ],
)
def test_a_grant_for_names_of_packages_covers_no_pattern(line: str) -> None:
    assert LINES.class_of(f"{line} left") is not None
    assert LINES.class_of(f"{line} lef*") is None


def test_a_grant_for_files_covers_patterns_as_before() -> None:
    assert LINES.class_of("git add *.py") == LINES.class_of("git add a.py") is not None


@pytest.mark.parametrize("line", ["python -m pip install x", "timeout 5 python3 -m pip list"])
def test_a_module_of_the_folder_that_hides_a_tool_is_bound(line: str) -> None:
    assert {"pip.py", "pip/__main__.py"} <= files_run_by(line)


@pytest.mark.parametrize("line", ["python3 -m npm install x", "python3 -um git fetch origin"])
def test_a_module_that_the_workspace_can_bring_has_no_network(line: str) -> None:
    command, *args = line.split()
    stage = COMMANDS.stage_of(command, args)
    assert risk_of(line) >= HIGH
    assert (stage.profile, stage.networks) == (Profile.WRITE, ())


@pytest.mark.parametrize("line", ["python3 -m pip install x", "python3.10 -m uv sync"])
def test_a_tool_of_pythons_own_takes_no_module_of_the_workspace(line: str) -> None:
    command, *args = line.split()
    stage = COMMANDS.stage_of(command, args)
    assert stage.argv == (command, "-I", *args)
    assert stage.profile is Profile.NET


def test_to_run_a_module_is_no_class() -> None:
    assert not is_grantable("python -m web.app")


@pytest.mark.parametrize("name", ["npm", "pnpm", "yarn", "uv", "go", "git"])
@pytest.mark.parametrize("line", ["xargs {}", "xargs -I X {} X -c id", "find exec -exec {} {{}} ;"])
def test_what_chooses_a_subcommand_unseen_can_choose_the_worst(name: str, line: str) -> None:
    assert risk_of(line.format(name)) is FORBIDDEN


@pytest.mark.parametrize("module", ["code", "asyncio", "web.shell", "IPython"])
def test_what_is_piped_into_a_module_may_be_run_by_it(module: str) -> None:
    assert worst(LINES.validate_script(f"echo 1 | python3 -m {module}")) >= HIGH


@pytest.mark.parametrize("module", ["json.tool", "pytest"])
def test_what_is_piped_into_a_known_module_is_no_code(module: str) -> None:
    assert worst(LINES.validate_script(f"echo 1 | python3 -m {module}")) < HIGH


@pytest.mark.parametrize("value", ["data:text/javascript,1", " DATA:text/javascript,1", "node:x"])
@pytest.mark.parametrize("flag", ["--import", "--require", "-r"])
def test_code_on_the_line_is_asked_for_each_time(flag: str, value: str) -> None:
    args = [flag, value, "a.js"]
    assert worst(COMMANDS.validate_command("node", args)) is HIGH
    assert COMMANDS.class_of("node", args) is None


@pytest.mark.parametrize("name", ["NPM_CONFIG_SCRIPT_SHELL", "npm_Config_x", "YARN_RC", "yarn_x"])
def test_settings_of_package_managers_come_by_no_variable(name: str) -> None:
    assert risk_of(f"env {name}=./x npm test") is FORBIDDEN


@pytest.mark.parametrize(
    "line",
    ["pip install -r req.txt", "pip install x -creq.txt", "uv pip install --requirement=req.txt"],
)
def test_a_list_of_packages_is_bound_and_asked_for_each_time(line: str) -> None:
    assert files_run_by(line) == {"req.txt"}
    assert not is_grantable(line)
