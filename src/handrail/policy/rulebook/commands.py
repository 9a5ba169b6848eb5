"""Command rules as rows of a policy file, held against the examples they carry."""

import re
import shlex
from collections.abc import Sequence
from typing import TypeVar, cast

from handrail.core.risk import Layer, RiskLevel, worst
from handrail.policy.rulebook.command import (
    CommandList,
    CommandRule,
    Raise,
    Text,
    replace_by_name,
)
from handrail.policy.rulebook.command_line import read_line
from handrail.policy.rulebook.row import RuleRow, rows_of

_KEYS = (
    *("name", "names", "risk", "reason", "flags", "values", "paths", "last", "instead"),
    *("runs", "runs_after", "raise", "text", "plain", "operands", "sub", "other", "clusters"),
    *("options_first", "writes", "broad", "broad_on"),
)
_UNKNOWN = "is on the list, but nothing more is known of it"

T = TypeVar("T")


def read_command_rules(
    rows: Sequence[RuleRow], beneath: Sequence[CommandRule] = ()
) -> tuple[CommandRule, ...]:
    """Every command of one file. Its examples are judged by this file laid over what is beneath."""
    rules = tuple(_read_rule(row, examples=_examples(row)) for row in rows)
    listed = CommandList(replace_by_name(beneath, rules))
    for rule, row in zip(rules, rows, strict=True):
        _hold_against_examples(rule, row, listed)
    return rules


def _read_rule(row: RuleRow, *, examples: tuple[tuple[str, RiskLevel], ...] | None) -> CommandRule:
    row.allow_keys(*_KEYS, *(() if examples is None else ("examples",)))
    if "plain" in row.values and row.layer is Layer.PROJECT:
        raise row.refuse("plain: a regular expression is for the operator's file; leave it out")
    names = row.texts("names", [] if "name" not in row.values else [row.text("name")])
    if not names:
        raise row.refuse("needs a 'name', or 'names'")
    risk = _risk(row, "risk", RiskLevel.HIGH)
    return CommandRule(
        names=frozenset(names),
        patterns=tuple(name for name in names if "*" in name),
        risk=risk,
        reason=_reason(row, risk),
        flags=frozenset(row.texts("flags", [])),
        values=frozenset(row.texts("values", [])),
        paths=frozenset(row.texts("paths", [])),
        last=frozenset(row.texts("last", [])),
        instead=frozenset(row.texts("instead", [])),
        runs_after=frozenset(row.texts("runs_after", [])),
        raises=tuple(map(_read_raise, rows_of(row.values, "raise", row.where, row.layer))),
        text=_text(row),
        plain=_pattern(row, "plain"),
        operands=_typed(row, "operands", int),
        runs=_typed(row, "runs", int),
        subs=tuple(
            _read_rule(sub, examples=None)
            for sub in rows_of(row.values, "sub", row.where, row.layer)
        ),
        other=_risk(row, "other", RiskLevel.HIGH),
        clusters=_typed(row, "clusters", bool) is not False,
        options_first=_typed(row, "options_first", bool) is True,
        writes=_typed(row, "writes", bool) is True,
        broad=_typed(row, "broad", bool) is True,
        broad_on=tuple(row.texts("broad_on", [])),
        examples=examples or (),
        layer=row.layer,
    )


def _read_raise(row: RuleRow) -> Raise:
    row.allow_keys("on", "to", "reason")
    return Raise(
        words=tuple(row.texts("on")),
        to=_level(row, row.text("to")),
        reason=row.text("reason"),
    )


def _examples(row: RuleRow) -> tuple[tuple[str, RiskLevel], ...]:
    table = cast(dict[str, object] | None, _typed(row, "examples", dict))
    if not table:
        raise row.refuse("needs `examples`, such as { 'tool --flag' = 'high' }")
    return tuple((line, _level(row, level)) for line, level in table.items())


def _hold_against_examples(rule: CommandRule, row: RuleRow, listed: CommandList) -> None:
    for line, expected in rule.examples:
        try:
            argv = shlex.split(line)
        except ValueError as error:
            raise row.refuse(f"example {line!r}: {error}") from error
        if not argv or not rule.covers(argv[0].rpartition("/")[2]):
            raise row.refuse(f"example {line!r} is not one of this command")
        found = worst(read_line(listed, argv).findings)
        if found is not expected:
            raise row.refuse(
                f"says that {line!r} is {expected.name.lower()}, but it is {found.name.lower()}"
            )


def _reason(row: RuleRow, risk: RiskLevel) -> str:
    if "reason" in row.values or risk not in (RiskLevel.LOW, RiskLevel.HIGH):
        return row.text("reason")
    return _UNKNOWN


def _risk(row: RuleRow, key: str, default: RiskLevel) -> RiskLevel:
    return _level(row, row.text(key)) if key in row.values else default


def _level(row: RuleRow, name: object) -> RiskLevel:
    levels = {level.name.lower(): level for level in RiskLevel}
    if name not in levels:
        raise row.refuse(f"{name!r} is no risk; there are {', '.join(levels)}")
    return levels[cast(str, name)]


def _text(row: RuleRow) -> Text:
    try:
        return Text(row.text("text")) if "text" in row.values else Text.NONE
    except ValueError as error:
        raise row.refuse(error) from error


def _pattern(row: RuleRow, key: str) -> re.Pattern[str] | None:
    try:
        return re.compile(row.text(key), re.DOTALL) if key in row.values else None
    except re.error as error:
        raise row.refuse(f"{key} is no regular expression: {error}") from error


def _typed(row: RuleRow, key: str, kind: type[T]) -> T | None:
    value: object = row.values.get(key)
    if value is not None and type(value) is not kind:
        raise row.refuse(f"{key} is of the wrong type, not {kind.__name__}")
    return cast(T | None, value)
