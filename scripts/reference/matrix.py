"""docs/tool-risk-assessment-matrix.md: what runs at once, what asks, what is refused, and why."""

from handrail.core.project import Autonomy
from handrail.core.risk import RiskLevel
from handrail.core.verdict import Plan, Ruling
from handrail.policy.rulebook.paths import Access
from handrail.policy.rulebook.rules import Rules, default_rules
from handrail.policy.security import SecurityPolicy
from handrail.tools.catalogue import BUILTIN
from scripts.reference.command_rules import command_sections
from scripts.reference.fixed_rules import fixed_rules_table
from scripts.reference.page import code, codes, lines, page, table


def matrix_page() -> str:
    rules = default_rules()
    return page(
        "Tool risk assessment matrix",
        "What runs at once, what asks a person, what is refused: the shipped rules, all of "
        "them. A call is as risky as the strictest reason there is: what "
        "the tool is, and every rule below that notices something. Nothing lowers a risk. The "
        "operator's [policy file](howto/policy.md) may replace these rules by their names, a "
        "project's can only tighten them. `handrail explain` says of any call what would happen "
        "to it, and names the rules by the ids that stand here.",
        "## Risk and freedom",
        "How much an agent may do unasked is its autonomy. Unless somebody says otherwise it is "
        "`supervised`.",
        _freedom(),
        "Who is asked, a user or a client's person, has so many seconds to answer; without an "
        "answer the call ends unexecuted. `APPROVAL_TIMEOUT_SECONDS` sets one time "
        "[for all](reference/settings.md). From HIGH on, a yes takes a second step. A yes can be "
        "for this call, for its class (in the session, or always in the project), or for all of a "
        "session, never for what is CRITICAL, and never by an agent.",
        "## Tools",
        _tools(),
        "What is above that comes from the rules below. Commands run in boxes: until one "
        "is proven on a machine, every command that is not refused is HIGH there "
        "(`command.unboxed`), whatever the tables say.",
        "## Files nobody touches",
        "Refused to every tool, and to commands that name them. A pattern is held against every "
        "part of a path; letter case makes no difference.",
        _paths(rules),
        "## Writes, by the kind of file",
        "The strictest kind counts. A file that is of none of these kinds is HIGH "
        "(`write.unknown-kind`). If a rehearsed command or a draft has made it, small plain text "
        "is MEDIUM unless it is executable or programs look for its name. A pattern is held "
        "against the end of a path.",
        _writes(rules),
        *command_sections(rules),
        "## Rules that are code",
        "No row of a policy file replaces them. Besides, `tool.` and its name is the rule that a "
        "tool itself is, or a `[[tool]]` row of a policy file.",
        fixed_rules_table(),
    )


def _freedom() -> str:
    return table(
        ("risk", *map(code, Autonomy)),
        ((risk.name, *(_ruling(risk, freedom) for freedom in Autonomy)) for risk in RiskLevel),
    )


def _ruling(risk: RiskLevel, autonomy: Autonomy) -> str:
    verdict = SecurityPolicy().rule(risk, (), autonomy=autonomy, plan=Plan(), drafts=True)
    match verdict.ruling:
        case Ruling.ASK:
            return f"{verdict.ruling.meaning}, {verdict.timeout_seconds} s"
        case Ruling.DENY:
            return f"**{verdict.ruling.meaning}**"
        case _:
            return verdict.ruling.meaning


def _tools() -> str:
    return table(
        ("tool", "begins at", "effect"),
        (
            (
                f"[{code(tool.name)}](reference/tools.md#{tool.name})",
                (tool.floor or tool.safety_level).name,
                tool.effect.value,
            )
            for tool in BUILTIN
        ),
    )


def _paths(rules: Rules) -> str:
    access = {Access.ANY: "reading and writing", Access.WRITE: "writing"}
    return table(
        ("rule", "refused", "why", "patterns", "but not", "for example"),
        (
            (
                code(f"path.{rule.name}"),
                access[rule.access],
                rule.reason,
                codes(rule.patterns),
                codes(rule.exceptions),
                lines([codes(rule.caught[:2]), f"not {codes(rule.spared[:1])}"]),
            )
            for rule in rules.paths
        ),
    )


def _writes(rules: Rules) -> str:
    kinds = table(
        ("rule", "risk", "why", "for example"),
        (
            (code(f"write.{rule.name}"), rule.risk.name, rule.reason, codes(rule.examples[:3]))
            for rule in rules.writes
        ),
    )
    patterns = [f"- {code(f'write.{rule.name}')}: {codes(rule.patterns)}" for rule in rules.writes]
    return "\n\n".join([kinds, "The patterns of each kind:", "\n".join(patterns)])
