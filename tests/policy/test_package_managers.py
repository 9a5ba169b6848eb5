"""Package managers and interpreters have many ways to be told to run something else."""

import pytest

from handrail.core.box import Profile
from handrail.core.risk import RiskLevel, worst
from handrail.policy.rulebook.rules import default_rules
from handrail.policy.rulebook.settings import PACKS
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


@pytest.mark.parametrize("name", ["npm", "pnpm", "yarn"])
@pytest.mark.parametrize(
    "words",
    [
        *("--loglevel test exec x", "--dir exec lint", "--json=exec x", "--json true exec x"),
        *("--prefix web test", "--cwd web test", "-C web test", "--anything test", "-- test"),
        *("--version exec x", "-v --json=exec"),
    ],
)
def test_which_word_is_the_subcommand_is_beyond_doubt(name: str, words: str) -> None:
    assert risk_of(f"{name} {words}") is FORBIDDEN
    assert not is_grantable(f"{name} {words}")


def test_who_puts_a_flag_first_is_told_what_to_do_instead() -> None:
    findings = COMMANDS.validate_command("npm", ["--prefix", "web", "test"])
    assert "npm --prefix stands where the subcommand belongs" in findings[0].reason
    assert "use working_dir for another folder" in findings[0].reason


@pytest.mark.parametrize("flag", ["-s", "--silent", "-q", "--loglevel=silent"])
def test_flags_that_take_nothing_in_any_version_may_stand_first(flag: str) -> None:
    assert risk_of(f"npm {flag} test") is RiskLevel.MEDIUM
    assert risk_of(f"npm {flag} exec x") is FORBIDDEN
    assert risk_of(f"npm {flag} true exec x") is FORBIDDEN


@pytest.mark.parametrize(
    "words",
    [
        *("--json=./evil", "--no-tag=./evil", "-d=./evil", "--no-audit=./x"),
        *("--loglevel --tag x", "-C --save-dev", "-CD", "--unknown", "--no-loglevel x"),
    ],
)
@pytest.mark.parametrize("command", ["npm test", "npm install", "npm pack", "npm view"])
def test_flags_that_can_be_read_in_several_ways_are_asked_for(command: str, words: str) -> None:
    assert risk_of(f"{command} {words}") is HIGH


@pytest.mark.parametrize("flag", ["--tag", "--loglevel", "-m", "-w", "--prefix"])
def test_no_flag_of_npm_hides_one_that_is_refused(flag: str) -> None:
    assert risk_of(f"npm test {flag} --script-shell=./x") is FORBIDDEN


@pytest.mark.parametrize("words", ["--json=vite", "-y=vite", "--tag vite", "--include vite"])
def test_nothing_hides_what_a_new_project_would_be_made_by(words: str) -> None:
    assert risk_of(f"npm init {words}") is FORBIDDEN


@pytest.mark.parametrize(
    "place",
    [
        *(".", "./evil", "evil/", "a/b", "file:evil", "x@file:evil", "git+file:///workspace/x"),
        *("@a/b/../c", "evil.tgz", "EVIL.TAR.GZ", "github:a/b", ".evil", "x@a/b"),
    ],
)
@pytest.mark.parametrize(
    "command",
    [
        *("npm install", "npm view", "npm fund", "npm install --tag", "npm install --"),
        *("pnpm add", "pnpm view", "yarn add"),
    ],
)
def test_a_place_in_the_stead_of_a_package_is_asked_for_each_time(command: str, place: str) -> None:
    assert risk_of(f"{command} {place}") is HIGH
    assert not is_grantable(f"{command} {place}")


@pytest.mark.parametrize(
    "words", ["./evil", "evil/", ".", "-- ./evil", "file:evil", "--tag ./evil"]
)
@pytest.mark.parametrize("name", ["npm", "pnpm"])
def test_scripts_of_another_folder_are_run_by_no_packing(name: str, words: str) -> None:
    assert risk_of(f"{name} pack {words}") is FORBIDDEN


@pytest.mark.parametrize("name", ["react", "react@18.2.0", "@types/node", "@a/b@^1.2", "x@>=1.0"])
@pytest.mark.parametrize("command", ["npm install", "npm view", "pnpm add", "yarn add"])
def test_the_name_of_a_package_is_no_place(command: str, name: str) -> None:
    assert risk_of(f"{command} {name}") is RiskLevel.MEDIUM


@pytest.mark.parametrize("command", ["test", "run build", "rebuild", "pack"])
@pytest.mark.parametrize(
    "flag",
    ["--workspaces", "-ws", "--ws", "--workspace=web", "-w web", "-r", "--filter web", "-F web"],
)
def test_scripts_of_other_packages_are_asked_for_each_time(command: str, flag: str) -> None:
    for line in (f"npm {command} {flag}", f"pnpm {command} {flag}"):
        assert risk_of(line) is HIGH
        assert not is_grantable(line)


@pytest.mark.parametrize(
    "line", ["pnpm test -C we*", "npm test --prefix we*", "make -C we*", "yarn test --cwd we*"]
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


def test_a_module_that_could_be_taken_for_a_pattern_is_asked_about() -> None:
    assert risk_of("python3 -m app") is RiskLevel.MEDIUM
    assert risk_of("python3 -m [a]pp") is HIGH


def test_to_run_a_module_is_no_class() -> None:
    assert not is_grantable("python -m web.app")


@pytest.mark.parametrize("name", ["npm", "pnpm", "yarn", "uv", "go", "git"])
@pytest.mark.parametrize("line", ["xargs {}", "xargs -I X {} X -c id", "find exec -exec {} {{}} ;"])
def test_what_chooses_a_subcommand_unseen_can_choose_the_worst(name: str, line: str) -> None:
    assert risk_of(line.format(name)) is FORBIDDEN


@pytest.mark.parametrize(
    "command",
    [
        *("npm view", "npm ls", "npm fund", "npm outdated", "npm install", "npm test"),
        *("npm publish", "pnpm view", "pnpm test", "yarn add", "yarn test", "yarn run"),
    ],
)
@pytest.mark.parametrize("line", ["xargs {}", "xargs {} --tag", "xargs -I {{}} {} {{}}"])
def test_words_that_nobody_has_seen_may_be_flags_that_are_refused(line: str, command: str) -> None:
    assert risk_of(line.format(command)) is FORBIDDEN


@pytest.mark.parametrize("name", ["pnpm", "yarn"])
def test_flags_of_a_script_are_its_own(name: str) -> None:
    assert risk_of(f"{name} test --mode=fast --coverage") is RiskLevel.MEDIUM


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


@pytest.mark.parametrize("start", ["python3", "python3 -I", "uv run python"])
@pytest.mark.parametrize(
    "words", ["-X pycache_prefix=x", "-Xpycache_prefix=x", "-X pycache_prefix"]
)
def test_python_takes_compiled_code_from_no_other_folder(start: str, words: str) -> None:
    assert risk_of(f"{start} {words} -m pip list") is FORBIDDEN
    assert risk_of(f"{start} {words} a.py") is FORBIDDEN


def test_what_python_is_told_apart_from_flags_is_known_or_asked_about_each_time() -> None:
    assert is_grantable("python3 -X dev a.py")
    assert risk_of("python3 -X presite=x a.py") is HIGH
    assert not is_grantable("python3 -X presite=x a.py")
    assert risk_of("python3 pycache_prefix.py") is RiskLevel.MEDIUM


@pytest.mark.parametrize("line", ["pip", "pip3", "python3 -m pip", "uv run pip"])
@pytest.mark.parametrize(
    "words", ["--python ./x list", "install --python=./x y", "show --pyth x y"]
)
def test_pip_is_run_by_no_other_program_than_the_one_that_is_named(line: str, words: str) -> None:
    assert risk_of(f"{line} {words}") is FORBIDDEN


def test_packs_bind_what_they_run() -> None:
    packed = CommandValidator("/workspace", default_rules(PACKS))
    bound = {script.path for script in packed.stage_of("npx", ["tsc", "--noEmit"]).scripts}
    assert bound == {"node_modules/.bin/tsc", "package.json"}
    assert [one.path for one in packed.stage_of("java", ["A.java"]).scripts] == ["A.java"]
    assert packed.class_of("java", ["-cp", "lib", "A.java"]) is None
    assert packed.class_of("npx", ["tsc"]) is None
