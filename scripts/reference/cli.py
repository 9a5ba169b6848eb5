"""docs/reference/cli.md: every command, its arguments and its options."""

from collections.abc import Iterator
from enum import Enum
from functools import cache
from inspect import cleandoc

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

from handrail.app.settings import VARIABLES
from handrail.cli.main import COMMANDS, build_command
from scripts.reference.page import code, codes, page, paragraphs, table

Command = TyperCommand | TyperGroup

# What an option takes, where Typer says it in the words of a programmer.
_KINDS = {
    "str": "text", "int": "number", "int range": "number", "path": "path", "datetime": "moment",
}  # fmt: skip

_VARIABLES = {variable.help: variable for variable in VARIABLES}


def cli_page() -> str:
    root = build_command(None)
    return page(
        "Commands",
        paragraphs(root.help or ""),
        _options_table(root),
        "Every command explains itself with `--help`. It ends with 0 when all went well, with 1 "
        "when something did not, and says why in one line, and with 2 when its words cannot be "
        "understood. Variables of the environment are explained with the [settings](settings.md).",
        *(_section(path, command) for path, command in all_commands()),
    )


@cache
def all_commands() -> tuple[tuple[str, Command], ...]:
    """Every command and what it is called, groups before their parts."""
    found: list[tuple[str, Command]] = []
    for name in COMMANDS:
        command = build_command(name).commands[name]
        if isinstance(command, Command):
            found += _walk(f"handrail {name}", command)
    return tuple(found)


def options_of(command: Command) -> Iterator[TyperOption]:
    return (param for param in command.params if isinstance(param, TyperOption))


def _walk(path: str, command: Command) -> Iterator[tuple[str, Command]]:
    yield path, command
    for name, part in command.commands.items() if isinstance(command, TyperGroup) else ():
        if isinstance(part, Command) and not part.hidden:
            yield from _walk(f"{path} {name}", part)


def _section(path: str, command: Command) -> str:
    depth = "#" * path.count(" ")
    usage = " ".join(command.collect_usage_pieces(typer.Context(command)))
    parts = [
        f"#{depth} {path}",
        paragraphs(cleandoc(command.help or "")),
        code(f"{path} {usage}"),
        _arguments_table(command),
        _options_table(command),
    ]
    return "\n\n".join(filter(None, parts))


def _arguments_table(command: Command) -> str:
    arguments = [param for param in command.params if isinstance(param, TyperArgument)]
    return table(
        ("argument", "default", "meaning"),
        ((code(one.metavar or one.name), _default(one), one.help or "") for one in arguments),
    )


def _options_table(command: Command) -> str:
    return table(
        ("option", "takes", "default", "environment", "meaning"),
        (_option_row(option, command) for option in options_of(command)),
    )


def _option_row(option: TyperOption, command: Command) -> tuple[str, ...]:
    variable = _VARIABLES.get(option.help or "")
    default = "needed" if option.required else _default(option)
    return (
        codes(option.opts),
        _takes(option, command),
        code(variable.default) if variable and variable.default else default,
        code(variable.name) if variable else "",
        variable.meaning if variable else option.help or "",
    )


def _takes(option: TyperOption, command: Command) -> str:
    if option.is_flag:
        return ""
    shown = option.display_type_rich(typer.Context(command)) or ""
    kind = shown.strip("<>")
    words = _KINDS.get(kind) or ", ".join(code(word) for word in kind.split("|"))
    if option.min is None and option.max is None:
        return words
    most = "" if option.max is None else f" to {option.max}"
    return f"{words}, {option.min}{most or ' or more'}"


def _default(param: TyperOption | TyperArgument) -> str:
    if isinstance(param.show_default, str):
        return param.show_default
    value = param.default
    if value is None or isinstance(value, bool):
        return ""
    return code(value.value if isinstance(value, Enum) else value)
