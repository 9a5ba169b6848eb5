"""handrail executions."""

from pathlib import Path
from typing import Annotated, Any

import typer

from handrail.cli import options
from handrail.cli.ask import ask
from handrail.cli.output import console, in_short, print_json, say, status, table, visible


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
    rows = table("id", "when", "tool", "risk", "status", "what")
    for one in answer["executions"]:
        rows.add_row(
            one["tool_id"][-8:],
            one["created_at"][:16].replace("T", " "),
            visible(one["tool_name"]),
            one["risk_level"],
            status(one["status"]),
            visible(_what(one)),
        )
    console.print(rows)


def _what(one: dict[str, Any]) -> str:
    asked = " ".join(f"{name}={in_short(value)}" for name, value in one["tool_params"].items())
    return f"{asked}: {one['error']}" if one["error"] else asked
