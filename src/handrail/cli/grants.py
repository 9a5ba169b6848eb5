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
from handrail.core.grant import Scope
from handrail.core.names import name_or_id


def register(app: typer.Typer) -> None:
    add_group(app, "grants", grants, {"revoke": revoke})


def grants(
    context: typer.Context,
    workspace: options.Workspace = Path(),
    list_all: Annotated[
        bool, typer.Option("--all", help="List those of idle sessions too.")
    ] = False,
    home: options.Home = None,
    json: options.Json = False,
) -> None:
    """List the approvals that cover further calls, or revoke one.

    For example: `handrail grants`, then `handrail grants revoke 3f9c21ab`.

    A grant covers calls of one session, or of one agent in every session of the project. Those of
    sessions without a call in the last 12 hours are listed only with --all.
    """
    if context.invoked_subcommand is not None:
        return
    answer = ask(workspace, home, lambda api: api.get("/grants"))
    if json:
        print_json(answer)
        return
    if not answer["grants"]:
        say("There are no grants: you are asked about every call that needs approval.")
        return
    shown = [one for one in answer["grants"] if list_all or not one["idle"]]
    if shown:
        _list(shown)
    if hidden := len(answer["grants"]) - len(shown):
        were = "grant is of an idle session" if hidden == 1 else "grants are of idle sessions"
        say(f"[yellow]{hidden:,} {were};[/] --all lists all of them.")


def _list(shown: list[dict[str, Any]]) -> None:
    rows = Rows("id", "agent", "where", "covers", "highest risk", "uses left", "until")
    for one in shown:
        uses = one["uses_left"]
        where = "every session" if one["scope"] == Scope.PROJECT else one["session_id"]
        rows.add_row(
            visible(short(one["grant_id"])),
            visible(name_or_id(one["agent_name"], one["agent_id"] or "")),
            visible(where),
            visible(one["words"]),
            visible(one["max_risk"]),
            "any number" if uses is None else str(uses),
            visible((one["expires_at"] or "the session ends")[:19]),
        )
    rows.print()


def revoke(
    grant: Annotated[
        str, typer.Argument(metavar="ID", help="The id of the grant, or the end of it.")
    ],
    workspace: options.Workspace = Path(),
    home: options.Home = None,
    json: options.Json = False,
) -> None:
    """Revoke a grant: calls that it covered need your approval again."""

    async def take_back(api: HandrailApi) -> Any:
        found = (await api.get("/grants"))["grants"]
        fitting = find_by_end(found, "grant_id", grant, "grant")
        return await api.delete(f"/grants/{fitting['grant_id']}")

    answer = ask(workspace, home, take_back)
    if json:
        print_json(answer)
    else:
        say(f"{visible(answer['words'])}: revoked; you are asked again")
