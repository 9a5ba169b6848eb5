"""Policy as data: rules are rows in TOML files and carry the examples that prove them."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from typing import Any, Self, TypeVar

from handrail.core.errors import RuleError
from handrail.core.project import Autonomy
from handrail.core.risk import Finding, Layer, RiskLevel
from handrail.policy.network.web_hosts import ANY_PUBLIC_HOST, WebHosts
from handrail.policy.rulebook.command import CommandList, CommandRule, replace_by_name
from handrail.policy.rulebook.commands import read_command_rules
from handrail.policy.rulebook.folders import FolderRule, folders_beside, read_folder_rule
from handrail.policy.rulebook.globs import fold
from handrail.policy.rulebook.networks import (
    NetworkRule,
    read_network_rule,
    replace_networks,
)
from handrail.policy.rulebook.paths import PathRule, read_path_rule
from handrail.policy.rulebook.row import rows_of
from handrail.policy.rulebook.settings import Ceiling, Commands, Unlisted, read_settings
from handrail.policy.rulebook.tools import ToolRule, read_tool_rule
from handrail.policy.rulebook.web import read_web_hosts
from handrail.policy.rulebook.writes import WriteRule, judge_write, read_write_rule

SHIPPED = ("paths.toml", "writes.toml", "commands.toml", "networks.toml", "accounts.toml")

_SECTIONS = ("path", "write", "command", "tool", "network", "folder", "http", "policy")

Named = TypeVar("Named", PathRule, WriteRule)


# Compared by identity, so that readings of a line can be cached by the rules they were made with.
@dataclass(frozen=True, slots=True, eq=False)
class Rules:
    """What a judgement goes by, from one file or from several laid over each other.

    Rules about paths and tools can only refuse and raise. Those about writes and commands also
    make kinds of files and commands known; the `further` ones, which are a project's, do not.
    """

    paths: tuple[PathRule, ...] = ()
    writes: tuple[WriteRule, ...] = ()
    commands: tuple[CommandRule, ...] = ()
    tools: tuple[ToolRule, ...] = ()
    networks: tuple[NetworkRule, ...] = ()
    folders: tuple[FolderRule, ...] = ()
    web: WebHosts = ANY_PUBLIC_HOST
    ceilings: tuple[Ceiling, ...] = ()
    unlisted: Unlisted | None = None
    command_way: Commands | None = None
    further_writes: tuple[WriteRule, ...] = ()
    further_commands: tuple[CommandRule, ...] = ()
    command_list: CommandList = field(init=False, repr=False, compare=False)
    _touchy: re.Pattern[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        touchy = "|".join(f"(?:{rule.matcher.pattern})" for rule in self.paths)
        object.__setattr__(self, "_touchy", re.compile(touchy or "(?!)"))
        refuses = self.unlisted is Unlisted.REFUSE
        unlisted = RiskLevel.FORBIDDEN if refuses else RiskLevel.HIGH
        listed = CommandList(self.commands, self.further_commands, unlisted)
        object.__setattr__(self, "command_list", listed)

    @classmethod
    def parse(
        cls,
        text: str,
        *,
        source: str,
        layer: Layer = Layer.SHIPPED,
        beneath: "Rules | None" = None,
    ) -> Self:
        """Read a rules file and hold every rule against its own examples.

        Raises:
            RuleError: It cannot be read, says what nobody knows, or contradicts itself.
        """
        return cls.read(read_document(text, source), source=source, layer=layer, beneath=beneath)

    @classmethod
    def read(
        cls,
        document: Mapping[str, Any],
        *,
        source: str,
        layer: Layer = Layer.SHIPPED,
        beneath: "Rules | None" = None,
    ) -> Self:
        """The same of a file that has been parsed."""
        settings = read_settings(document, source)
        command_rows = rows_of(document, "command", source, layer)
        return cls(
            paths=tuple(map(read_path_rule, rows_of(document, "path", source, layer))),
            writes=tuple(map(read_write_rule, rows_of(document, "write", source, layer))),
            commands=read_command_rules(command_rows, beneath.commands if beneath else ()),
            tools=tuple(map(read_tool_rule, rows_of(document, "tool", source, layer))),
            networks=tuple(map(read_network_rule, rows_of(document, "network", source, layer))),
            folders=tuple(map(read_folder_rule, rows_of(document, "folder", source, layer))),
            web=read_web_hosts(document, source, layer),
            ceilings=(Ceiling(settings.autonomy, layer),) if settings.autonomy else (),
            unlisted=settings.unlisted,
            command_way=settings.commands,
        )

    @property
    def rehearses(self) -> bool:
        """Whether commands are tried first without effect, where a machine can do that."""
        return self.command_way is not Commands.ASK

    def judge_path(self, path: str, *, writing: bool) -> list[Finding]:
        """What the rules say of a workspace-relative path. Of most they say nothing."""
        if self._touchy.search(fold(path)) is None:
            return []
        return [rule.finding(path) for rule in self.paths if rule.forbids(path, writing=writing)]

    def judge_write(
        self, path: str, *, built: bool = False, is_text: bool = False
    ) -> list[Finding]:
        """What the rules say of writing a file, or of one that a rehearsed command has `built`."""
        return judge_write(path, self.writes, self.further_writes, built=built, is_text=is_text)

    def judge_tool(self, name: str, *also: str) -> list[Finding]:
        """What is said of a tool, and of those tools that it is judged as."""
        names = (name, *also)
        return [rule.finding(name) for rule in self.tools if any(map(rule.covers, names))]

    def networks_of(self, name: str) -> list[NetworkRule]:
        """What is said of the hosts that a command may reach."""
        return [rule for rule in self.networks if name in rule.names]

    def folders_beside(self, root: str) -> tuple[str, ...]:
        """The folders beside a workspace that agents may read."""
        return tuple(dict.fromkeys(folders_beside(root, self.folders)))

    def lower(self, autonomy: Autonomy) -> Autonomy:
        """What is left of an agent's freedom under every ceiling."""
        for ceiling in self.ceilings:
            autonomy = ceiling.lower(autonomy)
        return autonomy

    def __add__(self, other: "Rules") -> "Rules":
        """Both, as if they stood in one file."""
        return replace(
            self,
            paths=self.paths + other.paths,
            writes=self.writes + other.writes,
            commands=self.commands + other.commands,
            tools=self.tools + other.tools,
            networks=self.networks + other.networks,
            folders=self.folders + other.folders,
            web=self.web.replaced_by(other.web),
            ceilings=self.ceilings + other.ceilings,
            unlisted=other.unlisted or self.unlisted,
            command_way=other.command_way or self.command_way,
        )

    def replaced_by(self, operator: "Rules") -> "Rules":
        """These, with the operator's over them: by its name a rule is replaced, or added."""
        return replace(
            self,
            paths=_replace_by_name(self.paths, operator.paths),
            writes=_replace_by_name(self.writes, operator.writes),
            commands=replace_by_name(self.commands, operator.commands),
            tools=self.tools + operator.tools,
            networks=replace_networks(self.networks, operator.networks),
            folders=self.folders + operator.folders,
            web=self.web.replaced_by(operator.web),
            ceilings=self.ceilings + operator.ceilings,
            unlisted=operator.unlisted or self.unlisted,
            command_way=operator.command_way or self.command_way,
        )

    def tightened_by(self, project: "Rules") -> "Rules":
        """These, with a project's beside them: all that is done with those is to add findings."""
        refuses = project.unlisted is Unlisted.REFUSE
        asks = project.command_way is Commands.ASK
        return replace(
            self,
            paths=self.paths + project.paths,
            tools=self.tools + project.tools,
            ceilings=self.ceilings + project.ceilings,
            unlisted=Unlisted.REFUSE if refuses else self.unlisted,
            command_way=Commands.ASK if asks else self.command_way,
            further_writes=self.further_writes + project.writes,
            further_commands=self.further_commands + project.commands,
        )


def _replace_by_name(rules: tuple[Named, ...], by: tuple[Named, ...]) -> tuple[Named, ...]:
    taken = {rule.name for rule in by}
    return (*(rule for rule in rules if rule.name not in taken), *by)


def read_document(text: str, source: str) -> dict[str, Any]:
    """A rules file as it stands.

    Raises:
        RuleError: It is no TOML, or has a section that nobody knows.
    """
    try:
        document = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        # Its own errors are of this kind, and so are numbers that nobody can hold.
        raise RuleError(f"{source}: not valid TOML: {error}") from error
    if unknown := sorted(set(document) - set(_SECTIONS)):
        known = ", ".join(_SECTIONS)
        raise RuleError(f"{source}: unknown section {unknown[0]!r}; known: {known}")
    return document


@cache
def default_rules() -> Rules:
    """The rules Handrail ships."""
    rules = Rules()
    folder = files("handrail.policy.rulebook").joinpath("defaults")
    for name in SHIPPED:
        text = folder.joinpath(name).read_text(encoding="utf-8")
        rules += Rules.parse(text, source=name, beneath=rules)
    return rules
