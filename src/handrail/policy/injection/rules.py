"""Rules as data: what orders to an assistant look like, and the examples that prove each rule.

A pattern is tried only where one of the rule's `near` words stands, or some words earlier, so that
most of a text is never looked at closely. In patterns a blank stands for white space (` ?` for some
or none), and `{name}` for an entry of `[words]`.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, cast

from handrail.core.errors import RuleError

SHIPPED = ("injection.toml", "injection_orders.toml", "injection_languages.toml")

_KNOWN = {
    *("name", "reason", "weight", "near", "back", "first", "line", "patterns", "on", "imperative"),
    *("hit", "miss"),
}
_BLANK = re.compile(r" \??(?!\{)")
_NEEDED = {"name", "reason", "weight", "near", "patterns", "hit"}


@dataclass(frozen=True, slots=True, eq=False)
class InjectionRule:
    """`on` is `words` (markup blanked) or `marks` (as it stands).

    Its pattern begins at a word of `near`, up to `back` words earlier, or where that `line` begins;
    if `first` names words, with one of them.
    An `imperative` rule weighs less where its words are reported rather than said.
    """

    name: str
    reason: str
    weight: float
    near: tuple[str, ...]
    pattern: re.Pattern[str]
    back: int = 0
    first: frozenset[str] = frozenset()
    line: bool = False
    on_marks: bool = False
    imperative: bool = False
    hit: tuple[str, ...] = ()
    miss: tuple[str, ...] = ()


def parse_rules(text: str, source: str) -> tuple[InjectionRule, ...]:
    """Read a file of rules.

    Raises:
        RuleError: It cannot be read, or says what nobody knows.
    """
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise RuleError(f"{source} cannot be read: {error}") from error
    words = cast(Mapping[str, str], document.get("words", {}))
    rows = cast(list[Mapping[str, Any]], document.get("rule", []))
    return tuple(_read_rule(row, words, source) for row in rows)


@cache
def shipped_rules() -> tuple[InjectionRule, ...]:
    """The rules that Handrail ships."""
    return tuple(_shipped())


def _shipped() -> Iterator[InjectionRule]:
    folder = files("handrail.policy.injection") / "defaults"
    for name in SHIPPED:
        yield from parse_rules((folder / name).read_text(encoding="utf-8"), name)


def _read_rule(row: Mapping[str, Any], words: Mapping[str, str], source: str) -> InjectionRule:
    name = str(row.get("name", "a rule without a name"))
    if unknown := sorted(row.keys() - _KNOWN):
        raise RuleError(f"{source}: {name} says {unknown[0]!r}, which no rule knows")
    if missing := sorted(_NEEDED - row.keys()):
        raise RuleError(f"{source}: {name} needs {missing[0]!r}")
    on = row.get("on", "words")
    if on not in {"words", "marks"}:
        raise RuleError(f"{source}: {name} is on {on!r}; choose words or marks")
    patterns = [_expand(pattern, words, f"{source}: {name}") for pattern in row["patterns"]]
    try:
        pattern = re.compile("|".join(f"(?:{one})" for one in patterns))
    except re.error as error:
        raise RuleError(f"{source}: a pattern of {name} cannot be read: {error}") from error
    return InjectionRule(
        name=name,
        reason=row["reason"],
        weight=float(row["weight"]),
        near=tuple(row["near"]),
        pattern=pattern,
        back=int(row.get("back", 0)),
        first=frozenset(row.get("first", ())),
        line=bool(row.get("line", False)),
        on_marks=on == "marks",
        imperative=bool(row.get("imperative", False)),
        hit=tuple(row["hit"]),
        miss=tuple(row.get("miss", ())),
    )


def _expand(pattern: str, words: Mapping[str, str], where: str) -> str:
    """A pattern with its words filled in, twice because words may use words."""
    for _ in range(3):
        for name, value in words.items():
            pattern = pattern.replace("{" + name + "}", value)
    if unknown := re.search(r"\{([a-z_]+)\}", pattern):
        raise RuleError(f"{where} uses {unknown[0]}, which [words] does not have")
    return _BLANK.sub(lambda match: r"\s*" if match.group() == " ?" else r"\s+", pattern)
