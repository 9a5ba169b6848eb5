"""Reading one rule out of a policy file, with errors that name the file, the rule and the key."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, cast

from handrail.core.errors import RuleError
from handrail.core.risk import Layer

# Every path is held against every pattern, while others wait.
_MOST_PATTERNS = 500
_CLOSE = 0.7


@dataclass(frozen=True, slots=True)
class RuleRow:
    """One `[[section]]` of a rules file."""

    source: str
    section: str
    values: Mapping[str, Any]
    layer: Layer = Layer.SHIPPED

    @property
    def where(self) -> str:
        name = self.values.get("name", self.values.get("names", "?"))
        return f"{self.source}: {self.section.rpartition('.')[2]} rule {name!r}"

    def allow_keys(self, *known: str) -> None:
        if unknown := sorted(set(self.values) - set(known)):
            close = get_close_matches(unknown[0], known, cutoff=_CLOSE)
            choice = (
                f"did you mean {' or '.join(close)}?" if close else f"known: {', '.join(known)}"
            )
            raise self.refuse(f"unknown key {unknown[0]!r}; {choice}")

    def text(self, key: str) -> str:
        if key not in self.values:
            raise RuleError(f"{self.where}: {key!r} is missing")
        value = self.values[key]
        if not isinstance(value, str):
            raise RuleError(f"{self.where}: {key} is a text")
        return value

    def texts(self, key: str, default: Sequence[str] | None = None) -> list[str]:
        if key not in self.values:
            if default is None:
                raise RuleError(f"{self.where}: {key!r} is missing")
            return list(default)
        value = self.values[key]
        if not isinstance(value, list) or not all(
            isinstance(item, str) for item in cast(list[object], value)
        ):
            raise RuleError(f"{self.where}: {key} is a list of texts")
        return cast(list[str], value)

    def globs(self, key: str, default: Sequence[str] | None = None) -> list[str]:
        """Patterns for paths. `**/` twice in one takes too long on a path made for it."""
        found = self.texts(key, default)
        for pattern in found:
            self._refuse_what_is_elsewhere(key, pattern)
            if self.layer is not Layer.SHIPPED and pattern.count("**/") > 1:
                raise self.refuse(f"{key}: {pattern!r} has more than one '**/'; one is enough")
        return found

    def hold_against_paths(self, covers: Callable[[str], bool]) -> None:
        """Hold a rule about paths against the examples in its own row."""
        caught, spared = self.texts("match", []), self.texts("not_match", [])
        if not caught or not spared:
            raise self.refuse("needs examples, `match` and `not_match`")
        for path in (*caught, *spared):
            self._refuse_what_is_elsewhere("an example", path)
        for path in caught:
            if not covers(path):
                raise self.refuse(f"does not match its own example {path!r}")
        for path in spared:
            if covers(path):
                raise self.refuse(f"matches {path!r}, which it says it does not")

    def _refuse_what_is_elsewhere(self, what: str, path: str) -> None:
        """No path of a workspace is judged under such a name, so that it would catch nothing."""
        if path.startswith(("/", "~/")) or not {"", ".", ".."}.isdisjoint(path.split("/")):
            raise self.refuse(
                f"{what}: {path!r} matches nothing in a workspace; write paths from its root, as "
                f"'docs/plans/**'; paths outside of it are refused in any case"
            )

    def refuse(self, why: object) -> RuleError:
        return RuleError(f"{self.where}: {why}")


def rows_of(
    document: Mapping[str, Any],
    section: str,
    source: str,
    layer: Layer = Layer.SHIPPED,
) -> list[RuleRow]:
    """Every `[[section]]` of a file."""
    value: object = document.get(section, [])
    rows = cast(list[object], value) if isinstance(value, list) else [None]
    if not all(isinstance(row, dict) for row in rows):
        raise RuleError(f"{source}: {section} rules are written as [[{section}]]")
    found = [RuleRow(source, section, cast(Mapping[str, Any], row), layer) for row in rows]
    patterns = sum(len(row.texts("patterns", [])) for row in found)
    if layer is not Layer.SHIPPED and patterns > _MOST_PATTERNS:
        raise RuleError(
            f"{source}: {section} rules have {patterns:,} patterns; at most {_MOST_PATTERNS} are "
            f"allowed"
        )
    return found
