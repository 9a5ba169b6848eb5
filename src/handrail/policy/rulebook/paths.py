"""Which files are not an agent's to touch, whatever the tool."""

import re
from dataclasses import dataclass
from enum import StrEnum

from handrail.policy.rulebook.globs import any_part, fold
from handrail.policy.rulebook.row import RuleRow


class Access(StrEnum):
    """What a path rule forbids: only changing the file, or any touch of it."""

    ANY = "any"
    WRITE = "write"


@dataclass(frozen=True, slots=True)
class PathRule:
    name: str
    access: Access
    reason: str
    matcher: re.Pattern[str]
    patterns: tuple[str, ...] = ()

    def covers(self, path: str) -> bool:
        """Whether a workspace-relative path, or a folder on its way, is caught by this rule."""
        return self.matcher.search(fold(path)) is not None


def read_path_rule(row: RuleRow) -> PathRule:
    row.allow_keys("name", "access", "reason", "patterns", "except", "match", "not_match")
    try:
        rule = PathRule(
            name=row.text("name"),
            access=Access(row.text("access")),
            reason=row.text("reason"),
            matcher=any_part(row.texts("patterns"), row.texts("except", [])),
            patterns=tuple(row.texts("patterns")),
        )
    except ValueError as error:
        raise row.refuse(error) from error
    row.hold_against_paths(rule.covers)
    return rule
