"""The part of the risk matrix about commands."""

import shlex
from collections.abc import Iterator

from handrail.core.box import Profile
from handrail.core.risk import RiskLevel
from handrail.policy.rulebook.command import CommandRule, Raise
from handrail.policy.rulebook.rules import Rules, default_rules
from handrail.policy.rulebook.settings import PACKS
from handrail.tools.catalogue import judge
from scripts.reference.page import code, codes, lines, table

_SECTIONS = {
    RiskLevel.LOW: (
        "Commands that only look",
        "They pass by themselves and run in the box `read`, where nothing can be written, no "
        "program started and no network reached. A word that would want more raises them, as "
        "*becomes* says, and then they ask or are refused; subcommands that do more stand in the "
        "tables below.",
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
        "or all of a session, but not calls of its kind. What the card may offer there is the "
        "very same words again (``exactly `python3 x.py` ``), where nothing but these words and "
        "files whose content is bound decides which code runs. `{...}` stands for words that "
        "nobody has seen, such as those that `xargs` hands on."
    )
    yield (
        "What a row says holds for the command's own words. A word that names a file is held "
        "against the rules for paths as well: `git worktree add wt` is MEDIUM, and "
        "`git worktree add ../x`, which leads out of the workspace, is refused."
    )
    rows = [row for rule in rules.commands for row in _rows(rule)]
    for risk, (title, words) in _SECTIONS.items():
        yield f"### {title}"
        yield words
        yield table(
            ("command", "risk", "it", "becomes", "for example"),
            (cells for own, cells in rows if own in _levels(risk)),
        )
    yield "### Commands that are refused, however they are spelled"
    yield (
        "Words of the shell itself, such as `source` and `export`, are refused as commands, since "
        "no shell reads those. A line of `run_bash` may have them: it is none of the plain ones, "
        "and asks (`bash.not-plain`). The others are refused there too, wherever they can be seen."
    )
    yield table(
        ("commands", "each of them"),
        ((cells[0], cells[2]) for own, cells in rows if own is RiskLevel.FORBIDDEN),
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


def _levels(section: RiskLevel) -> tuple[RiskLevel, ...]:
    return (section, RiskLevel.CRITICAL) if section is RiskLevel.HIGH else (section,)


def _rows(rule: CommandRule) -> Iterator[tuple[RiskLevel, tuple[str, ...]]]:
    """A command and its subcommands, each with the risk by which it finds its table."""
    subs = frozenset(name for sub in rule.subs for name in sub.names)
    yield (
        rule.risk,
        _row(rule, _names(rule), [one for one in rule.examples if _second(one[0]) not in subs]),
    )
    for sub in rule.subs:
        examples = [one for one in rule.examples if _second(one[0]) in sub.names]
        yield sub.risk, _row(sub, f"{_names(rule)} with {_names(sub)}", examples)
        for inner in sub.subs:
            yield inner.risk, _row(inner, f"{_names(rule)} {_names(sub)} with {_names(inner)}", [])


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
        words.append(_beyond(rule.operands))
    if rule.plain is not None:
        words.append("a text that may do more")
    return f"{_emphatic(rule.other)} with {' or '.join(words)}"


def _beyond(operands: int) -> str:
    if operands < 2:
        return f"{'a second' if operands else 'a'} word that is no flag"
    return f"more than {operands} words that are no flags"


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
        if _is_so(*example):
            first.setdefault(example[1], example)
    return sorted(first.values(), key=lambda example: example[1])[:_MOST_EXAMPLES]


def _is_so(line: str, risk: RiskLevel) -> bool:
    """Whether all rules together say the same: of files it names, others may say more."""
    command, *args = shlex.split(line)
    params = {"command": command, "args": args}
    return judge("execute_command", params, workspace="/workspace", isolated=True).risk is risk


def _second(line: str) -> str:
    _, *words = shlex.split(line)
    return next((word for word in words if not word.startswith("-")), "")


def _names(rule: CommandRule) -> str:
    return codes(sorted(rule.names))
