"""Policy as data: rules are rows in TOML files and carry the examples that prove them."""

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Self

from handrail.core.errors import RuleError
from handrail.policy.rulebook.command import CommandRule
from handrail.policy.rulebook.commands import read_command_rules
from handrail.policy.rulebook.paths import PathRule, read_path_rule
from handrail.policy.rulebook.row import rows_of
from handrail.policy.rulebook.writes import WriteRule, read_write_rule


@dataclass(frozen=True, slots=True)
class Rules:
    paths: tuple[PathRule, ...] = ()
    writes: tuple[WriteRule, ...] = ()
    commands: tuple[CommandRule, ...] = ()

    @classmethod
    def parse(cls, text: str, *, source: str) -> Self:
        """Read a rules file and hold every rule against its own examples."""
        try:
            document = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise RuleError(f"{source}: not valid TOML: {error}") from error
        known = ("path", "write", "command")
        if unknown := sorted(set(document) - set(known)):
            raise RuleError(f"{source}: unknown section {unknown[0]!r}; known: {', '.join(known)}")
        return cls(
            paths=tuple(map(read_path_rule, rows_of(document, "path", source))),
            writes=tuple(map(read_write_rule, rows_of(document, "write", source))),
            commands=read_command_rules(rows_of(document, "command", source)),
        )

    def __add__(self, other: "Rules") -> "Rules":
        return Rules(
            paths=self.paths + other.paths,
            writes=self.writes + other.writes,
            commands=self.commands + other.commands,
        )


@cache
def default_rules() -> Rules:
    """The rules Handrail ships, one file per subject."""
    shipped = files("handrail.policy.rulebook").joinpath("defaults").iterdir()
    rules = Rules()
    for file in sorted(shipped, key=lambda file: file.name):
        rules += Rules.parse(file.read_text(encoding="utf-8"), source=file.name)
    return rules
