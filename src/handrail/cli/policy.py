"""handrail policy."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from handrail.app.policies import JudgedLine, check_policy, judge_lines, show_policy
from handrail.cli import options
from handrail.cli.output import print_json, say, visible
from handrail.cli.tables import Rows
from handrail.core.risk import RiskLevel
from handrail.wire.policy import LayerView

_COLOURS = {RiskLevel.LOW: "green", RiskLevel.FORBIDDEN: "red"}


class FileOf(StrEnum):
    OPERATOR = "operator"
    PROJECT = "project"


def register(app: typer.Typer) -> None:
    policy = typer.Typer(
        help="Show the rules for this folder, check a policy file, or test commands.",
        no_args_is_help=True,
    )
    policy.command("show")(show)
    policy.command("check")(check)
    policy.command("test")(try_lines)
    app.add_typer(policy, name="policy")


def show(
    workspace: options.Workspace = Path(), home: options.Home = None, json: options.Json = False
) -> None:
    """Show the rules for this folder, and the file that each comes from.

    For example: `handrail policy show`
    """
    layers = [LayerView.of(summary) for summary in show_policy(workspace, home)]
    if json:
        print_json({"layers": [layer.model_dump(mode="json") for layer in layers]})
        return
    for layer in layers:
        _say_layer(layer)


def check(
    file: Annotated[
        Path | None, typer.Argument(help="The file; without it, both files for this folder.")
    ] = None,
    of: Annotated[
        FileOf | None, typer.Option(help="Whose file it is.", show_default="from its folder")
    ] = None,
    workspace: options.Workspace = Path(),
    home: options.Home = None,
) -> None:
    """Check that a policy file is valid and agrees with its own examples.

    For example: `handrail policy check .handrail/policy.toml`
    """
    good = check_policy(file, None if of is None else of.value, workspace, home)
    for checked in good:
        say(f"[green]good[/]  {visible(checked.path)}")
        for name in checked.stray:
            say(f"      [yellow]there is no tool called {visible(repr(name))}, so that row does"
                " nothing; `handrail tools` lists them[/]")  # fmt: skip
    if not good:
        say(
            "There is no policy file for this folder, only the rules that come with Handrail: "
            "`handrail policy show`."
        )


def try_lines(
    lines: Annotated[
        list[str] | None, typer.Argument(help="Command lines, each in quotes.")
    ] = None,
    file: Annotated[
        Path | None, typer.Option(help="A file of command lines, one per line.")
    ] = None,
    workspace: options.Workspace = Path(),
    home: options.Home = None,
    json: options.Json = False,
) -> None:
    """Show how risky commands are, in which sandbox they run, and why.

    For example: `handrail policy test "rg -n main src" "sort -o b a"`
    """
    if not lines and file is None:
        raise typer.BadParameter("give command lines, each in quotes, or a --file of them")
    judged = judge_lines(lines or [], file, workspace, home)
    if json:
        print_json({"lines": [_as_json(one) for one in judged]})
        return
    for one in judged:
        colour = _COLOURS.get(one.risk, "yellow")
        box = "refused" if one.profile is None else one.profile
        say(f"[{colour}]{one.risk.name:9}[/]  {box:7}  {visible(one.line)}")
        for reason in one.reasons:
            say(f"    {visible(reason)}")


def _as_json(one: JudgedLine) -> dict[str, object]:
    return {
        "line": one.line,
        "risk": one.risk.name,
        "profile": one.profile,
        "argv": one.argv,
        "reasons": one.reasons,
    }


def _say_layer(layer: LayerView) -> None:
    counts = ", ".join(f"{count} {kind}" for kind, count in layer.counts.items()) or "no rows"
    say(f"[bold]{layer.layer}[/]  {visible(layer.source)}: {counts}")
    settings = {"autonomy": layer.autonomy, "unlisted": layer.unlisted}
    for name, value in settings.items():
        if value:
            say(f"  {name} = {value}")
    for note in layer.notes:
        say(f"  [yellow]{visible(note)}[/]")
    if layer.layer == "shipped" or not layer.rules:
        return
    rows = Rows("kind", "name", "risk", "reason")
    for rule in layer.rules:
        note = "" if rule.note is None else f"  [yellow]{visible(rule.note)}[/]"
        rows.add_row(rule.kind, visible(rule.name), rule.risk_level, visible(rule.reason) + note)
    rows.print()
