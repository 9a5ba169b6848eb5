"""Command rules as rows of a policy file, held against the examples they carry."""

import re
import shlex
from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar, cast

from handrail.core.box import Profile
from handrail.core.risk import Layer, RiskLevel, worst
from handrail.policy.rulebook.command import (
    CommandList,
    CommandRule,
    Raise,
    Text,
    replace_by_name,
)
from handrail.policy.rulebook.command_line import read_line
from handrail.policy.rulebook.reading import Reading
from handrail.policy.rulebook.row import RuleRow

_KEYS = (
    *("name", "names", "risk", "reason", "raise", "flags", "optional", "values", "paths"),
    *("named_values", "named_paths", "last", "text", "instead", "plain", "operands", "beyond"),
    *("script", "script_flags", "script_endings", "obeys", "obeys_in", "free_with", "runs"),
    *("unseen", "runs_after", "replaces", "runs_named", "sub", "other", "strict", "clusters"),
    *("letters", "leading", "shortened", "shared", "scripts_with", "looks_only", "loads"),
    *(
        "runs_from",
        "options_first",
        "writes",
        "suffixes",
        "broad",
        "punctuated",
        "bundled",
        "broad_on",
        "profile",
    ),
    *("before", "after", "after_one"),
)
# What decides what really runs, or for how long we think about it, is no stranger's to say.
_NOT_FOR_PROJECTS = (
    *("plain", "profile", "before", "after", "after_one", "script", "script_flags", "obeys"),
    *("script_endings", "obeys_in", "runs", "runs_after", "runs_named", "unseen", "replaces"),
    *("scripts_with", "looks_only", "loads", "runs_from"),
)
_HANDS_ITS_WORDS_ON = ("runs", "runs_after", "runs_named", "last", "options_first")
_UNKNOWN = "is allowed, but no rule describes its risk"

T = TypeVar("T")


def read_command_rules(
    rows: Sequence[RuleRow], beneath: Sequence[CommandRule] = ()
) -> tuple[CommandRule, ...]:
    """Every command of one file. Its examples are judged by this file laid over what is beneath."""
    rules = tuple(map(_read_with_examples, rows))
    _refuse_doubles(rules, rows)
    listed = CommandList(replace_by_name(beneath, rules))
    for rule, row in zip(rules, rows, strict=True):
        _hold_against_examples(rule, row, listed)
    return rules


def _refuse_doubles(rules: Sequence[CommandRule], rows: Sequence[RuleRow]) -> None:
    """Which of two rows would count is not to be guessed."""
    taken: set[str] = set()
    for rule, row in zip(rules, rows, strict=True):
        if doubles := sorted(rule.names & taken):
            raise row.refuse(f"{doubles[0]} has a [[command]] in this file already; make them one")
        taken |= rule.names


def _read_with_examples(row: RuleRow) -> CommandRule:
    examples, binds = _examples(row), _bound_examples(row)
    return replace(_read_rule(row, "examples", "binds"), examples=examples, binds=binds)


def _read_rule(row: RuleRow, *further: str) -> CommandRule:
    _refuse_what_is_out_of_place(row, further)
    names, risk = _names(row), _risk(row, "risk", RiskLevel.HIGH)
    return CommandRule(
        names=frozenset(names),
        patterns=tuple(name for name in names if "*" in name),
        risk=risk,
        reason=_reason(row, risk),
        flags=_words(row, "flags"),
        optional=_words(row, "optional"),
        values=_words(row, "values"),
        paths=_words(row, "paths"),
        named_values=_words(row, "named_values"),
        named_paths=_words(row, "named_paths"),
        last=_words(row, "last"),
        instead=_words(row, "instead"),
        runs_after=_words(row, "runs_after"),
        runs_named=_words(row, "runs_named"),
        raises=tuple(map(_read_raise, row.rows("raise"))),
        text=_text(row),
        script=_typed(row, "script", bool) is True,
        script_flags=_words(row, "script_flags"),
        scripts_with=_words(row, "scripts_with"),
        runs_from=tuple(row.texts("runs_from", [])),
        script_endings=tuple(row.texts("script_endings", [])),
        obeys=tuple(row.texts("obeys", [])),
        obeys_in=_words(row, "obeys_in"),
        plain=_pattern(row, "plain"),
        operands=_typed(row, "operands", int),
        beyond=row.text("beyond") if "beyond" in row.values else "",
        free_with=_words(row, "free_with"),
        runs=_typed(row, "runs", int),
        unseen=_typed(row, "unseen", bool) is True,
        replaces=_words(row, "replaces"),
        subs=_subs(row),
        other=_risk(row, "other", RiskLevel.HIGH),
        strict=_typed(row, "strict", bool) is True,
        clusters=_typed(row, "clusters", bool) is not False,
        letters=row.text("letters") if "letters" in row.values else "",
        leading=_words(row, "leading") if "leading" in row.values else None,
        shortened=_typed(row, "shortened", bool) is True,
        punctuated=_typed(row, "punctuated", bool) is True,
        bundled=_typed(row, "bundled", bool) is True,
        options_first=_typed(row, "options_first", bool) is True,
        writes=_typed(row, "writes", bool) is True,
        suffixes=_words(row, "suffixes"),
        looks_only=_looks_only(row),
        loads=_typed(row, "loads", bool) is not False,
        broad=_typed(row, "broad", bool) is True,
        broad_on=tuple(row.texts("broad_on", [])),
        profile=_profile(row, risk),
        before=tuple(row.texts("before", [])),
        after=tuple(row.texts("after", [])),
        after_one=tuple(row.texts("after_one", [])),
        layer=row.layer,
    )


def _looks_only(row: RuleRow) -> bool:
    told = _typed(row, "looks_only", bool) is True
    raises = row.rows("raise")
    is_refused = any(one.values.get("to") == "forbidden" for one in raises)
    does_more = is_refused or not {"writes", "operands", "plain"}.isdisjoint(row.values)
    if told and (does_more or row.values.get("risk") != "low"):
        raise row.refuse("looks_only is for what is low, writes nothing and is never refused")
    return told


def _names(row: RuleRow) -> list[str]:
    names = row.texts("names", [] if "name" not in row.values else [row.text("name")])
    if not names:
        raise row.refuse("needs a 'name', or 'names'")
    return names


def _subs(row: RuleRow) -> tuple[CommandRule, ...]:
    found = row.rows("sub")
    letters, loads = row.values.get("letters", ""), row.values.get("loads", True)
    subs = (replace(_read_rule(sub), letters=letters, loads=loads) for sub in found)
    is_shared = _typed(row, "shared", bool) is True
    return tuple(_with_flags_of(row, sub) if is_shared else sub for sub in subs)


def _with_flags_of(row: RuleRow, sub: CommandRule) -> CommandRule:
    """A subcommand that knows what its command knows; one with flags of its own keeps to those."""
    raises = map(_read_raise, row.rows("raise"))
    sub = replace(
        sub,
        raises=(*sub.raises, *raises),
        broad_on=(*sub.broad_on, *row.texts("broad_on", [])),
    )
    if sub.flags:
        return sub
    return replace(
        sub,
        flags=_words(row, "flags"),
        optional=sub.optional | _words(row, "optional"),
        values=sub.values | _words(row, "values"),
        paths=sub.paths | _words(row, "paths"),
        obeys_in=sub.obeys_in | _words(row, "obeys_in"),
    )


def _refuse_what_is_out_of_place(row: RuleRow, further: Sequence[str]) -> None:
    for key in {"examples", "binds"}.intersection(row.values).difference(further):
        raise row.refuse(f"{key} stand with the command itself, in its [[command]]")
    row.allow_keys(*_KEYS, *further)
    for key in _NOT_FOR_PROJECTS:
        if key in row.values and row.layer is Layer.PROJECT:
            raise row.refuse(f"{key} is for the operator's file; leave it out")
    for key in _HANDS_ITS_WORDS_ON:
        if key in row.values and "after" in row.values:
            raise row.refuse(f"with {key}, words at the end are another program's; use `before`")


def _read_raise(row: RuleRow) -> Raise:
    row.allow_keys("on", "to", "reason", "beside")
    return Raise(
        words=tuple(row.texts("on")),
        to=_level(row, row.text("to")),
        reason=row.text("reason"),
        beside=_words(row, "beside"),
    )


def _examples(row: RuleRow) -> tuple[tuple[str, RiskLevel], ...]:
    table = cast(dict[str, object] | None, _typed(row, "examples", dict))
    if not table:
        raise row.refuse("needs `examples`, such as { 'tool --flag' = 'high' }")
    return tuple((line, _level(row, level)) for line, level in table.items())


def _bound_examples(row: RuleRow) -> tuple[tuple[str, tuple[str, ...]], ...]:
    table = cast(dict[str, object], _typed(row, "binds", dict) or {})
    lines = RuleRow(row.source, row.section, {**row.values, **table}, row.layer)
    return tuple((line, tuple(lines.texts(line))) for line in table)


def _hold_against_examples(rule: CommandRule, row: RuleRow, listed: CommandList) -> None:
    for line, expected in rule.examples:
        findings = _read_example(line, rule, row, listed).findings
        found = worst(findings)
        if found is not expected:
            why = next((f": {one.reason}" for one in findings if one.risk is found), "")
            told = f"says that {line!r} is {expected.name.lower()}, but it is {found.name.lower()}"
            raise row.refuse(f"{told}{why}")
    if rule.binds_files and not rule.binds:
        raise row.refuse("needs `binds`, such as { 'tool x.py' = ['x.py'] }")
    for line, files in rule.binds:
        bound = _read_example(line, rule, row, listed).scripts
        if bound != files:
            raise row.refuse(f"says that {line!r} runs {[*files]}, but it is {[*bound]}")


def _read_example(line: str, rule: CommandRule, row: RuleRow, listed: CommandList) -> Reading:
    try:
        argv = shlex.split(line)
    except ValueError as error:
        raise row.refuse(f"example {line!r}: {error}") from error
    if not argv or not rule.covers(argv[0].rpartition("/")[2]):
        raise row.refuse(f"example {line!r} is not one of this command")
    return read_line(listed, argv)


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


def _profile(row: RuleRow, risk: RiskLevel) -> Profile | None:
    """Said of what is low, another box would be looser; said of all else, `read` would be a lie."""
    if "profile" not in row.values:
        return None
    fitting = [Profile.READ] if risk is RiskLevel.LOW else [Profile.WRITE, Profile.NET]
    told = row.text("profile")
    if told not in fitting:
        choices = " or ".join(fitting)
        raise row.refuse(f"what is {risk.name.lower()} has the profile {choices}, not {told!r}")
    return Profile(told)


def _words(row: RuleRow, key: str) -> frozenset[str]:
    return frozenset(row.texts(key, []))


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
