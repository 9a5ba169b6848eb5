"""handrail trust: see which sessions are not trusted, and trust one again."""

from pathlib import Path
from typing import Annotated

import typer

from handrail.cli import options
from handrail.cli.ask import ask
from handrail.cli.ids import short
from handrail.cli.output import print_json, program, say, visible
from handrail.cli.tables import Rows

_CHANNEL = "command-line"


def register(app: typer.Typer) -> None:
    app.command("trust")(trust)


def trust(
    session: Annotated[
        str | None,
        typer.Argument(
            metavar="[SESSION]", help="The session to trust again; without it, all are listed."
        ),
    ] = None,
    workspace: options.Workspace = Path(),
    home: options.Home = None,
    json: options.Json = False,
) -> None:
    """List the sessions that read suspicious text, or trust one again.

    For example: `handrail trust`, then `handrail trust ses_01a1e854d099`.
    """
    if session is None:
        _show(workspace, home, json=json)
        return
    answer = ask(workspace, home, lambda api: api.trust_session(session, channel=_CHANNEL))
    if json:
        print_json(answer)
    elif answer["was_tainted_by"] is None:
        say(f"Session {visible(answer['session_id'])} was trusted already.")
    else:
        say(
            f"Session {visible(answer['session_id'])} is trusted again, despite "
            f"{visible(answer['was_tainted_by'])}."
        )


def _show(workspace: Path, home: Path | None, *, json: bool) -> None:
    answer = ask(workspace, home, lambda api: api.get("/chat/taints"))
    if json:
        print_json(answer)
        return
    if not answer["taints"]:
        say("No session has read text that looks like instructions to the agent.")
        return
    rows = Rows("session", "since", "because of a result of", "call")
    for one in answer["taints"]:
        rows.add_row(
            visible(one["session_id"]),
            visible(one["tainted_at"][:19].replace("T", " ")),
            visible(one["tainted_by"]),
            visible(short(one["tool_id"])),
        )
    rows.print()
    say(
        f"\nLook at the call with [bold]{program()} executions show ID[/]; if its result is "
        f"harmless, [bold]{program()} trust SESSION[/]."
    )
