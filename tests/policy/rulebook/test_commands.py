"""Rows of the command table, in the shipped file and in those of operators and projects."""

import shlex
import tomllib
from importlib.resources import files
from pathlib import Path

import pytest

from handrail.core.errors import RuleError
from handrail.core.risk import Finding, Layer, RiskLevel, worst
from handrail.policy.rulebook.command_line import read_line
from handrail.policy.rulebook.rules import Rules, default_rules
from handrail.policy.validators.commands import CommandValidator
from handrail.policy.validators.scripts import ScriptValidator

ROW = "[[command]]\nname = 'x'\n"
EXAMPLES = "examples = { 'x' = 'high' }\n"
KEYS = "name, names, risk, reason, asks, refuses, text, runs, obeys, needs, adds, examples"
SHIPPED = files("handrail.policy.rulebook").joinpath("defaults", "commands.toml")


def parse(text: str, layer: Layer = Layer.SHIPPED) -> Rules:
    return Rules.parse(text, source="mine.toml", layer=layer)


def refusal_of(text: str, layer: Layer = Layer.SHIPPED) -> str:
    with pytest.raises(RuleError) as caught:
        parse(text, layer)
    return caught.value.message


def risk_of(line: str, rules: Rules) -> RiskLevel:
    command, *args = line.split()
    return worst(CommandValidator("/w", rules).validate_command(command, args))


# The shipped table


def test_the_shipped_table_is_short() -> None:
    text = SHIPPED.read_text(encoding="utf-8")
    rows = tomllib.loads(text)["command"]
    readers = {
        name.partition(" ")[0]
        for row in rows
        if row.get("risk") == "low"
        for name in row.get("names", [row.get("name")])
    }
    assert len({key for row in rows for key in row}) <= 12
    # The rows about git go with the judgement of its effects.
    assert len(text.encode()) <= 30_000
    assert 40 <= len(readers) <= 70


def test_every_shipped_name_has_one_row_and_what_is_not_low_has_a_reason() -> None:
    rules = default_rules().commands
    names = [name for rule in rules for name in rule.names]
    assert len(names) == len(set(names)) > 200
    assert [rule.names for rule in rules if rule.risk > RiskLevel.LOW and not rule.reason] == []


@pytest.mark.parametrize(
    ("line", "risk"),
    [
        ("git -C sub status", RiskLevel.LOW),
        ("grep x a /dev/null", RiskLevel.LOW),
        ("rg --passthrough x", RiskLevel.LOW),
        ("mkdir d && cd d", RiskLevel.HIGH),
        ("bash script.sh", RiskLevel.HIGH),
        ("no-such-thing --all", RiskLevel.HIGH),
        ("cp a b", RiskLevel.HIGH),
        ("pytest -q", RiskLevel.MEDIUM),
    ],
)
def test_ordinary_lines_are_not_refused(line: str, risk: RiskLevel) -> None:
    assert worst(ScriptValidator("/w").validate_script(line)) is risk


# Rows that are wrong


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (ROW, "needs `examples`, such as { 'tool --flag' = 'high' }"),
        (f"{ROW}examples = {{}}", "needs `examples`, such as { 'tool --flag' = 'high' }"),
        (f"{ROW}examples = 'x'", "examples is a table, such as { ... = ... }"),
        (
            f"{ROW}examples = {{ 'x' = 'low' }}",
            "says that 'x' is low, but it is high: x has no rule that describes its risk",
        ),
        (f"{ROW}examples = {{ 'y' = 'high' }}", "example 'y' is not one of this command"),
        (f"{ROW}examples = {{ '' = 'high' }}", "example '' is not one of this command"),
        (f"{ROW}examples = {{ \"x '\" = 'high' }}", "example \"x '\": No closing quotation"),
        (
            f"{ROW}examples = {{ 'x' = 'often' }}",
            "'often' is not a risk; there are low, medium, high, critical, forbidden",
        ),
        (f"{ROW}{EXAMPLES}colour = 'red'", f"unknown key 'colour'; known: {KEYS}"),
        (f"{ROW}{EXAMPLES}resk = 'low'", "unknown key 'resk'; did you mean risk?"),
        (f"{ROW}{EXAMPLES}risk = 'medium'", "'reason' is missing"),
        (f"{ROW}{EXAMPLES}risk = 'forbidden'", "'reason' is missing"),
        (f"{ROW}{EXAMPLES}asks = '-o'", "asks is a table, such as { ... = ... }"),
        (
            f"{ROW}{EXAMPLES}asks = {{ '-o' = 1 }}",
            'asks is a table such as { "-o --output" = "writes a file" }',
        ),
        (
            f"{ROW}{EXAMPLES}refuses = {{ '-o' = ['x'] }}",
            'refuses is a table such as { "-o --output" = "writes a file" }',
        ),
        (f"{ROW}{EXAMPLES}text = 'some'", "text is one of none, first, all, tests, not 'some'"),
        (f"{ROW}{EXAMPLES}needs = 'luck'", "needs is one of network, account, running, not 'luck'"),
        (f"{ROW}{EXAMPLES}adds = '-a'", "adds is a list of texts"),
        (f"{ROW}{EXAMPLES}obeys = 'a'", "obeys is a list of texts"),
        (f"{ROW}{EXAMPLES}runs = 1", "runs is a table, such as { ... = ... }"),
        (f"{ROW}{EXAMPLES}runs = {{ operands = -1 }}", "runs.operands is a number of words"),
        (f"{ROW}{EXAMPLES}runs = {{ operands = true }}", "runs.operands is a number of words"),
        (
            f"{ROW}{EXAMPLES}{ROW}{EXAMPLES}",
            "x has a [[command]] in this file already; make them one",
        ),
        (
            "[[command]]\nname = 'a b c d'\nexamples = { 'a' = 'high' }",
            "'a b c d' is not a command with at most two words after it",
        ),
        (
            "[[command]]\nname = 'a  b'\nexamples = { 'a' = 'high' }",
            "'a  b' is not a command with at most two words after it",
        ),
    ],
)  # fmt: skip
def test_a_wrong_row_is_refused_with_its_place_and_reason(text: str, message: str) -> None:
    found = refusal_of(text)
    assert found.startswith("mine.toml: command rule ")
    assert found.endswith(f": {message}")


def test_a_row_needs_a_name_and_the_brackets_of_a_list() -> None:
    assert refusal_of(f"[[command]]\n{EXAMPLES}").endswith("needs a 'name', or 'names'")
    assert (
        refusal_of("[command]\nname = 'x'") == "mine.toml: command rules are written as [[command]]"
    )


def test_runs_has_its_own_keys() -> None:
    message = refusal_of(f"{ROW}{EXAMPLES}runs = {{ operand = 1 }}")
    assert "unknown key 'operand'" in message


@pytest.mark.parametrize(
    ("key", "instead"),
    [
        *((key, "asks = {") for key in ("flags", "optional", "values", "other", "strict")),
        *((key, "asks = {") for key in ("named_values", "raise")),
        *((key, "a row of its own") for key in ("sub", "shared", "shortened")),
        ("profile", 'needs = "network"'),
        ("before", "write `adds`"),
        *((key, "runs = { script = true }") for key in ("script", "script_flags", "scripts_with")),
        ("runs_named", 'runs = { module = "-m" }'),
        ("runs_after", 'runs = { after = ["-exec"] }'),
        *((key, "delete it") for key in ("paths", "named_paths", "last", "instead", "plain")),
        *((key, "delete it") for key in ("operands", "beyond", "script_endings", "obeys_in")),
        *((key, "delete it") for key in ("free_with", "unseen", "replaces", "clusters", "letters")),
        *((key, "delete it") for key in ("leading", "looks_only", "loads", "runs_from", "writes")),
        *((key, "delete it") for key in ("options_first", "suffixes", "broad", "broad_on")),
        *((key, "delete it") for key in ("punctuated", "bundled", "after", "after_one", "binds")),
    ],
)
def test_a_key_of_the_older_form_is_refused_with_what_to_write_instead(
    key: str, instead: str
) -> None:
    message = refusal_of(f"{ROW}{EXAMPLES}{key} = ['x']")
    assert f"{key!r} is a key of the older form; " in message
    assert instead in message


def test_packs_are_refused_with_what_to_do() -> None:
    message = refusal_of("[policy]\npacks = ['node']")
    assert message.endswith("delete `packs`; the commands of all toolchains are known now")


# Files of operators and projects


def test_a_name_and_an_example_are_enough_and_such_a_command_is_high() -> None:
    rules = parse("[[command]]\nname = 'terraform'\nexamples = { 'terraform plan' = 'high' }")
    assert read_line(rules.command_list, ["terraform", "apply"]).findings == (
        Finding(
            "command.terraform", "terraform has no rule that describes its risk", RiskLevel.HIGH
        ),
    )


def test_an_example_may_be_of_a_command_beneath() -> None:
    text = """
[[command]]
name = "twice"
risk = "low"
text = "all"
runs = { operands = 0 }
examples = { "twice ls" = "low", "twice sudo ls" = "forbidden" }
"""
    rules = Rules.parse(text, source="mine.toml", layer=Layer.OPERATOR, beneath=default_rules())
    assert risk_of("twice rm a", default_rules().replaced_by(rules)) is RiskLevel.HIGH


def test_an_operators_row_takes_the_place_of_the_shipped_row() -> None:
    loose = parse(
        "[[command]]\nname = 'rm'\nrisk = 'medium'\nreason = 'is ours'\n"
        "examples = { 'rm a' = 'medium' }",
        Layer.OPERATOR,
    )
    rules = default_rules().replaced_by(loose)
    assert risk_of("rm a", rules) is RiskLevel.MEDIUM
    assert risk_of("rmdir a", rules) is RiskLevel.HIGH
    assert risk_of("shred a", rules) is RiskLevel.HIGH


PROJECT = """
[[command]]
name = "rm"
risk = "low"
examples = { "rm a" = "low" }

[[command]]
name = "ls"
risk = "high"
reason = "is slow here"
examples = { "ls" = "high" }

[[command]]
name = "git push"
risk = "forbidden"
reason = "is for people here"
examples = { "git push" = "forbidden" }

[[command]]
name = "mine"
risk = "low"
refuses = { "--burn" = "burns" }
examples = { "mine" = "low" }
"""


@pytest.mark.parametrize(
    ("line", "risk"),
    [
        pytest.param("rm a", RiskLevel.HIGH, id="lowers-nothing"),
        pytest.param("ls", RiskLevel.HIGH, id="raises"),
        pytest.param("git push", RiskLevel.FORBIDDEN, id="refuses-a-subcommand"),
        pytest.param("git status", RiskLevel.LOW, id="leaves-others"),
        pytest.param("mine", RiskLevel.HIGH, id="makes-nothing-known"),
        pytest.param("mine --burn", RiskLevel.FORBIDDEN, id="refuses-a-word"),
        pytest.param("timeout 5 git push", RiskLevel.FORBIDDEN, id="also-inside-another"),
    ],
)
def test_a_projects_row_only_adds_concerns(line: str, risk: RiskLevel) -> None:
    rules = default_rules().tightened_by(parse(PROJECT, Layer.PROJECT))
    assert risk_of(line, rules) is risk


@pytest.mark.parametrize(
    "row",
    ["runs = { operands = 0 }", "obeys = ['a']", "needs = 'network'", "adds = ['-a']"],
)
def test_a_project_does_not_say_what_runs_or_with_which_rights(row: str) -> None:
    message = refusal_of(f"{ROW}{EXAMPLES}{row}", Layer.PROJECT)
    assert message.endswith(f"{row.partition(' ')[0]} is for the operator's file; leave it out")
    parse(f"{ROW}{EXAMPLES}{row}", Layer.OPERATOR)


FURTHER = tomllib.loads((Path(__file__).parents[1] / "corpus" / "examples.toml").read_text())


@pytest.mark.parametrize(("line", "level"), FURTHER.items())
def test_further_examples_of_the_shipped_table(line: str, level: str) -> None:
    findings = read_line(default_rules().command_list, shlex.split(line)).findings
    assert worst(findings) is RiskLevel[level.upper()]


def test_the_shipped_table_stays_small() -> None:
    assert len(SHIPPED.read_bytes()) <= 26_600
