"""handrail policy."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from handrail.app.policies import check_policy, show_policy
from handrail.cli import options
from handrail.cli.output import console, print_json, say, table, visible
from handrail.wire.policy import LayerView


class FileOf(StrEnum):
    OPERATOR = "operator"
    PROJECT = "project"


def register(app: typer.Typer) -> None:
    policy = typer.Typer(
        help="Show the rules that hold in this folder, or check a policy file.",
        no_args_is_help=True,
    )
    policy.command("show")(show)
    policy.command("check")(check)
    app.add_typer(policy, name="policy")


def show(
    workspace: options.Workspace = Path(), home: options.Home = None, json: options.Json = False
) -> None:
    """Show the rules that hold in this folder, and which file they come from."""
    layers = [LayerView.of(summary) for summary in show_policy(workspace, home)]
    if json:
        print_json({"layers": [layer.model_dump(mode="json") for layer in layers]})
        return
    for layer in layers:
        _say_layer(layer)


def check(
    file: Annotated[
        Path | None, typer.Argument(help="The file; else both that hold in this folder.")
    ] = None,
    of: Annotated[
        FileOf | None, typer.Option(help="Whose file it is.", show_default="told by its folder")
    ] = None,
    workspace: options.Workspace = Path(),
    home: options.Home = None,
) -> None:
    """Check that a policy file can be read and holds its own examples."""
    for checked in check_policy(file, None if of is None else of.value, workspace, home):
        say(f"[green]good[/]  {visible(checked)}")


def _say_layer(layer: LayerView) -> None:
    counts = ", ".join(f"{count} {kind}" for kind, count in layer.counts.items()) or "no rows"
    say(f"[bold]{layer.layer}[/]  {visible(layer.source)}: {counts}")
    for name, value in (("autonomy", layer.autonomy), ("unlisted", layer.unlisted)):
        if value is not None:
            say(f"  {name} = {value}")
    for note in layer.notes:
        say(f"  [yellow]{visible(note)}[/]")
    if layer.layer == "shipped" or not layer.rules:
        return
    rows = table("kind", "name", "risk", "reason")
    for rule in layer.rules:
        note = "" if rule.note is None else f"  [yellow]{visible(rule.note)}[/]"
        rows.add_row(rule.kind, visible(rule.name), rule.risk_level, visible(rule.reason) + note)
    console.print(rows)
