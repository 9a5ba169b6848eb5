"""The part of the risk matrix about commands."""

import shlex
from collections.abc import Iterator

from handrail.core.risk import RiskLevel
from handrail.policy.rulebook.command import CommandRule, Need, WordReasons
from handrail.policy.rulebook.rules import Rules
from handrail.tools.catalogue import judge
from scripts.reference.page import code, codes, lines, table

_SECTIONS = {
    RiskLevel.LOW: (
        "Readers",
        "They run unasked in the read box, where nothing can be written, no process started and no "
        "network reached. A word in the column *asks on* makes a call HIGH.",
    ),
    RiskLevel.MEDIUM: (
        "Development commands",
        "MEDIUM where a person is asked before they run. They run in the write box, without a "
        "network unless the table says so.",
    ),
    RiskLevel.HIGH: (
        "Commands that do much at once",
        "HIGH where a person is asked before they run, as is every command without a row.",
    ),
}
_NEEDS = {
    Need.NETWORK: "needs the network",
    Need.ACCOUNT: "needs the network, and is signed in as you",
    Need.RUNNING: "keeps running",
}
_MOST_EXAMPLES = 2


def command_sections(rules: Rules) -> Iterator[str]:
    yield "## Commands"
    yield (
        "The command table chooses by the name of a command and a few of its words; the kernel "
        "holds what the box allows. A command without a row is HIGH (`command.unlisted`), or "
        'refused where the operator\'s file says `unlisted = "refuse"`. A protected file among the '
        "words is refused by the rules for paths; a path outside the workspace makes a call HIGH "
        "(`command.outside`), and the box shows little of what lies there. The rule is named after "
        "the command, `command.ls`; refusals are `command.forbidden`."
    )
    rows = [(rule.risk, _row(rule)) for rule in rules.commands]
    for risk, (title, words) in _SECTIONS.items():
        yield f"### {title}"
        yield words
        yield table(
            ("command", "it", "asks on", "refused with", "for example"),
            (cells for own, cells in rows if own in _levels(risk)),
        )
    yield "### Refused commands"
    yield "They never run, by whichever path or spelling they are called."
    yield table(
        ("commands", "each of them"),
        ((cells[0], cells[1]) for own, cells in rows if own is RiskLevel.FORBIDDEN),
    )


def _levels(section: RiskLevel) -> tuple[RiskLevel, ...]:
    return (section, RiskLevel.CRITICAL) if section is RiskLevel.HIGH else (section,)


def _row(rule: CommandRule) -> tuple[str, ...]:
    return (
        codes(sorted(rule.names)),
        lines(_about(rule)),
        lines(_reasons(rule.asks)),
        lines(_reasons(rule.refuses)),
        lines(f"{code(line)} {risk.name}" for line, risk in _telling(rule)),
    )


def _about(rule: CommandRule) -> Iterator[str]:
    if rule.risk is not RiskLevel.LOW:
        yield rule.reason
    if rule.need is not None:
        yield _NEEDS[rule.need]
    if rule.runs is not None:
        yield "at least the risk of the command it starts"
    if rule.adds:
        yield f"Handrail adds {codes(rule.adds)}"


def _reasons(words: WordReasons) -> Iterator[str]:
    for listed, reason in words.reasons.items():
        yield f"{codes(listed.split())}: {reason}"


def _telling(rule: CommandRule) -> list[tuple[str, RiskLevel]]:
    """A few examples, each with another outcome, if there are such."""
    first: dict[RiskLevel, tuple[str, RiskLevel]] = {}
    for example in rule.examples:
        if _is_so(*example):
            first.setdefault(example[1], example)
    return sorted(first.values(), key=lambda example: example[1])[:_MOST_EXAMPLES]


def _is_so(line: str, risk: RiskLevel) -> bool:
    """Whether all rules together say the same: rules about files may say more."""
    command, *args = shlex.split(line)
    params = {"command": command, "args": args}
    return judge("execute_command", params, workspace="/workspace", isolated=True).risk is risk
