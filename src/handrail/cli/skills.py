"""handrail skills."""

from pathlib import Path

import typer

from handrail.cli import options
from handrail.cli.ask import ask
from handrail.cli.output import print_json, remark, visible
from handrail.cli.tables import Rows


def register(app: typer.Typer) -> None:
    app.command("skills")(skills)


def skills(
    workspace: options.Workspace = Path(), home: options.Home = None, json: options.Json = False
) -> None:
    """List the skills that an agent can load: yours, and those that come with Handrail.

    For example: `handrail skills`
    """
    answer = ask(workspace, home, lambda api: api.get("/skills"))
    if json:
        print_json(answer)
        return
    rows = Rows("name", "whose", "what for")
    for one in answer["skills"]:
        whose = "built in" if one["builtin"] else "yours"
        rows.add_row(visible(one["name"]), whose, visible(one["description"]))
    rows.print()
    for warning in answer["warnings"]:
        remark(f"[yellow]{visible(warning)}[/]")
