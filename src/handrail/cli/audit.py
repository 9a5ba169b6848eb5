"""handrail audit: show, verify."""

import asyncio
import json as json_module
from pathlib import Path
from typing import Annotated, Any

import typer

from handrail.app.audit import read_chain
from handrail.app.home import Home
from handrail.app.settings import load_settings
from handrail.cli import options
from handrail.cli.ids import short
from handrail.cli.output import console, print_json, say, table, visible
from handrail.core.audit import AuditEntry, find_break


def register(app: typer.Typer) -> None:
    group = typer.Typer(
        help="Show the record, or prove that nobody has touched it.", no_args_is_help=True
    )
    group.command("show")(show)
    group.command("verify")(verify)
    app.add_typer(group, name="audit")


def show(
    workspace: options.Workspace = Path(),
    limit: Annotated[int, typer.Option(min=1, help="How many lines, counted from the end.")] = 20,
    home: options.Home = None,
    json: options.Json = False,
) -> None:
    """Show the latest lines of the record, oldest first."""
    lines = _chain(workspace, home)[-limit:]
    if json:
        print_json([_as_json(line) for line in lines])
        return
    rows = table("line", "when", "what", "who", "about", "in which way")
    for line in lines:
        rows.add_row(
            str(line.seq),
            line.at.strftime("%d %b %H:%M:%S"),
            line.action,
            visible(short(line.actor)),
            visible(short(line.subject)),
            visible(_details(line)),
        )
    console.print(rows)
    say("[dim]Ids are shown by their ends; --json shows everything.[/]")


def verify(
    workspace: options.Workspace = Path(), home: options.Home = None, json: options.Json = False
) -> None:
    """Prove that the record is whole: every line is there and matches its hash."""
    lines = _chain(workspace, home)
    broken = find_break(lines)
    if json:
        print_json({"whole": broken is None, "lines": len(lines), "broken": broken})
    elif broken is None:
        say(f"[green]whole[/]: {len(lines):,} lines, each matching its hash")
    else:
        say(f"[red]broken[/]: {visible(broken)}")
    if broken is not None:
        raise typer.Exit(1)


def _chain(workspace: Path, home: Path | None) -> list[AuditEntry]:
    own = Home(load_settings(home=home).home)
    return asyncio.run(read_chain(own, own.get_credentials(workspace).project_id))


def _details(line: AuditEntry) -> str:
    """What a person wants to know of a line; ids and digests are left to programs."""
    known = json_module.loads(line.details)
    told = (known.get(name) for name in ("tool", "risk", "status", "scope", "reason", "error"))
    return " · ".join(str(value) for value in told if value)


def _as_json(line: AuditEntry) -> dict[str, Any]:
    return {
        "seq": line.seq, "at": line.at.isoformat(), "action": line.action, "actor": line.actor,
        "subject": line.subject, "details": line.details, "hash": line.hash,
    }  # fmt: skip
