"""What is said of a command's words, by the rule of the command."""

from collections.abc import Sequence

from handrail.core.risk import Finding, Layer, RiskLevel, forbidden
from handrail.policy.rulebook.command import CommandRule, Raise
from handrail.policy.rulebook.flags import suffix_in
from handrail.policy.rulebook.reading import shown


def rule_of(title: str) -> str:
    """The name under which findings about a command, or a subcommand of it, are known."""
    return f"command.{title.partition(' ')[0]}"


def not_allowed(reason: str) -> Finding:
    return forbidden("command.forbidden", f"Command not allowed: {reason}")


def raised(title: str, word: str, why: Raise) -> Finding:
    reason = f"{title} {shown(word)} {why.reason}"
    if why.to is RiskLevel.FORBIDDEN:
        return not_allowed(reason)
    return Finding(rule_of(title), reason, why.to)


def unknown(title: str, word: str, rule: CommandRule, reason: str = "") -> Finding:
    """That nobody knows what the word does, or for which other `reason` it is not harmless."""
    is_refused = rule.other is RiskLevel.FORBIDDEN
    why = reason or ("is not known here" if is_refused else "is not known to be harmless")
    told = f"{title} {shown(word)} {why}"
    return Finding(
        rule_of(title), f"Command not allowed: {told}" if is_refused else told, rule.other
    )


def odd_suffix(
    title: str, word: str, flag: str, rule: CommandRule, ahead: Sequence[str]
) -> list[Finding]:
    """That a flag chooses how the names of the files end that are made."""
    end = suffix_in(word, flag, rule, ahead) if flag in rule.suffixes else ""
    reason = f"{title} {shown(flag)} makes files whose names end in {shown(end or '')}"
    return [Finding(rule_of(title), reason, RiskLevel.HIGH)] if end else []


def refused_unseen(title: str) -> Finding:
    return not_allowed(
        f"{title} could be a forbidden command: its arguments are generated at run time"
    )


def by_layer(findings: Sequence[Finding], layer: Layer) -> tuple[Finding, ...]:
    """The findings of a rule that came from this layer."""
    if layer is Layer.SHIPPED:
        return tuple(findings)
    return tuple([finding.by(layer) for finding in findings])
