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
    Share.CONVERSATIONS: "every conversation with Handrail's agent, and what its calls gave back",
    Share.RESULTS: "what the calls of your other agents gave back",
    Share.MEMORIES: "every memory",
}


def register(app: typer.Typer) -> None:
    group = typer.Typer(
        help="Take along what Handrail keeps of you, or have it deleted.", no_args_is_help=True
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
    """Write everything that Handrail keeps of you as JSON lines.

    That is all your projects: conversations, calls with their results, questions and answers,
    memories, the record. It holds no token and no key.
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
    """Delete what was said and brought back, or remembered, in all your projects, for good.

    Handrail must not be running. Sessions that are emptied are stopped. What was asked for and
    decided stays in the record; `handrail uninstall` removes that as well.
    """
    named = zip(Share, (conversations, results, memories), strict=True)
    shares = {share for share, wanted in named if wanted or everything}
    if not shares:
        raise BadInput("say what: --conversations, --results, --memories or --all")
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
        raise SetupError("nobody can be asked here; say --yes to delete it")
    for share in Share:
        if share in shares:
            say(f"· {_WORDS[share]}")
    say("· every copy of the database from before an upgrade, which holds all that it held then")
    return typer.confirm("Delete this for good, in all your projects?")


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
