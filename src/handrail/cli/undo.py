"""handrail undo: bring back the files that calls have changed."""

import sys
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote

import typer

from handrail.cli import options
from handrail.cli.ask import ask
from handrail.cli.ids import find_by_end, short
from handrail.cli.output import print_json, program, say, visible
from handrail.cli.tables import Rows, say_indented
from handrail.client.api import HandrailApi
from handrail.core.errors import BadInput, SetupError

_CHANNEL = "command-line"
_MOST_FILES = 5


def register(app: typer.Typer) -> None:
    app.command("undo")(undo)


def undo(
    call: Annotated[
        str | None,
        typer.Argument(metavar="[CALL]", help="The id of the call, or the end of it."),
    ] = None,
    workspace: options.Workspace = Path(),
    session: Annotated[
        str | None,
        typer.Option(
            metavar="SESSION", help="Undo all calls of this session instead, the last one first."
        ),
    ] = None,
    yes: Annotated[
        bool, typer.Option("--yes", help="Undo a session without showing its files and asking.")
    ] = False,
    home: options.Home = None,
    json: options.Json = False,
) -> None:
    """Bring back the files that a call or a session has changed.

    For example: `handrail undo`, then `handrail undo 3f9c21ab` or `handrail undo --session demo`.

    Writes of files and commands that were rehearsed can be undone for a day. Commands that ran
    outside a rehearsal cannot. If you changed one of the files since, nothing of the call is
    undone. Without arguments, the calls that can be undone are listed.
    """
    if call is not None and session is not None:
        raise BadInput("give either a call or --session, not both")
    if session is not None:
        _undo_session(session, workspace, home, yes=yes, json=json)
    elif call is not None:
        _tell(ask(workspace, home, lambda api: _undo_call(api, call)), json=json)
    else:
        _list(ask(workspace, home, lambda api: api.get("/undo")), json=json)


async def _undo_call(api: HandrailApi, wanted: str) -> dict[str, Any]:
    if not wanted.startswith("exe_"):
        latest = await api.get("/tools/executions", limit=1000)
        wanted = find_by_end(latest["executions"], "tool_id", wanted, "call")["tool_id"]
    return await api.post(f"/tools/{quote(wanted, safe='')}/undo", {"channel": _CHANNEL})


def _undo_session(
    session: str, workspace: Path, home: Path | None, *, yes: bool, json: bool
) -> None:
    if not yes:
        if json or not sys.stdin.isatty():
            raise SetupError("there is no terminal to ask at; use --yes to undo the session")
        listed = ask(workspace, home, lambda api: api.get("/undo", session_id=session))
        left = [one for one in listed["calls"] if one["can_undo"]]
        if left:
            say("These calls are undone, in this order:")
            _show(left)
            typer.confirm("Undo them?", abort=True)
    address = f"/chat/sessions/{quote(session, safe='')}/undo"
    answer = ask(workspace, home, lambda api: api.post(address, {"channel": _CHANNEL}))
    _tell(answer, json=json)


def _tell(answer: dict[str, Any], *, json: bool) -> None:
    if json:
        print_json(answer)
    else:
        for one in answer["calls"]:
            say(f"{visible(short(one['tool_id']))}  {visible(_outcome(one))}")
    if not answer["success"]:
        raise typer.Exit(1)


def _outcome(one: dict[str, Any]) -> str:
    files = _files(one)
    match one["status"]:
        case "undone":
            return f"undone: {files}" if files else "undone"
        case "undone_before":
            when = one["undone_at"][:16].replace("T", " ")
            return f"was undone before, by {one['undone_by']} at {when}"
        case _:
            return f"not undone: {one['reason']}"


def _list(answer: dict[str, Any], *, json: bool) -> None:
    if json:
        print_json(answer)
        return
    left = [one for one in answer["calls"] if one["can_undo"]]
    if not left:
        say("No call has changed a file in a way that can be undone.")
        return
    _show(left)
    say(
        f"\nUndo one with [bold]{program()} undo ID[/], or all of a session with "
        f"[bold]{program()} undo --session SESSION[/]."
    )


def _show(calls: list[dict[str, Any]]) -> None:
    rows = Rows("id", "ended", "tool", "session")
    for one in calls:
        rows.add_row(
            visible(short(one["tool_id"])),
            visible((one["completed_at"] or "")[5:16].replace("T", " ")),
            visible(one["tool_name"]),
            visible(one["session_id"]),
        )
    rows.print()
    say("\nTheir files:")
    for one in calls:
        say_indented(visible(f"{short(one['tool_id'])}  {_files(one)}"), 2)


def _files(one: dict[str, Any]) -> str:
    files = one["files"]
    more = f" and {len(files) - _MOST_FILES:,} more" if len(files) > _MOST_FILES else ""
    return ", ".join(files[:_MOST_FILES]) + more
