"""handrail tools."""

from dataclasses import asdict
from pathlib import Path

import typer

from handrail.app.home import Home
from handrail.app.plugins import load_toolbox
from handrail.app.settings import load_settings
from handrail.cli import options
from handrail.cli.ask import ask
from handrail.cli.output import print_json, say, visible
from handrail.cli.tables import Rows


def register(app: typer.Typer) -> None:
    app.command("tools")(tools)


def tools(
    workspace: options.Workspace = Path(), home: options.Home = None, json: options.Json = False
) -> None:
    """List the tools that agents can call.

    For example: `handrail tools`

    Tools also come from installed packages and from files in the `tools` folder of the home. Those
    that cannot be used on this machine are listed with the reason.
    """
    answer = ask(workspace, home, lambda api: api.get("/tools/available"))
    here = load_toolbox(Home(load_settings(home=home).home).tools)
    missing = [tool["name"] for tool in answer["tools"] if here.registry.find(tool["name"]) is None]
    for tool in answer["tools"]:
        tool["origin"] = here.origin_of(tool["name"]) or "server"
    if json:
        left_out = [asdict(one) for one in here.left_out]
        print_json({**answer, "missing_here": missing, "left_out": left_out})
        return
    rows = Rows("tool", "risk", "from", "what it does")
    for tool in answer["tools"]:
        name, risk = tool["name"], here.risk_of(tool["name"], tool["risk_level"])
        origin = visible(tool["origin"])
        rows.add_row(visible(name), visible(risk), origin, visible(tool["description"]))
    rows.print()
    for name in missing:
        say(
            f"[yellow]not on this machine[/]  {visible(name)}: the server has it, this "
            "machine does not"
        )
    for one in here.left_out:
        say(f"[yellow]not loaded[/]  {visible(one.origin)}: {visible(one.reason)}")
