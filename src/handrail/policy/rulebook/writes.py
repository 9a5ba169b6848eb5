"""How much a write matters, by the kind of file that is written."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from handrail.core.risk import Finding, Layer, RiskLevel
from handrail.policy.rulebook.globs import fold, glob
from handrail.policy.rulebook.row import RuleRow

# No write is LOW: it is never nothing.
_RISKS = {
    risk.name.lower(): risk
    for risk in (RiskLevel.MEDIUM, RiskLevel.HIGH, RiskLevel.CRITICAL, RiskLevel.FORBIDDEN)
}


@dataclass(frozen=True, slots=True)
class WriteRule:
    """One kind of file and what writing one means."""

    name: str
    risk: RiskLevel
    reason: str
    matcher: re.Pattern[str]
    layer: Layer = Layer.SHIPPED
    examples: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    exceptions: tuple[str, ...] = ()

    def covers(self, path: str) -> bool:
        """Whether the file at a workspace-relative path is of this kind."""
        return self.matcher.search(fold(path)) is not None


def judge_write(
    path: str, rules: Sequence[WriteRule], further: Sequence[WriteRule] = ()
) -> list[Finding]:
    """Every reason why writing this file is more than MEDIUM, or not to be done at all.

    What is known of files is in `rules`; `further` ones are heard as well, and make nothing known.
    """
    kinds = [rule for rule in rules if rule.covers(path)]
    raised = [rule for rule in further if rule.covers(path)]
    if not kinds:
        reason = f"{path!r} is of an unknown kind: what reads or runs it cannot be told"
        return [Finding("write.unknown-kind", reason, RiskLevel.HIGH), *_findings(path, raised)]
    return _findings(path, [*kinds, *raised])


def _findings(path: str, kinds: Sequence[WriteRule]) -> list[Finding]:
    return [
        Finding(f"write.{rule.name}", f"{path!r}: {rule.reason}", rule.risk).by(rule.layer)
        for rule in kinds
        if rule.risk > RiskLevel.MEDIUM
    ]


def read_write_rule(row: RuleRow) -> WriteRule:
    row.allow_keys("name", "risk", "reason", "patterns", "except", "match", "not_match")
    risk = row.text("risk")
    if risk not in _RISKS:
        raise row.refuse(f"risk is one of {', '.join(_RISKS)}, not {risk!r}")
    rule = WriteRule(
        name=row.text("name"),
        risk=_RISKS[risk],
        reason=row.text("reason"),
        matcher=_whole_end(row.globs("patterns"), row.globs("except", [])),
        layer=row.layer,
        examples=tuple(row.texts("match", [])),
        patterns=tuple(row.globs("patterns")),
        exceptions=tuple(row.globs("except", [])),
    )
    row.hold_against_paths(rule.covers)
    return rule


def _whole_end(patterns: Sequence[str], exceptions: Sequence[str]) -> re.Pattern[str]:
    """Find the globs at the end of a path: a file is of a kind by its own name."""
    spared = f"(?!(?:{'|'.join(map(glob, exceptions))})$)" if exceptions else ""
    return re.compile(f"(?:^|/){spared}(?:{'|'.join(map(glob, patterns))})$")
