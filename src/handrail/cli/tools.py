"""handrail tools."""

from pathlib import Path

import typer

from handrail.cli import options
from handrail.cli.ask import ask
from handrail.cli.output import console, print_json, table, visible


def register(app: typer.Typer) -> None:
    app.command("tools")(tools)


def tools(
    workspace: options.Workspace = Path(), home: options.Home = None, json: options.Json = False
) -> None:
    """List the tools an agent may ask for."""
    answer = ask(workspace, home, lambda api: api.get("/tools/available"))
    if json:
        print_json(answer)
        return
    rows = table("tool", "risk", "what it does")
    for tool in answer["tools"]:
        rows.add_row(tool["name"], tool["risk_level"], visible(tool["description"]))
    console.print(rows)
