"""handrail backup."""

from pathlib import Path
from typing import Annotated

import typer

from handrail.app.backup.make import Made, make_backup
from handrail.app.home import Home
from handrail.app.settings import load_settings
from handrail.cli import options
from handrail.cli.output import many, print_json, remark, say, visible
from handrail.cli.progress import progress


def register(app: typer.Typer) -> None:
    app.command("backup")(backup)


def backup(
    file: Annotated[
        Path | None,
        typer.Argument(
            help="The file to write.", show_default="backups/handrail-TIME.tar in Handrail's folder"
        ),
    ] = None,
    home: options.Home = None,
    json: options.Json = False,
) -> None:
    """Write a backup of everything the server stores; it may keep running.

    For example: `handrail backup ~/backups/handrail.tar`

    The backup holds the database, large results, the audit checkpoints, the private audit key,
    policy.toml, config.toml and your skills. It holds no token and no provider key in clear text.
    It is not encrypted; only you can read the file. What was written is read back and verified.
    """
    with progress() as show:
        made = make_backup(Home(load_settings(home=home).home), file, show)
    if json:
        print_json(_as_json(made))
    else:
        _tell(made)


def _tell(made: Made) -> None:
    manifest = made.manifest
    projects = many(len(manifest.projects), "project")
    lines = many(sum(one.lines for one in manifest.projects), "audit line")
    say(f"[green]Backed up and verified[/]: {projects}, {lines}, {made.size_bytes:,} bytes.")
    say(f"  {visible(made.file)}")
    say("[dim]Keep it where only you can read it: it holds results and the audit key.[/]")
    for one in manifest.projects:
        if one.broken is not None:
            remark(
                f"[yellow]The audit chain of {visible(one.name)} is broken, "
                f"and the backup holds it as it is:[/] {visible(one.broken)}"
            )
    if manifest.missing:
        blobs = many(len(manifest.missing), "large result")
        remark(f"[yellow]Not in the backup, because the file is missing:[/] {blobs}")


def _as_json(made: Made) -> dict[str, object]:
    manifest = made.manifest
    return {
        "file": str(made.file),
        "bytes": made.size_bytes,
        "created_at": manifest.created_at.isoformat(),
        "version": manifest.version,
        "schema": manifest.schema,
        "projects": [
            {"id": one.project_id, "name": one.name, "lines": one.lines, "broken": one.broken}
            for one in manifest.projects
        ],
        "missing": manifest.missing,
    }
