"""handrail autonomy."""

from pathlib import Path
from typing import Annotated, Any

import typer

from handrail.cli import options
from handrail.cli.ask import ask
from handrail.cli.output import print_json, program, say, visible
from handrail.client.api import HandrailApi
from handrail.core.project import Autonomy


def register(app: typer.Typer) -> None:
    app.command("autonomy")(autonomy)


def autonomy(
    wanted: Annotated[
        Autonomy | None,
        typer.Argument(metavar="VALUE", help="The new setting; without it, the present one."),
    ] = None,
    workspace: options.Workspace = Path(),
    home: options.Home = None,
    json: options.Json = False,
) -> None:
    """Show or set what agents of this project may do without asking.

    For example: `handrail autonomy`, then `handrail autonomy read_only`.

    It counts for calls from now on. A conversation can have a setting of its own (`handrail run
    --autonomy`), and policy files can only lower it.
    """

    async def settle(api: HandrailApi) -> tuple[Any, Any]:
        if wanted is not None:
            await api.put("/autonomy", {"autonomy": wanted.value})
        return await api.get("/autonomy"), (await api.get("/policy"))["effective"]

    answer, places = ask(workspace, home, settle)
    if json:
        print_json(answer)
        return
    say(f"[bold]{answer['autonomy']}[/]: {answer['meaning']}")
    for one in places:
        if one["autonomy"] != answer["autonomy"]:
            say(f"[yellow]{visible(one['root'])}: {one['autonomy']}, because of a policy file[/]")
    if wanted is None:
        for other in (one for one in Autonomy if one != answer["autonomy"]):
            say(f"[dim]{other}: {other.meaning}[/]")
        say(f"Set it with [bold]{program()} autonomy VALUE[/].")
