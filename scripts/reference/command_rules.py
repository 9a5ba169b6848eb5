"""The part of the risk matrix about commands."""

import shlex
from collections.abc import Iterable, Iterator

from handrail.core.box import Profile
from handrail.core.risk import RiskLevel
from handrail.policy.rulebook.command import CommandRule, Raise
from handrail.policy.rulebook.rules import Rules, default_rules
from handrail.policy.rulebook.settings import PACKS
from scripts.reference.page import code, codes, lines, table

_SECTIONS = {
    RiskLevel.LOW: (
        "Commands that only look",
        "They pass by themselves and run in the box `read`, where nothing can be written, no "
        "program started and no network reached. An argument that would want more raises them.",
    ),
    RiskLevel.MEDIUM: (
        "Commands that change the workspace, or run its code",
        "They run in the box `write`, which has no network, unless it is said that they have it.",
    ),
    RiskLevel.HIGH: ("Commands that do much at once", ""),
}
_MOST_EXAMPLES = 2


def command_sections(rules: Rules) -> Iterator[str]:
    yield "## Commands"
    yield (
        "A command that is not listed here is refused (`command.unlisted`); the operator may say "
        '`unlisted = "ask"` instead. There is no shell: a command is a name and its words. Every '
        "word that may name a file is confined to the workspace, whatever the command. The rule "
        "is named after the command, `command.ls`; what is refused, is so by `command.forbidden`. "
        "*No class* says that its name tells too little: a person may let such a call pass once, "
        "or all of a session, but not calls of its kind."
    )
    for risk, (title, words) in _SECTIONS.items():
        yield f"### {title}"
        yield words
        yield _command_table(rule for rule in rules.commands if rule.risk is risk)
    yield "### Commands that are refused, however they are spelled"
    yield table(
        ("commands", "each of them"),
        (
            (_names(rule), rule.reason)
            for rule in rules.commands
            if rule.risk is RiskLevel.FORBIDDEN
        ),
    )
    yield "### Commands of toolchains"
    yield (
        "These are refused like any other that is not listed, until the operator's file says "
        '`packs = ["rust"]` under `[policy]`.'
    )
    yield table(
        ("pack", *(risk.name for risk in _SECTIONS)),
        ((code(pack), *(_pack_names(rules, pack, risk) for risk in _SECTIONS)) for pack in PACKS),
    )


def _pack_names(shipped: Rules, pack: str, risk: RiskLevel) -> str:
    added = default_rules((pack,)).commands[len(shipped.commands) :]
    return codes(sorted(name for rule in added if rule.risk is risk for name in rule.names))


def _command_table(rules: Iterable[CommandRule]) -> str:
    return table(
        ("command", "risk", "it", "becomes", "for example"),
        (row for rule in rules for row in _rows(rule)),
    )


def _rows(rule: CommandRule) -> Iterator[tuple[str, ...]]:
    subs = frozenset(name for sub in rule.subs for name in sub.names)
    yield _row(rule, _names(rule), [one for one in rule.examples if _second(one[0]) not in subs])
    for sub in rule.subs:
        examples = [one for one in rule.examples if _second(one[0]) in sub.names]
        yield _row(sub, f"{_names(rule)} with {_names(sub)}", examples)
        for inner in sub.subs:
            yield _row(inner, f"{_names(rule)} {_names(sub)} with {_names(inner)}", [])


def _row(rule: CommandRule, title: str, examples: list[tuple[str, RiskLevel]]) -> tuple[str, ...]:
    return (
        title,
        rule.risk.name,
        "" if rule.risk is RiskLevel.LOW else rule.reason,
        lines([*map(_raised, rule.raises), _otherwise(rule), *_further(rule)]),
        lines(f"{code(line)} {risk.name}" for line, risk in _telling(examples)),
    )


def _raised(rule: Raise) -> str:
    beside = f" beside {codes(sorted(rule.beside))}" if rule.beside else ""
    return f"{_emphatic(rule.to)} with {codes(rule.words)}{beside}: {rule.reason}"


def _otherwise(rule: CommandRule) -> str:
    """What becomes of words that nobody has listed, where that matters."""
    if rule.risk is RiskLevel.FORBIDDEN or not rule.is_strict or "*" in rule.flags:
        return ""
    words = ["an unknown flag"]
    if rule.subs:
        words.append("an unknown subcommand")
    if rule.operands is not None:
        words.append("a second file" if rule.operands == 1 else f"over {rule.operands} files")
    if rule.plain is not None:
        words.append("a text that may do more")
    return f"{_emphatic(rule.other)} with {' or '.join(words)}"


def _further(rule: CommandRule) -> Iterator[str]:
    if rule.profile is Profile.NET:
        yield "has the network"
    if added := (*rule.before, *rule.after):
        yield f"Handrail adds {codes(added)}"
    if rule.runs is not None or rule.runs_after:
        yield "at least what the command is that it runs"
    if rule.writes:
        yield "where it writes, at least what writing that kind of file is"
    if rule.risk > RiskLevel.MEDIUM:
        return
    if rule.broad or rule.runs is not None:
        yield "*no class*"
    elif rule.broad_on:
        yield f"*no class* with {codes(rule.broad_on)}"


def _emphatic(risk: RiskLevel) -> str:
    return "**refused**" if risk is RiskLevel.FORBIDDEN else risk.name


def _telling(examples: list[tuple[str, RiskLevel]]) -> list[tuple[str, RiskLevel]]:
    """A few examples, each with another outcome, if there are such."""
    first: dict[RiskLevel, tuple[str, RiskLevel]] = {}
    for example in examples:
        first.setdefault(example[1], example)
    return sorted(first.values(), key=lambda example: example[1])[:_MOST_EXAMPLES]


def _second(line: str) -> str:
    _, *words = shlex.split(line)
    return next((word for word in words if not word.startswith("-")), "")


def _names(rule: CommandRule) -> str:
    return codes(sorted(rule.names))
