"""handrail audit: show, verify, export, key."""

import asyncio
import json as json_module
import re
from pathlib import Path
from typing import Annotated, Any

import typer

from handrail.app.audit import Verification, public_key, read_latest, verify_pages
from handrail.app.audit import verify as prove
from handrail.app.audit_export import verify_export
from handrail.app.home import Home
from handrail.app.settings import load_settings
from handrail.cli import audit_export, options
from handrail.cli.ids import short
from handrail.cli.output import complain, many, print_json, say, visible
from handrail.cli.tables import Rows
from handrail.core.audit import AuditEntry
from handrail.core.checkpoint import short_key
from handrail.core.errors import BadInput, SetupError
from handrail.core.restoration import Restoration

_USAGE = 2


def register(app: typer.Typer) -> None:
    group = typer.Typer(
        help="Show the audit log, or prove that it was not changed.", no_args_is_help=True
    )
    group.command("show")(show)
    group.command("verify")(verify)
    group.command("export")(audit_export.export)
    group.command("key")(key)
    app.add_typer(group, name="audit")


def show(
    workspace: options.Workspace = Path(),
    limit: Annotated[int, typer.Option(min=1, help="How many of the latest lines to show.")] = 20,
    home: options.Home = None,
    json: options.Json = False,
) -> None:
    """Show the latest lines of the audit log, oldest first.

    For example: `handrail audit show --limit 50`
    """
    own = Home(load_settings(home=home).home)
    lines = asyncio.run(read_latest(own, own.get_credentials(workspace).project_id, limit))
    if json:
        print_json([_as_json(line) for line in lines])
        return
    rows = Rows("line", "when", "what", "who", "about", "in which way")
    for line in lines:
        rows.add_row(
            str(line.seq),
            line.at.strftime("%d %b %H:%M:%S"),
            visible(line.action),
            visible(short(line.actor)),
            visible(short(line.subject)),
            visible(_details(line)),
        )
    rows.print()
    say("[dim]Ids are shown by their ends; --json shows everything.[/]")


def verify(
    workspace: options.Workspace = Path(),
    file: Annotated[
        Path | None,
        typer.Option("--file", help="Verify an exported file, without a database.", dir_okay=False),
    ] = None,
    trusted: Annotated[
        str | None,
        typer.Option("--key", help="The public key that you trust; `audit key` shows yours."),
    ] = None,
    home: options.Home = None,
    json: options.Json = False,
) -> None:
    """Verify that the audit log is complete, unchanged and sealed.

    For example: `handrail audit verify`

    The exit code is 0 if it is, 1 if it is broken, and 2 if there is nothing to verify.
    """
    if trusted is not None and not re.fullmatch(r"[0-9a-f]{64}", trusted):
        raise typer.BadParameter("a public key has 64 hexadecimal digits", param_hint="--key")
    try:
        after, found = (
            _verify_file(file, trusted) if file else _verify_own(workspace, home, trusted)
        )
    except (SetupError, BadInput) as error:
        complain(error)
        raise typer.Exit(_USAGE) from error
    if json:
        print_json(_in_json(after, found))
    elif found.broken is None:
        say(f"[green]whole[/]: {_in_words(after, found)}")
        for restored in found.restorations:
            say(_restored_in_words(restored))
    else:
        say(f"[red]broken[/]: {visible(found.broken)}")
    if file is not None and trusted is None and found.broken is None and not json:
        say(f"[dim]It is signed with {found.key}; compare that with the key you wrote down.[/]")
    if found.broken is not None:
        raise typer.Exit(1)


def key(home: options.Home = None, json: options.Json = False) -> None:
    """Show the public key that seals your audit logs.

    For example: `handrail audit key`

    Write it down elsewhere: with it, `audit verify --key` needs to trust nothing on this machine.
    """
    own = Home(load_settings(home=home).home)
    public = public_key(own)
    if public is None:
        raise SetupError(f"there is no {own.audit_key} yet; `handrail up` creates one")
    if json:
        print_json({"key": public, "file": str(own.audit_key)})
    else:
        typer.echo(public)


def _verify_own(
    workspace: Path, home: Path | None, trusted: str | None
) -> tuple[int, Verification]:
    own = Home(load_settings(home=home).home)
    project_id = own.get_credentials(workspace).project_id
    if (damage := asyncio.run(verify_pages(own))) is not None:
        return 0, Verification(0, None, trusted, damage)
    with audit_export.progress_by_page() as on_page:
        return 0, asyncio.run(prove(own, project_id, trusted, on_page))


def _verify_file(file: Path, trusted: str | None) -> tuple[int, Verification]:
    try:
        with file.open(encoding="utf-8", errors="backslashreplace") as lines:
            proof = verify_export(lines, trusted)
    except OSError as error:
        raise SetupError(f"{file} cannot be read: {error.strerror}") from error
    return proof.after, proof.found


def _in_words(after: int, found: Verification) -> str:
    lines = found.lines - after
    words = f"{lines:,} {'line' if lines == 1 else 'lines'}, each matching its hash"
    if after:
        words += f", from line {after + 1:,} on"
    if found.last_checkpoint is None:
        return f"{words}; not sealed yet: the server seals the log when it starts"
    sealed = found.last_checkpoint
    return f"{words}; sealed up to line {sealed.seq:,} with key {short_key(sealed.key)}"


def _restored_in_words(restored: Restoration) -> str:
    words = f"restored from a backup of {restored.backed_up_at:%d %b %Y %H:%M:%S} UTC"
    words += f" at line {restored.seq + 1:,}"
    if not restored.lines_left:
        return words
    are = "is" if restored.lines_left == 1 else "are"
    lines = many(restored.lines_left, "line")
    return f"{words}; {lines} written after the backup {are} not in this chain"


def _in_json(after: int, found: Verification) -> dict[str, Any]:
    sealed = found.last_checkpoint
    return {
        "whole": found.broken is None,
        "lines": found.lines - after,
        "after": after,
        "sealed_through": None if sealed is None else sealed.seq,
        "checkpoint": None if sealed is None else sealed.number,
        "key": found.key,
        "broken": found.broken,
        "restored": [
            {
                "line": restored.seq + 1,
                "backed_up_at": restored.backed_up_at.isoformat(),
                "lines_left": restored.lines_left,
            }
            for restored in found.restorations
        ],
    }


def _details(line: AuditEntry) -> str:
    """What a person wants to know of a line; ids and digests are left to programs."""
    known = json_module.loads(line.details)
    told = (
        known.get(name) for name in ("tool", "risk", "status", "by", "scope", "reason", "error")
    )
    return " · ".join(str(value) for value in told if value)


def _as_json(line: AuditEntry) -> dict[str, Any]:
    return {
        "seq": line.seq, "at": line.at.isoformat(), "action": line.action, "actor": line.actor,
        "subject": line.subject, "details": line.details, "hash": line.hash,
    }  # fmt: skip
