"""handrail skills."""

from pathlib import Path

import typer

from handrail.cli import options
from handrail.cli.ask import ask
from handrail.cli.output import console, print_json, remark, table, visible


def register(app: typer.Typer) -> None:
    app.command("skills")(skills)


def skills(
    workspace: options.Workspace = Path(), home: options.Home = None, json: options.Json = False
) -> None:
    """List the skills an agent can load: yours, and those that come with Handrail."""
    answer = ask(workspace, home, lambda api: api.get("/skills"))
    if json:
        print_json(answer)
        return
    rows = table("name", "whose", "what for")
    for one in answer["skills"]:
        whose = "built in" if one["builtin"] else "yours"
        rows.add_row(visible(one["name"]), whose, visible(one["description"]))
    console.print(rows)
    for warning in answer["warnings"]:
        remark(f"[yellow]{visible(warning)}[/]")
