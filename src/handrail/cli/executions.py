"""handrail executions."""

from pathlib import Path
from typing import Annotated

import typer

from handrail.cli import options
from handrail.cli.ask import ask
from handrail.cli.output import console, print_json, say, status, table, visible


def register(app: typer.Typer) -> None:
    app.command("executions")(executions)


def executions(
    workspace: options.Workspace = Path(),
    limit: Annotated[int, typer.Option(min=1, max=1000, help="How many to list.")] = 20,
    home: options.Home = None,
    json: options.Json = False,
) -> None:
    """List the latest calls and what became of them."""
    answer = ask(workspace, home, lambda api: api.get("/tools/executions", limit=limit))
    if json:
        print_json(answer)
        return
    if not answer["executions"]:
        say("No calls yet. `handrail tour` makes some.")
        return
    rows = table("when", "tool", "risk", "status", "what")
    for one in answer["executions"]:
        what = one["error"] or ", ".join(f"{k}={v}" for k, v in one["tool_params"].items() if v)
        rows.add_row(
            one["created_at"][11:19],
            visible(one["tool_name"]),
            one["risk_level"],
            status(one["status"]),
            visible(what),
        )
    console.print(rows)
