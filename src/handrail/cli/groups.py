"""Commands that do something by themselves, and more with a word behind them."""

import inspect
from collections.abc import Callable
from typing import Any

import typer

Command = Callable[..., Any]


def add_group(app: typer.Typer, name: str, alone: Command, commands: dict[str, Command]) -> None:
    """`handrail NAME` is `alone`, which is also called before each of the commands below it.

    It lists something, so people type `handrail NAME list` as well.
    """
    summary = inspect.cleandoc(alone.__doc__ or "").partition("\n")[0]
    group = typer.Typer(help=summary, invoke_without_command=True, no_args_is_help=False)
    group.callback()(alone)
    if "list" not in commands:
        group.command("list", hidden=True)(alone)
    for word, command in commands.items():
        group.command(word)(command)
    app.add_typer(group, name=name)
