"""Which files are not an agent's to touch, whatever the tool."""

import re
from dataclasses import dataclass
from enum import StrEnum

from handrail.core.risk import Finding, Layer, forbidden
from handrail.policy.rulebook.globs import any_part, fold
from handrail.policy.rulebook.row import RuleRow

# What guards the files that say what an agent may do is not itself a matter of those files.
_FIXED = "handrail-own"


class Access(StrEnum):
    """What a path rule forbids: only changing the file, or any touch of it."""

    ANY = "any"
    WRITE = "write"


@dataclass(frozen=True, slots=True)
class PathRule:
    """Files that are refused. `caught` and `spared` are the examples that prove it."""

    name: str
    access: Access
    reason: str
    matcher: re.Pattern[str]
    patterns: tuple[str, ...] = ()
    exceptions: tuple[str, ...] = ()
    caught: tuple[str, ...] = ()
    spared: tuple[str, ...] = ()
    layer: Layer = Layer.SHIPPED

    def forbids(self, path: str, *, writing: bool) -> bool:
        return (writing or self.access is Access.ANY) and self.covers(path)

    def finding(self, path: str) -> Finding:
        reason = f"{path!r} is refused: {self.reason}"
        return forbidden(f"path.{self.name}", reason).by(self.layer)

    def covers(self, path: str) -> bool:
        """Whether a workspace-relative path, or a folder on its way, is caught by this rule."""
        return self.matcher.search(fold(path)) is not None


def read_path_rule(row: RuleRow) -> PathRule:
    row.allow_keys("name", "access", "reason", "patterns", "except", "match", "not_match")
    rule = PathRule(
        name=row.text("name"),
        access=_access(row),
        reason=row.text("reason"),
        matcher=any_part(row.globs("patterns"), row.globs("except", [])),
        patterns=tuple(row.globs("patterns")),
        exceptions=tuple(row.globs("except", [])),
        caught=tuple(row.texts("match", [])),
        spared=tuple(row.texts("not_match", [])),
        layer=row.layer,
    )
    if rule.name == _FIXED and row.layer is Layer.OPERATOR:
        raise row.refuse("protects Handrail's own files and stays as it is; use another name")
    row.hold_against_paths(rule.covers)
    return rule


def _access(row: RuleRow) -> Access:
    told = row.text("access")
    if told not in list(Access):
        kinds = "'any' refuses every access, 'write' only changes"
        raise row.refuse(f"access is one of {', '.join(Access)}, not {told!r}: {kinds}")
    return Access(told)
