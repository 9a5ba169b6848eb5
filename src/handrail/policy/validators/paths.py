"""Paths as words: is this text a path inside the workspace that may be touched?

Only the words are judged here, without a look at the disk. Links, devices and races are the
executor's matter, at the moment of use.
"""

import os.path
from dataclasses import dataclass, field, replace

from handrail.core.risk import Finding, forbidden
from handrail.core.visible import is_misleading
from handrail.policy.rulebook.folders import Beside, find_beside
from handrail.policy.rulebook.rules import Rules, default_rules
from handrail.policy.validators.sizes import SizeLimiter

MAX_PATH_CHARS = 4096
MAX_PATH_PARTS = 100
# Bytes of names that are not UTF-8, as Python spells them.
NOT_UTF8 = "".join(map(chr, range(0xDC80, 0xDD00)))


@dataclass(frozen=True, slots=True)
class PathValidator:
    """Judges paths against one workspace root."""

    root: str
    rules: Rules = field(default_factory=default_rules)

    def validate_path(self, path: str, *, writing: bool = False) -> list[Finding]:
        """Every concern about a path; an empty list means that its words are fine."""
        findings = self._check_spelling(path) or self.validate_workspace_boundary(path)
        return findings or self.rules.judge_path(self.resolve_path(path), writing=writing)

    def validate_reading(self, path: str) -> list[Finding]:
        """Every concern about reading a path, which may lie in a folder beside the workspace."""
        if self._check_spelling(path) or not self.validate_workspace_boundary(path):
            return self.validate_path(path)
        if (place := self.find_beside(path)) is not None:
            return self.rules.judge_path(place.rest, writing=False)
        how = "a person can let agents read a folder there with `handrail folders add`"
        return [
            replace(finding, reason=f"{finding.reason}; {how}")
            for finding in self.validate_workspace_boundary(path)
        ]

    def validate_workspace_boundary(self, path: str) -> list[Finding]:
        if self._is_inside(path):
            return []
        if (place := self.find_beside(path)) is not None:
            told = f"lies in {place.folder}, which agents can read and not change"
        elif self._parts(path) is None:
            told = "lies outside the workspace"
        else:
            told = "climbs out of the workspace"
        return [forbidden("path.boundary", f"{path!r} {told}")]

    def find_beside(self, path: str) -> Beside | None:
        """Where a path lies in a folder beside the workspace that agents may read."""
        if not self.rules.folders or self._is_inside(path):
            return None
        return find_beside(os.path.join(self.root, path), self.rules.folders_beside(self.root))

    def check_file_size(self, size_bytes: int) -> list[Finding]:
        return SizeLimiter().check_file(size_bytes)

    def resolve_path(self, path: str) -> str:
        """The path relative to the root, without `.` and `..`: what is judged is what is opened."""
        kept: list[str] = []
        for part in self._parts(path) or []:
            if part == "..":
                kept = kept[:-1]
            else:
                kept.append(part)
        return "/".join(kept) or "."

    def resolve_reading(self, path: str) -> str:
        """As `resolve_path`; the absolute path of what lies in a folder beside the workspace."""
        place = self.find_beside(path)
        return self.resolve_path(path) if place is None else place.path

    def _is_inside(self, path: str) -> bool:
        parts = self._parts(path)
        depth = 0
        for part in parts or ():
            depth += -1 if part == ".." else 1
            if depth < 0:
                return False
        return parts is not None

    def _parts(self, path: str) -> list[str] | None:
        """The parts below the root, or None for an absolute path that starts elsewhere."""
        parts = [part for part in path.split("/") if part not in ("", ".")]
        if path.startswith("/"):
            root = [part for part in self.root.split("/") if part]
            return parts[len(root) :] if parts[: len(root)] == root else None
        # Agents like to name the folder they work in: `workspace/x` means `x`.
        return parts[1:] if parts[:1] == ["workspace"] else parts

    def _check_spelling(self, path: str) -> list[Finding]:
        rule = "path.spelling"
        if not path:
            return [forbidden(rule, "the path is empty")]
        if len(path) > MAX_PATH_CHARS:
            return [forbidden(rule, f"the path is longer than {MAX_PATH_CHARS} characters")]
        if path.count("/") > MAX_PATH_PARTS:
            return [forbidden(rule, f"the path has more than {MAX_PATH_PARTS} parts")]
        if is_misleading(path, keep=NOT_UTF8):
            return [forbidden(rule, f"{path!r} contains control or invisible characters")]
        if not _can_be_a_name(path):
            return [
                forbidden(rule, f"{path!r} contains characters that a file name cannot contain")
            ]
        if "\\" in path:
            return [forbidden(rule, f"{path!r} contains a backslash; use forward slashes")]
        if path.startswith("~"):
            return [forbidden(rule, f"{path!r} names a home folder, which lies outside")]
        return []


def plain(path: str) -> str:
    """A path without what leads nowhere: empty parts and dots."""
    return "/".join(part for part in path.split("/") if part not in ("", ".")) or "."


def _can_be_a_name(path: str) -> bool:
    """Names that are not UTF-8 come as single surrogates; other surrogates name nothing."""
    try:
        path.encode(errors="surrogateescape")
    except UnicodeEncodeError:
        return False
    return True
