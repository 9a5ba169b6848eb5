"""Rules about networks: which hosts a command may reach, and who on the machine knows them.

Nothing in a workspace has a say in it: whoever could name the hosts could carry things out to them.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

from handrail.core.errors import BadInput
from handrail.core.risk import Layer
from handrail.policy.network.hosts import HostList
from handrail.policy.rulebook.row import RuleRow

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class CredentialRule:
    """How a program is signed in: what one of `ask` prints is given to it as the variable `tell`.

    The commands are asked in this order, outside of any box, as the person at the machine.
    """

    ask: tuple[tuple[str, ...], ...]
    tell: str


@dataclass(frozen=True, slots=True)
class NetworkRule:
    """What commands with one of these names may reach.

    Beside the `hosts` that are listed there are those that the machine's own settings name: of the
    commands in `ask`, the first that prints an address tells. The address is handed on to what
    runs, as the variables `tell`, since in its box it does not see those settings. A command that
    needs an account gets the `credential`.
    """

    names: frozenset[str]
    hosts: tuple[str, ...] = ()
    ask: tuple[tuple[str, ...], ...] = ()
    tell: tuple[str, ...] = ()
    credential: CredentialRule | None = None
    layer: Layer = Layer.SHIPPED

    @property
    def title(self) -> str:
        return ", ".join(sorted(self.names))


def read_network_rule(row: RuleRow) -> NetworkRule:
    row.allow_keys("name", "names", "hosts", "ask", "tell", "credential")
    if row.layer is Layer.PROJECT:
        raise row.refuse("hosts are named in the operator's file; leave it out")
    names = row.texts("names", [] if "name" not in row.values else [row.text("name")])
    if not names:
        raise row.refuse("needs a 'name', or 'names', of commands")
    return NetworkRule(
        names=frozenset(names),
        hosts=_hosts(row),
        ask=_commands(row, row.values.get("ask", [])),
        tell=_variables(row),
        credential=_credential(row),
        layer=row.layer,
    )


def replace_networks(
    rules: Sequence[NetworkRule], by: Sequence[NetworkRule]
) -> tuple[NetworkRule, ...]:
    """The rules, where each name that one of the others has too is left to the other."""
    taken = frozenset(name for rule in by for name in rule.names)
    kept = [replace(rule, names=rule.names - taken) for rule in rules]
    return (*(rule for rule in kept if rule.names), *by)


def _hosts(row: RuleRow) -> tuple[str, ...]:
    try:
        return tuple(map(str, HostList.read(row.texts("hosts", [])).entries))
    except BadInput as error:
        raise row.refuse(error.message) from error


def _commands(row: RuleRow, value: object) -> tuple[tuple[str, ...], ...]:
    lines = cast(list[object], value) if isinstance(value, list) else [value]
    if not all(_is_argv(line) for line in lines):
        raise row.refuse('ask is a list of commands, such as [["npm", "config", "get", "x"]]')
    return tuple(tuple(cast(list[str], line)) for line in lines)


def _credential(row: RuleRow) -> CredentialRule | None:
    if "credential" not in row.values:
        return None
    value: object = row.values["credential"]
    told: Mapping[str, object] = {}
    if isinstance(value, dict):
        told = cast(Mapping[str, object], value)
    variable = told.get("tell")
    if set(told) != {"ask", "tell"} or not isinstance(variable, str):
        raise row.refuse(
            'credential is a table such as { ask = [["gh", "auth", "token"]], tell = "GH_TOKEN" }'
        )
    return CredentialRule(_commands(row, told["ask"]), _variable(row, variable))


def _is_argv(line: object) -> bool:
    if not isinstance(line, list) or not line:
        return False
    return all(isinstance(word, str) and word for word in cast(list[object], line))


def _variables(row: RuleRow) -> tuple[str, ...]:
    return tuple(_variable(row, name) for name in row.texts("tell", []))


def _variable(row: RuleRow, name: str) -> str:
    if not _VARIABLE.fullmatch(name):
        raise row.refuse(f"tell: {name!r} is not the name of a variable")
    return name
