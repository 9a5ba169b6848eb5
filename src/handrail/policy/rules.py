"""Policy as data: rules are rows in a TOML file and carry the examples that prove them."""

import re
import tomllib
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import Any, Self, cast

from handrail.core.errors import RuleError

# Some file systems drop dots and blanks at the end of a name: `id_rsa. ` opens `id_rsa`.
_TRAILING = re.compile(r"(?<=[^./ ])[. ]+(?=/|$)")


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


@dataclass(frozen=True, slots=True)
class Rules:
    paths: tuple[PathRule, ...]

    @classmethod
    def parse(cls, text: str, *, source: str) -> Self:
        """Read a rules file and hold every rule against its own examples."""
        try:
            document = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise RuleError(f"{source}: not valid TOML: {error}") from error
        unknown = sorted(set(document) - {"path"})
        if unknown:
            raise RuleError(f"{source}: unknown section {unknown[0]!r}; known: path")
        rows = _rows(document.get("path", []))
        if rows is None:
            raise RuleError(f"{source}: path rules are written as [[path]]")
        return cls(paths=tuple(_path_rule(row, source) for row in rows))


@cache
def default_rules() -> Rules:
    """The rules Handrail ships."""
    file = files("handrail.policy").joinpath("default_rules.toml")
    return Rules.parse(file.read_text(encoding="utf-8"), source="default_rules.toml")


def fold(path: str) -> str:
    """One spelling for names that a person, or a file system, takes for the same."""
    text = path
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
        text = "".join(char for char in text if unicodedata.category(char) != "Cf")
    return _TRAILING.sub("", text.casefold())


def _path_rule(row: Mapping[str, Any], source: str) -> PathRule:
    known = {"name", "access", "reason", "patterns", "except", "match", "not_match"}
    where = f"{source}: path rule {row.get('name', '?')!r}"
    if unknown := sorted(set(row) - known):
        raise RuleError(f"{where}: unknown key {unknown[0]!r}")
    for key in ("patterns", "except", "match", "not_match"):
        if not _is_list_of_text(row.get(key, [])):
            raise RuleError(f"{where}: {key} is a list of texts")
    try:
        rule = PathRule(
            name=row["name"],
            access=Access(row["access"]),
            reason=row["reason"],
            matcher=_matcher(row["patterns"], row.get("except", [])),
        )
    except KeyError as error:
        raise RuleError(f"{where}: {error} is missing") from error
    except ValueError as error:
        raise RuleError(f"{where}: {error}") from error
    _hold_against_examples(rule, row, where)
    return rule


def _rows(value: object) -> list[Mapping[str, Any]] | None:
    if not isinstance(value, list):
        return None
    rows = cast(list[object], value)
    return cast(list[Mapping[str, Any]], rows) if all(isinstance(r, dict) for r in rows) else None


def _is_list_of_text(value: object) -> bool:
    if not isinstance(value, list):
        return False
    return all(isinstance(item, str) for item in cast(list[object], value))


def _hold_against_examples(rule: PathRule, row: Mapping[str, Any], where: str) -> None:
    if not row.get("match") or not row.get("not_match"):
        raise RuleError(f"{where}: needs examples, `match` and `not_match`")
    for path in row["match"]:
        if not rule.covers(path):
            raise RuleError(f"{where}: does not match its own example {path!r}")
    for path in row["not_match"]:
        if rule.covers(path):
            raise RuleError(f"{where}: matches {path!r}, which it says it does not")


def _matcher(patterns: list[str], exceptions: list[str]) -> re.Pattern[str]:
    """Find the globs among the parts of a path, except where an exception fits the same part."""
    spared = f"(?!(?:{'|'.join(map(_glob, exceptions))})(?:/|$))" if exceptions else ""
    return re.compile(f"(?:^|/){spared}(?:{'|'.join(map(_glob, patterns))})(?=/|$)")


def _glob(pattern: str) -> str:
    """A glob as a regular expression: `*` and `?` never cross a slash, `**/` does."""
    escaped = re.escape(fold(pattern)).replace(r"\*\*/", "(?:[^/]+/)*")
    return escaped.replace(r"\*", "[^/]*").replace(r"\?", "[^/]")
