"""Policy files as lists for a person, with a note where a project's row comes to nothing."""

import shlex
from collections.abc import Iterator

from handrail.core.policy import LayerSummary, RuleLine
from handrail.core.project import Autonomy
from handrail.core.risk import Layer, RiskLevel, worst
from handrail.policy.network.web_hosts import ANY_PUBLIC_HOST
from handrail.policy.rulebook.command import CommandRule
from handrail.policy.rulebook.command_line import read_line
from handrail.policy.rulebook.rules import Rules
from handrail.policy.rulebook.settings import Unlisted
from handrail.policy.rulebook.writes import WriteRule

_NO_EFFECT = "no effect: not stricter than the rules beneath"


def summarise(
    layer: Layer, source: str, rules: Rules, beneath: Rules | None = None
) -> LayerSummary:
    """One layer; `beneath` are the rules that a project's file could only tighten."""
    (autonomy,) = [ceiling.autonomy for ceiling in rules.ceilings] or [None]
    return LayerSummary(
        layer=layer,
        source=source,
        rules=tuple(_lines(rules, beneath)),
        autonomy=autonomy,
        unlisted=rules.unlisted,
        notes=tuple(_reach(rules) if beneath is None else _notes(rules, beneath)),
    )


def _lines(rules: Rules, beneath: Rules | None) -> Iterator[RuleLine]:
    for path in rules.paths:
        yield RuleLine(f"path, {path.access}", path.name, RiskLevel.FORBIDDEN, path.reason)
    for write in rules.writes:
        idle = beneath is not None and _write_is_idle(write, beneath)
        note = _NO_EFFECT if idle else None
        yield RuleLine("write", write.name, write.risk, write.reason, note)
    for command in rules.commands:
        idle = beneath is not None and _command_is_idle(command, beneath)
        names = ", ".join(sorted(command.names))
        note = _NO_EFFECT if idle else None
        yield RuleLine("command", names, command.risk, command.reason, note)
    for tool in rules.tools:
        yield RuleLine("tool", tool.name, tool.risk, tool.reason)


def _reach(rules: Rules) -> Iterator[str]:
    """Which commands may reach what, if they are approved."""
    for network in rules.networks:
        known = [*network.hosts, *(f"what `{shlex.join(argv)}` names" for argv in network.ask[:1])]
        yield f"{network.title} may reach {', '.join(known) or 'nothing'}"
    for folder in rules.folders:
        where = f" from {', '.join(folder.workspaces)}" if folder.workspaces else ""
        yield f"agents can read {folder.path}{where}"
    if rules.web != ANY_PUBLIC_HOST:
        yield f"http_request may reach {rules.web}"


def _notes(rules: Rules, beneath: Rules) -> Iterator[str]:
    for ceiling in rules.ceilings:
        already = beneath.lower(Autonomy.FULL)
        if ceiling.lower(already) is already:
            yield f"autonomy = {ceiling.autonomy} has no effect: it is at most {already} anyway"
    if rules.unlisted is Unlisted.ASK:
        yield "unlisted = ask has no effect: a project's file can only tighten"


def _write_is_idle(rule: WriteRule, beneath: Rules) -> bool:
    """Whether each of its examples is judged as strictly without it."""
    risks = (worst(beneath.judge_write(path)) for path in rule.examples)
    return all(max(risk, RiskLevel.MEDIUM) >= rule.risk for risk in risks)


def _command_is_idle(rule: CommandRule, beneath: Rules) -> bool:
    return all(
        worst(read_line(beneath.command_list, shlex.split(line)).findings) >= risk
        for line, risk in rule.examples
    )
