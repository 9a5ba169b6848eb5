"""Every option that an allowed command lists in its help has been looked at, and is judged so."""

import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from handrail.core.risk import RiskLevel, worst
from handrail.policy.rulebook.command import CommandRule
from handrail.policy.rulebook.rules import default_rules
from handrail.policy.validators.commands import CommandValidator
from tests.policy.help_text import VALUE, help_of, options_in, version_of

CORPUS = Path(__file__).parents[1] / "corpus" / "commands_help.toml"
COMMANDS: list[dict[str, Any]] = tomllib.loads(CORPUS.read_text(encoding="utf-8"))["command"]
VALIDATOR = CommandValidator("/home/ada/project")
# Its help says nothing of the value that its manual has.
UNTOLD = {"--parameter"}
HARM = {"writes", "executes", "reads", "connects", "destroys", "waits", "changes", "obeys"}

every_command = pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command["name"])


def line_of(command: dict[str, Any], option: str, takes: list[str]) -> list[str]:
    first, operands = command.get("first", []), command["operands"]
    return [*command["name"].split(), *first, option, *takes, *operands]


def judge(argv: list[str]) -> str:
    return worst(VALIDATOR.validate_command(argv[0], argv[1:])).name.lower()


def rule_of(name: str) -> CommandRule:
    first, *others = name.split()
    (rule,) = default_rules().command_list.rules_for(first)
    for word in others:
        (rule,) = rule.subs_named(word)
    return rule


@cache
def listed(name: str) -> dict[str, set[str]]:
    text = help_of(name)
    if text is None:
        pytest.skip(f"{name} is not installed here, so it cannot be asked for its help")
    return options_in(name, text)


@pytest.mark.behaviour("command.every-option")
@every_command
def test_every_row_is_judged_as_it_says(command: dict[str, Any]) -> None:
    wrong = {
        tuple(argv): judge(argv)
        for row in command["rows"]
        for argv in [line_of(command, row.get("typed", row["option"]), row.get("takes", []))]
        if judge(argv) != row["expected"]
    }
    assert wrong == {}


@pytest.mark.behaviour("command.every-option")
@every_command
def test_nothing_that_does_harm_is_low(command: dict[str, Any]) -> None:
    for row in command["rows"]:
        assert row.get("does", "") in {"", *HARM}
        assert "does" not in row or row["expected"] != "low", row


@every_command
def test_harm_is_not_hidden_by_cutting_an_option_short_or_by_an_equals_sign(
    command: dict[str, Any],
) -> None:
    rule = rule_of(command["name"])
    for row in command["rows"]:
        option, takes = row["option"], row.get("takes", [])
        if "does" not in row or not option.startswith("--"):
            continue
        shorter = (option[:end] for end in range(3, len(option)))
        for short in (word for word in shorter if not rule.knows(word)):
            assert judge(line_of(command, short, takes)) != "low", short
            assert judge(line_of(command, f"{short}=1", [])) != "low", short
        assert judge(line_of(command, f"{option}=1", [])) != "low"


@every_command
def test_a_value_in_the_same_word_is_judged_as_one_in_the_next(command: dict[str, Any]) -> None:
    for row in command["rows"]:
        option, takes = row["option"], row.get("takes", [])
        if option.startswith("--") and len(takes) == 1:
            joined = line_of(command, f"{row.get('typed', option)}={takes[0]}", [])
            assert judge(joined) == row["expected"], joined


@every_command
def test_what_the_help_lists_and_is_low_has_a_row(command: dict[str, Any]) -> None:
    known = {row["option"] for row in command["rows"]}
    new = set(listed(command["name"])) - known
    assert [option for option in new if judge(line_of(command, option, [])) == "low"] == []


@pytest.mark.behaviour("command.every-option")
@every_command
def test_whatever_the_help_lists_has_a_row(command: dict[str, Any]) -> None:
    options, version = set(listed(command["name"])), version_of(command["name"])
    if version not in command["versions"]:
        read = ", ".join(command["versions"])
        pytest.skip(f"the rows are those of version {read}, and here is {version}")
    assert options - {row["option"] for row in command["rows"]} == set()


@every_command
def test_what_we_think_takes_a_value_does_so_by_its_own_help(command: dict[str, Any]) -> None:
    rule = rule_of(command["name"])
    for option, kinds in listed(command["name"]).items():
        if option.startswith("--") and (option in rule.values or option in rule.paths):
            assert VALUE in kinds or option in UNTOLD, option


def rows() -> Iterator[tuple[str, str]]:
    for command in COMMANDS:
        for row in command["rows"]:
            yield command["name"], row["option"]


def test_every_low_command_is_in_the_corpus_and_no_option_is_there_twice() -> None:
    names = {command["name"] for command in COMMANDS}
    low = {
        min(rule.names)
        for rule in default_rules().commands
        if rule.risk is RiskLevel.LOW and rule.runs is None
    }
    assert low - names <= {"egrep", "false", "git", "which"}
    assert len(list(rows())) == len(set(rows())) >= 1_500
