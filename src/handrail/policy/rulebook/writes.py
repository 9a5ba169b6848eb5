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
# Files that no rule knows, but that programs may find by themselves: hidden ones, Xfile, xrc, and
# those in folders of programs.
_LOOKED_FOR = re.compile(r"(?:^|/)(?:\.|(?:bin|hooks)/)|(?:file|rc)$|(?:^|/)[^/.]*build$")


@dataclass(frozen=True, slots=True)
class WriteRule:
    """One kind of file and what writing one means.

    `built` is the risk where a rehearsed command has made it and a person sees that; None where
    that makes no difference.
    """

    name: str
    risk: RiskLevel
    reason: str
    matcher: re.Pattern[str]
    layer: Layer = Layer.SHIPPED
    examples: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    exceptions: tuple[str, ...] = ()
    built: RiskLevel | None = None

    def covers(self, path: str) -> bool:
        """Whether the file at a workspace-relative path is of this kind."""
        return self.matcher.search(fold(path)) is not None


def judge_write(
    path: str,
    rules: Sequence[WriteRule],
    further: Sequence[WriteRule] = (),
    *,
    built: bool = False,
    is_text: bool = False,
) -> list[Finding]:
    """Every reason why writing this file is more than MEDIUM, or not to be done at all.

    What is known of files is in `rules`; `further` ones are heard as well, and make nothing known.
    A file of an unknown kind that `is_text` is like other text, unless programs look for its name.
    """
    kinds = [rule for rule in rules if rule.covers(path)]
    raised = [rule for rule in further if rule.covers(path)]
    if not kinds and not (is_text and _LOOKED_FOR.search(fold(path)) is None):
        reason = f"{path!r} has an unknown file type: other programs may run or read it"
        unknown = Finding("write.unknown-kind", reason, RiskLevel.HIGH)
        return [unknown, *_findings(path, raised, built=built)]
    return _findings(path, [*kinds, *raised], built=built)


def _findings(path: str, kinds: Sequence[WriteRule], *, built: bool) -> list[Finding]:
    risks = [rule.risk if rule.built is None or not built else rule.built for rule in kinds]
    return [
        Finding(f"write.{rule.name}", f"{path!r}: {rule.reason}", risk).by(rule.layer)
        for rule, risk in zip(kinds, risks, strict=True)
        if risk > RiskLevel.MEDIUM
    ]


def read_write_rule(row: RuleRow) -> WriteRule:
    known = ("name", "risk", "built", "reason", "patterns", "except", "match", "not_match")
    row.allow_keys(*known)
    rule = WriteRule(
        name=row.text("name"),
        risk=_read_risk(row, "risk"),
        reason=row.text("reason"),
        matcher=_whole_end(row.globs("patterns"), row.globs("except", [])),
        layer=row.layer,
        examples=tuple(row.texts("match", [])),
        patterns=tuple(row.globs("patterns")),
        exceptions=tuple(row.globs("except", [])),
        built=_read_risk(row, "built") if "built" in row.values else None,
    )
    row.hold_against_paths(rule.covers)
    return rule


def _read_risk(row: RuleRow, key: str) -> RiskLevel:
    word = row.text(key)
    if word not in _RISKS:
        raise row.refuse(f"{key} is one of {', '.join(_RISKS)}, not {word!r}")
    return _RISKS[word]


def _whole_end(patterns: Sequence[str], exceptions: Sequence[str]) -> re.Pattern[str]:
    """Find the globs at the end of a path: a file is of a kind by its own name."""
    spared = f"(?!(?:{'|'.join(map(glob, exceptions))})$)" if exceptions else ""
    return re.compile(f"(?:^|/){spared}(?:{'|'.join(map(glob, patterns))})$")
