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
        )
    except ValueError as error:
        raise row.refuse(error) from error
    _hold_against_examples(rule, row)
    return rule


def _hold_against_examples(rule: PathRule, row: RuleRow) -> None:
    caught, spared = row.texts("match", []), row.texts("not_match", [])
    if not caught or not spared:
        raise row.refuse("needs examples, `match` and `not_match`")
    for path in caught:
        if not rule.covers(path):
            raise row.refuse(f"does not match its own example {path!r}")
    for path in spared:
        if rule.covers(path):
            raise row.refuse(f"matches {path!r}, which it says it does not")
