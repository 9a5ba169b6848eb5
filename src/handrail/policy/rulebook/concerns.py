"""What is said of a word: that it raises the risk, or that nobody knows what it does."""

from handrail.core.risk import Finding, RiskLevel, forbidden
from handrail.policy.rulebook.command import CommandRule, Raise
from handrail.policy.rulebook.reading import shown


def rule_name(title: str) -> str:
    return f"command.{title.partition(' ')[0]}"


def raised(title: str, word: str, why: Raise) -> Finding:
    reason = f"{title} {shown(word)} {why.reason}"
    if why.to is RiskLevel.FORBIDDEN:
        return forbidden("command.forbidden", f"Command not allowed: {reason}")
    return Finding(rule_name(title), reason, why.to)


def unknown(rule: CommandRule, title: str, word: str, reason: str = "") -> Finding:
    told = f"{title} {shown(word)} {reason or 'is not known to be harmless'}"
    if rule.other is RiskLevel.FORBIDDEN:
        told = f"Command not allowed: {title} {shown(word)} is not known here"
    return Finding(rule_name(title), told, rule.other)
