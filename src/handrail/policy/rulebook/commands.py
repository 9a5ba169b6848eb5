"""Rows of the command table, read from a policy file and checked against their examples."""

import shlex
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import TypeVar, cast

from handrail.core.risk import Layer, RiskLevel, worst
from handrail.policy.rulebook.command import (
    CommandList,
    CommandRule,
    Need,
    Runs,
    Text,
    WordReasons,
    replace_by_name,
)
from handrail.policy.rulebook.command_line import read_line
from handrail.policy.rulebook.row import RuleRow

_KEYS = (
    *("name", "names", "risk", "reason", "asks", "refuses", "text", "runs", "obeys", "needs"),
    *("adds", "examples"),
)
# These decide what runs, or with which rights, so a project's file may not contain them.
_NOT_FOR_PROJECTS = ("runs", "obeys", "needs", "adds")
_RUNS_KEYS = ("operands", "values", "after", "module", "script")
_UNKNOWN = "has no rule that describes its risk"

_ASKS = 'write `asks = { "-o --output" = "writes a file" }`; every other flag is harmless'
_SUB = 'write a row of its own, with both words in the name: `name = "git log"`'
_DROP = "delete it: Handrail rehearses a command to learn what it changes"
# Keys of the older form of this table, and what takes their place.
_OLD_KEYS = {
    **dict.fromkeys(("flags", "optional", "values", "named_values", "other", "strict"), _ASKS),
    "raise": "write `asks = { ... }` for words that make it HIGH, `refuses = { ... }` to forbid",
    **dict.fromkeys(("sub", "shared", "shortened"), _SUB),
    "profile": 'write `needs = "network"` where it needs one, else delete it',
    "before": "write `adds`",
    **dict.fromkeys(("script", "script_flags", "scripts_with"), "write `runs = { script = true }`"),
    "runs_named": 'write `runs = { module = "-m" }`',
    "runs_after": 'write `runs = { after = ["-exec"] }`',
    **dict.fromkeys(
        (
            *("paths", "named_paths", "last", "instead", "plain", "operands", "beyond"),
            *("script_endings", "obeys_in", "free_with", "unseen", "replaces", "clusters"),
            *("letters", "leading", "looks_only", "loads", "runs_from", "options_first", "writes"),
            *("suffixes", "broad", "broad_on", "punctuated", "bundled", "after", "after_one"),
            "binds",
        ),
        _DROP,
    ),
}

E = TypeVar("E", bound=StrEnum)


def read_command_rules(
    rows: Sequence[RuleRow], beneath: Sequence[CommandRule] = ()
) -> tuple[CommandRule, ...]:
    """Every command of one file. Its examples are judged by this file laid over what is beneath."""
    rules = tuple(map(_read_rule, rows))
    _refuse_duplicates(rules, rows)
    listed = CommandList(replace_by_name(beneath, rules))
    for rule, row in zip(rules, rows, strict=True):
        _check_examples(rule, row, listed)
    return rules


def _refuse_duplicates(rules: Sequence[CommandRule], rows: Sequence[RuleRow]) -> None:
    taken: set[str] = set()
    for rule, row in zip(rules, rows, strict=True):
        if doubles := sorted(rule.names & taken):
            raise row.refuse(f"{doubles[0]} has a [[command]] in this file already; make them one")
        taken |= rule.names


def _read_rule(row: RuleRow) -> CommandRule:
    _check_keys(row)
    # A project's row without a risk only adds what its words say.
    default = RiskLevel.LOW if row.layer is Layer.PROJECT else RiskLevel.HIGH
    risk = _level(row, row.text("risk")) if "risk" in row.values else default
    needs_reason = risk not in (RiskLevel.LOW, RiskLevel.HIGH)
    return CommandRule(
        names=_names(row),
        risk=risk,
        reason=row.text("reason") if needs_reason or "reason" in row.values else _UNKNOWN,
        asks=_word_reasons(row, "asks"),
        refuses=_word_reasons(row, "refuses"),
        text=_one_of(Text, row, "text") or Text.NONE,
        runs=_runs(row),
        obeys=tuple(row.texts("obeys", [])),
        need=_one_of(Need, row, "needs"),
        adds=tuple(row.texts("adds", [])),
        examples=_examples(row),
        layer=row.layer,
    )


def _check_keys(row: RuleRow) -> None:
    for key in row.values:
        if key not in _KEYS and key in _OLD_KEYS:
            raise row.refuse(f"{key!r} is a key of the older form; {_OLD_KEYS[key]}")
        if key in _NOT_FOR_PROJECTS and row.layer is Layer.PROJECT:
            raise row.refuse(f"{key} is for the operator's file; leave it out")
    row.allow_keys(*_KEYS)


def _names(row: RuleRow) -> frozenset[str]:
    names = row.texts("names", [row.text("name")] if "name" in row.values else [])
    if not names:
        raise row.refuse("needs a 'name', or 'names'")
    for name in names:
        if name != " ".join(name.split()) or not 1 <= len(name.split()) <= 3:
            raise row.refuse(f"{name!r} is not a command with at most two words after it")
    return frozenset(names)


def _word_reasons(row: RuleRow, key: str) -> WordReasons:
    reasons = _table(row, key)
    if not all(isinstance(why, str) for why in reasons.values()):
        raise row.refuse(f'{key} is a table such as {{ "-o --output" = "writes a file" }}')
    return WordReasons(cast(Mapping[str, str], reasons))


def _runs(row: RuleRow) -> Runs | None:
    if "runs" not in row.values:
        return None
    told = RuleRow(row.source, f"{row.section}.runs", _table(row, "runs"), row.layer)
    told.allow_keys(*_RUNS_KEYS)
    operands = told.values.get("operands")
    if operands is not None and (type(operands) is not int or operands < 0):
        raise row.refuse("runs.operands is a number of words")
    return Runs(
        operands=operands,
        values=frozenset(told.texts("values", [])),
        after=frozenset(told.texts("after", [])),
        module=told.text("module") if "module" in told.values else "",
        script=told.values.get("script") is True,
    )


def _examples(row: RuleRow) -> tuple[tuple[str, RiskLevel], ...]:
    table = _table(row, "examples")
    if not table:
        raise row.refuse("needs `examples`, such as { 'tool --flag' = 'high' }")
    return tuple((line, _level(row, level)) for line, level in table.items())


def _check_examples(rule: CommandRule, row: RuleRow, listed: CommandList) -> None:
    for line, expected in rule.examples:
        try:
            argv = shlex.split(line)
        except ValueError as error:
            raise row.refuse(f"example {line!r}: {error}") from error
        if not argv or not _is_of(argv[0].rpartition("/")[2], rule):
            raise row.refuse(f"example {line!r} is not one of this command")
        findings = read_line(listed, argv).findings
        found = worst(findings)
        if found is not expected:
            why = next((f": {one.reason}" for one in findings if one.risk is found), "")
            told = f"says that {line!r} is {expected.name.lower()}, but it is {found.name.lower()}"
            raise row.refuse(f"{told}{why}")


def _is_of(name: str, rule: CommandRule) -> bool:
    match = CommandList((rule,)).table.find(name, ())
    firsts = {one.partition(" ")[0] for one in rule.names}
    return match is not None or name in firsts


def _table(row: RuleRow, key: str) -> Mapping[str, object]:
    value: object = row.values.get(key, {})
    if not isinstance(value, dict):
        raise row.refuse(f"{key} is a table, such as {{ ... = ... }}")
    return cast(Mapping[str, object], value)


def _level(row: RuleRow, name: object) -> RiskLevel:
    levels = {level.name.lower(): level for level in RiskLevel}
    if name not in levels:
        raise row.refuse(f"{name!r} is not a risk; there are {', '.join(levels)}")
    return levels[cast(str, name)]


def _one_of(kind: type[E], row: RuleRow, key: str) -> E | None:
    if key not in row.values:
        return None
    try:
        return kind(row.text(key))
    except ValueError:
        choices = ", ".join(kind)
        raise row.refuse(f"{key} is one of {choices}, not {row.values[key]!r}") from None
