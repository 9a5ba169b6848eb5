"""handrail data: export, delete."""

import asyncio
import sys
from pathlib import Path
from typing import Annotated

import typer

from handrail.app.home import Home
from handrail.app.own_data import Deleted, Share, delete_own_data, export_own_data, find_person
from handrail.app.settings import load_settings
from handrail.cli import options
from handrail.cli.audit_export import opened
from handrail.cli.output import many, print_json, remark, say, visible
from handrail.core.errors import BadInput, SetupError

_WORDS = {
    Share.CONVERSATIONS: "every conversation with Handrail's agent, and the results of its calls",
    Share.RESULTS: "the results of the calls of your other agents",
    Share.MEMORIES: "every memory",
}


def register(app: typer.Typer) -> None:
    group = typer.Typer(
        help="Export or delete the data that Handrail stores about you.", no_args_is_help=True
    )
    group.command("export")(export)
    group.command("delete")(delete)
    app.add_typer(group, name="data")


def export(
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="The file to write.", show_default="standard output"),
    ] = None,
    workspace: options.Workspace = Path(),
    home: options.Home = None,
) -> None:
    """Export everything that Handrail stores about you, as JSON lines.

    For example: `handrail data export --output my-data.jsonl`

    It covers all your projects: conversations, calls with their results, questions and answers,
    memories and the audit log. It contains no tokens and no keys.
    """
    own = Home(load_settings(home=home).home)
    person = asyncio.run(find_person(own, own.get_credentials(workspace).project_id))
    with opened(output) as stream:
        written = export_own_data(own, person.user_id, stream)
    if output is not None:
        counted = ", ".join(f"{kind} {number:,}" for kind, number in written.items())
        remark(f"{written.total():,} lines are in {visible(output)}: {counted}")


def delete(
    conversations: Annotated[
        bool, typer.Option("--conversations", help=f"Delete {_WORDS[Share.CONVERSATIONS]}.")
    ] = False,
    results: Annotated[
        bool, typer.Option("--results", help=f"Delete {_WORDS[Share.RESULTS]}.")
    ] = False,
    memories: Annotated[
        bool, typer.Option("--memories", help=f"Delete {_WORDS[Share.MEMORIES]}.")
    ] = False,
    everything: Annotated[bool, typer.Option("--all", help="Delete all of these.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Delete it without asking.")] = False,
    workspace: options.Workspace = Path(),
    home: options.Home = None,
    json: options.Json = False,
) -> None:
    """Delete conversations, results or memories permanently, in all your projects.

    For example: `handrail data delete --conversations`

    Handrail must not be running. Sessions whose content is deleted are stopped. The audit log keeps
    what was asked and decided; `handrail uninstall` removes that too.
    """
    named = zip(Share, (conversations, results, memories), strict=True)
    shares = {share for share, wanted in named if wanted or everything}
    if not shares:
        raise BadInput("choose what to delete: --conversations, --results, --memories or --all")
    own = Home(load_settings(home=home).home)
    with own.at_rest():
        pass  # Whether something runs is said before anybody is asked.
    person = asyncio.run(find_person(own, own.get_credentials(workspace).project_id))
    if not (yes or _agree(shares, json=json)):
        say("Nothing was deleted.")
        return
    deleted = asyncio.run(delete_own_data(own, person, shares))
    if json:
        print_json(
            {
                "sessions": deleted.sessions,
                "memories": deleted.memories,
                "copies": deleted.copies,
                "left": deleted.left,
            }
        )
    else:
        _tell(deleted)
    if deleted.left:
        raise typer.Exit(1)


def _agree(shares: set[Share], *, json: bool) -> bool:
    if json or not sys.stdin.isatty():
        raise SetupError("there is no terminal to ask at; use --yes to delete it")
    for share in Share:
        if share in shares:
            say(f"· {_WORDS[share]}")
    say("· every copy of the database from before an upgrade, with everything in it")
    return typer.confirm("Delete this permanently, in all your projects?")


def _tell(deleted: Deleted) -> None:
    emptied, forgot = (
        many(deleted.sessions, "session"),
        many(deleted.memories, "memory", "memories"),
    )
    say(f"Emptied {emptied}, forgot {forgot}.")
    if deleted.copies:
        copies = many(deleted.copies, "copy", "copies")
        say(f"Removed {copies} of the database from before an upgrade.")
    if deleted.left:
        named = ", ".join(map(visible, deleted.left))
        say(
            f"[yellow]Left as they were, because a call in them has not ended:[/] {named}. "
            "Start Handrail, let it end or stop the session, and delete again."
        )
