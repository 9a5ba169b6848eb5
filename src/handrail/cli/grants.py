"""handrail grants: list, revoke."""

from pathlib import Path
from typing import Annotated, Any

import typer

from handrail.cli import options
from handrail.cli.ask import ask
from handrail.cli.groups import add_group
from handrail.cli.ids import find_by_end, short
from handrail.cli.output import print_json, say, visible
from handrail.cli.tables import Rows
from handrail.client.api import HandrailApi


def register(app: typer.Typer) -> None:
    add_group(app, "grants", grants, {"revoke": revoke})


def grants(
    context: typer.Context,
    workspace: options.Workspace = Path(),
    home: options.Home = None,
    json: options.Json = False,
) -> None:
    """List the standing answers you have given, or take one back."""
    if context.invoked_subcommand is not None:
        return
    answer = ask(workspace, home, lambda api: api.get("/grants"))
    if json:
        print_json(answer)
        return
    if not answer["grants"]:
        say("There are no grants: every call that needs a person is asked about.")
        return
    rows = Rows("id", "session", "lets pass", "up to", "uses left", "until")
    for one in answer["grants"]:
        uses = one["uses_left"]
        rows.add_row(
            visible(short(one["grant_id"])),
            visible(one["session_id"]),
            visible(one["words"]),
            visible(one["max_risk"]),
            "any number" if uses is None else str(uses),
            visible((one["expires_at"] or "the session ends")[:19]),
        )
    rows.print()


def revoke(
    grant: Annotated[str, typer.Argument(metavar="ID", help="The grant, or the end of its id.")],
    workspace: options.Workspace = Path(),
    home: options.Home = None,
    json: options.Json = False,
) -> None:
    """Take a grant back; what asks from now on is put to you again."""

    async def take_back(api: HandrailApi) -> Any:
        found = (await api.get("/grants"))["grants"]
        fitting = find_by_end(found, "grant_id", grant, "grant")
        return await api.delete(f"/grants/{fitting['grant_id']}")

    answer = ask(workspace, home, take_back)
    if json:
        print_json(answer)
    else:
        say(f"{visible(answer['words'])}: asked about again from now on")
