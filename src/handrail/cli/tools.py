"""handrail tools."""

from dataclasses import asdict
from pathlib import Path

import typer

from handrail.app.plugins import load_toolbox
from handrail.cli import options
from handrail.cli.ask import ask
from handrail.cli.output import print_json, say, visible
from handrail.cli.tables import Rows


def register(app: typer.Typer) -> None:
    app.command("tools")(tools)


def tools(
    workspace: options.Workspace = Path(), home: options.Home = None, json: options.Json = False
) -> None:
    """List the tools an agent may ask for.

    Tools come from installed packages too: one that cannot be used on this machine is named with
    the reason.
    """
    answer = ask(workspace, home, lambda api: api.get("/tools/available"))
    here = load_toolbox()
    missing = [tool["name"] for tool in answer["tools"] if here.registry.find(tool["name"]) is None]
    if json:
        left_out = [asdict(one) for one in here.left_out]
        print_json({**answer, "missing_here": missing, "left_out": left_out})
        return
    rows = Rows("tool", "risk", "what it does")
    for tool in answer["tools"]:
        name, risk = tool["name"], here.risk_of(tool["name"], tool["risk_level"])
        rows.add_row(visible(name), visible(risk), visible(tool["description"]))
    rows.print()
    for name in missing:
        say(f"[yellow]not on this machine[/]  {visible(name)}: the server has it, this machine not")
    for one in here.left_out:
        what = f"{one.entry_point} of {one.package}"
        say(f"[yellow]left out[/]  {visible(what)}: {visible(one.reason)}")
