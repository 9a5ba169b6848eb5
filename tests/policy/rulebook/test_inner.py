"""Words that come from elsewhere: what a command is handed that nobody has seen."""

import shlex

import pytest

from handrail.core.errors import RuleError
from handrail.core.risk import RiskLevel, worst
from handrail.policy.rulebook.book import operator_rules
from handrail.policy.rulebook.command import CommandRule
from handrail.policy.rulebook.rules import default_rules
from handrail.policy.rulebook.settings import PACKS
from handrail.policy.validators.commands import CommandValidator

COMMANDS = CommandValidator("/home/ada/project")
EVERYTHING = CommandValidator("/home/ada/project", default_rules(PACKS))
MEDIUM, HIGH, FORBIDDEN = RiskLevel.MEDIUM, RiskLevel.HIGH, RiskLevel.FORBIDDEN


def risk_of(line: str) -> RiskLevel:
    command, *args = shlex.split(line)
    return worst(COMMANDS.validate_command(command, args))


@pytest.mark.parametrize(
    "line",
    [
        "find T -exec zip a.zip a -{} -{}{} ./as ';'",
        "find delete -exec find del -{} ';'",
        "find B. -exec gcc a.c -{} ';'",
        "find ifile -exec sed -{} s/a/b/ Make ';'",
        "find c -execdir cat --{} a ';'",
        "find . -exec cat {} + -exec head -{} a ';'",
        "find . -exec env nice cat a{} ';'",
    ],
)
def test_the_name_of_a_file_makes_no_flag(line: str) -> None:
    assert risk_of(line) is FORBIDDEN


@pytest.mark.parametrize("line", ["find . -exec cat {} ';'", "find . -exec awk '{print}' a ';'"])
def test_what_is_found_stands_alone(line: str) -> None:
    assert risk_of(line) is MEDIUM


@pytest.mark.parametrize(
    "line",
    [
        "find . -name Makefile -exec sed -i s/orig/X/ {} ';'",
        "find . -name Makefile -exec sort -o {} payload ';'",
        "find . -name Makefile -exec uniq payload {} ';'",
        "find . -execdir git add {} +",
        "find . -exec env nice git mv a {} ';'",
    ],
)
def test_who_writes_on_what_is_found_is_looked_at_each_time(line: str) -> None:
    assert risk_of(line) is HIGH
    command, *args = shlex.split(line)
    assert COMMANDS.class_of(command, args) is None


@pytest.mark.parametrize(
    "line",
    ["xargs uniq", "xargs sed s/a/b/", "xargs rg", "xargs mkdir -p", "xargs git mv", "xargs ruff"],
)
def test_who_can_write_by_words_that_nobody_has_seen_is_looked_at_each_time(line: str) -> None:
    assert risk_of(line) is HIGH


@pytest.mark.parametrize(
    "line",
    [
        *(
            "xargs npm view",
            "xargs npm ls",
            "xargs npm fund",
            "xargs npm audit",
            "xargs npm outdated",
        ),
        *("xargs yarn test", "xargs yarn run x", "xargs -I {} yarn run {}", "xargs env yarn run x"),
    ],
)
def test_words_that_nobody_has_seen_are_refused_where_one_of_them_would_be(line: str) -> None:
    assert risk_of(line) is FORBIDDEN


@pytest.mark.parametrize(
    "line",
    [
        *(
            "xargs git shortlog HEAD",
            "xargs git blame a",
            "xargs git stash show -p",
            "xargs diff a",
        ),
        *("xargs tail", "xargs -I {} git describe {}", "xargs env jq ."),
        *("find . -exec uniq {} +", "find . -exec uniq {} ;", "find . -exec git symbolic-ref {} +"),
        *("find . -exec sed {} +", "find . -exec sed -n -e {} a ;", "find . -exec jq {} a ;"),
    ],
)
def test_what_may_do_more_than_look_is_asked_about_with_words_from_elsewhere(line: str) -> None:
    assert risk_of(line) is HIGH


@pytest.mark.parametrize("line", ["tar cf a.tar {} +", "zip a.zip {} +", "env tar cf a.tar {} ;"])
def test_what_a_list_says_is_found_may_be_a_flag(line: str) -> None:
    assert risk_of(f"find . -exec {line}") is HIGH
    assert risk_of(f"find -files0-from list -exec {line}") is FORBIDDEN
    assert risk_of(f"find . -name x -files0-from list -execdir {line}") is FORBIDDEN


def test_what_is_refused_with_one_word_is_so_with_words_that_nobody_has_seen() -> None:
    assert risk_of("xargs date +%s") is FORBIDDEN


@pytest.mark.parametrize("line", ["sed -n 1,5p {} +", "tail -n 1 {} +", "jq .a {} ;", "cat {} +"])
def test_files_that_are_found_may_be_looked_at(line: str) -> None:
    assert risk_of(f"find . -exec {line}") is MEDIUM


@pytest.mark.parametrize(
    "more",
    [
        "",
        "risk = 'medium'\nreason = 'x'",
        "risk = 'low'\nwrites = true",
        "risk = 'low'\noperands = 1",
        "risk = 'low'\nraise = [{ on = ['-x'], to = 'forbidden', reason = 'x' }]",
    ],
)
def test_only_what_does_nothing_else_may_say_that_it_looks(more: str) -> None:
    row = f"[[command]]\nname = 'x'\nlooks_only = true\n{more}\nexamples = {{ 'x' = 'low' }}"
    with pytest.raises(RuleError, match="looks_only is for what is low"):
        operator_rules(row, "policy.toml")


@pytest.mark.parametrize("line", ["xargs grep x", "xargs wc -l", "xargs git status"])
def test_what_only_looks_does_so_with_any_words(line: str) -> None:
    assert risk_of(line) is MEDIUM


def leaves(title: str, rule: CommandRule) -> list[tuple[str, CommandRule]]:
    within = [leaf for sub in rule.subs for leaf in leaves(f"{title} {max(sub.names)}", sub)]
    return within or [(title, rule)]


@pytest.mark.parametrize(
    ("title", "rule"),
    [
        pytest.param(title, rule, id=title)
        for row in default_rules(PACKS).commands
        for title, rule in leaves("sha256sum" if "sha256sum" in row.names else max(row.names), row)
        if rule.risk is RiskLevel.LOW and rule.runs is None
    ],
)
def test_what_does_not_say_that_it_only_looks_is_handed_nothing_unseen(
    title: str, rule: CommandRule
) -> None:
    given = EVERYTHING.validate_command("xargs", title.split())
    assert (worst(given) is MEDIUM) == rule.looks_only


@pytest.mark.parametrize("line", ["pytest -q a.py @args", "python3 -m pytest @args", "gcc @args"])
def test_words_of_a_file_are_refused_where_one_of_them_would_be(line: str) -> None:
    assert risk_of(line) is FORBIDDEN


def test_words_of_a_file_are_looked_at_each_time() -> None:
    assert COMMANDS.class_of("ruff", ["check", "src"]) is not None
    assert COMMANDS.class_of("ruff", ["check", "@args"]) is None


def test_every_file_that_is_run_is_bound() -> None:
    stage = COMMANDS.stage_of("node", ["--test", "a.test.js", "b.test.js"])
    assert {"a.test.js", "b.test.js"} <= {script.path for script in stage.scripts}


def test_which_files_a_pattern_is_nobody_has_seen() -> None:
    assert risk_of("node --test 'tests/**/*.js'") is HIGH


@pytest.mark.parametrize(
    "line",
    [
        "env COMPILER_PATH=./evil gcc a.c",
        "env GCC_EXEC_PREFIX=./evil/ gcc a.c",
        "env 'ZIPOPT=-T -TT ./x' zip a.zip b",
        "env PYTEST_ADDOPTS=--basetemp=src pytest",
        "env PIP_REQUIREMENT=req.txt pip install x",
        "env RUSTFLAGS=-Clinker=./x cargo build",
        "gcc -Wl,--plugi,./p.so a.c",
        "gcc -Xlinker --plugin -Xlinker ./p.so a.c",
        "gcc -Wp,-fplugin=./x.so -c a.c",
        "gcc -E -Wp,-MD,a.d,-fplugin=./x.so a.c",
        "gcc -Xpreprocessor -fplugin=./x.so a.c",
        "g++ -foffload-options=nvptx-none=-fplugin=./x.so a.cc",
    ],
)
def test_what_is_refused_is_so_by_a_variable_and_by_the_linker(line: str) -> None:
    assert risk_of(line) is FORBIDDEN


@pytest.mark.parametrize("line", ["cargo rustc -- -C linker=./x", "go build -ldflags=-extld=./x"])
def test_a_linker_of_the_workspace_is_looked_at_each_time(line: str) -> None:
    assert risk_of(line) is HIGH
