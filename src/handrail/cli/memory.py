"""handrail memory: list, forget, export."""

import json as json_text
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated
from urllib.parse import quote

import typer

from handrail.cli import options
from handrail.cli.ask import ask
from handrail.cli.groups import add_group
from handrail.cli.output import in_short, many, print_json, remark, say, visible
from handrail.cli.tables import Rows
from handrail.core.errors import BadInput
from handrail.core.memory import MOST_MEMORIES

_SHOWN_CHARS = 80
_LISTED = 100

Category = Annotated[str | None, typer.Option("--category", help="Only memories of this category.")]


def register(app: typer.Typer) -> None:
    add_group(app, "memory", memory, {"list": list_memories, "forget": forget, "export": export})


def memory(
    context: typer.Context,
    workspace: options.Workspace = Path(),
    home: options.Home = None,
    json: options.Json = False,
) -> None:
    """List, export or delete what agents remember for you."""
    if context.invoked_subcommand is None:
        list_memories(None, workspace, None, _LISTED, home, json=json)


def list_memories(
    query: Annotated[
        str | None, typer.Argument(metavar="WORDS", help="Only memories that match these words.")
    ] = None,
    workspace: options.Workspace = Path(),
    category: Category = None,
    limit: Annotated[
        int, typer.Option(min=1, max=MOST_MEMORIES, help="How many to list.")
    ] = _LISTED,
    home: options.Home = None,
    json: options.Json = False,
) -> None:
    """List the latest memories, or those that match some words.

    For example: `handrail memory list "test database"`
    """
    asked = {"q": query, "category": category}
    wanted = {name: value for name, value in asked.items() if value}
    answer = ask(workspace, home, lambda api: api.get("/memory", limit=limit, **wanted))
    if json:
        print_json(answer)
        return
    if not answer["memories"]:
        say("No memory matches." if wanted else "There are no memories yet.")
    else:
        rows = Rows("key", "category", "changed", "what")
        for one in answer["memories"]:
            mark = "[yellow]untrusted[/] " if one["tainted"] else ""
            rows.add_row(
                visible(one["key"]),
                visible(one["category"]),
                visible(one["updated_at"][:10]),
                mark + visible(in_short(one["content"], _SHOWN_CHARS)),
            )
        rows.print()
    if answer["words_alone"]:
        remark(f"[dim]Memories are searched by words only: {visible(answer['words_alone'])}[/]")


def forget(
    key: Annotated[str, typer.Argument(metavar="KEY", help="The exact key of the memory.")],
    workspace: options.Workspace = Path(),
    home: options.Home = None,
    json: options.Json = False,
) -> None:
    """Delete one memory permanently.

    For example: `handrail memory forget project.database`
    """
    address = f"/memory/{quote(key, safe='')}"
    answer = ask(workspace, home, lambda api: api.delete(address))
    if json:
        print_json(answer)
    else:
        say(f"{visible(answer['key'])}: deleted")


def export(
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write to a new file that only you can read."),
    ] = None,
    workspace: options.Workspace = Path(),
    category: Category = None,
    home: options.Home = None,
) -> None:
    """Export all memories as JSON.

    For example: `handrail memory export --output memories.json`
    """
    wanted = {"category": category} if category else {}
    answer = ask(workspace, home, lambda api: api.get("/memory", limit=MOST_MEMORIES, **wanted))
    document = {"exported_at": datetime.now(UTC).isoformat(), "memories": answer["memories"]}
    if output is None:
        print_json(document)
        return
    try:
        output.touch(mode=0o600, exist_ok=False)
        output.write_text(json_text.dumps(document, indent=2) + "\n", encoding="utf-8")
    except OSError as error:
        raise BadInput(f"{output} cannot be written: {error.strerror}") from error
    number = len(answer["memories"])
    told = many(number, "memory is", "memories are")
    say(f"{told} in {visible(output)}")
