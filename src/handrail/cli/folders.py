"""handrail folders: list, add, remove."""

from pathlib import Path
from typing import Annotated

import typer

from handrail.app.folders import ReadableFolders
from handrail.app.home import Home
from handrail.app.settings import load_settings
from handrail.cli import options
from handrail.cli.groups import add_group
from handrail.cli.output import print_json, say, visible

Folder = Annotated[str, typer.Argument(metavar="FOLDER", help="A folder outside the workspace.")]


def register(app: typer.Typer) -> None:
    add_group(app, "folders", folders, {"add": add, "remove": remove})


def folders(
    context: typer.Context,
    workspace: options.Workspace = Path(),
    home: options.Home = None,
    json: options.Json = False,
) -> None:
    """List the folders outside the workspace that agents can read, and change the list.

    For example: `handrail folders`, then `handrail folders add ../lib`.
    """
    if context.invoked_subcommand is not None:
        return
    found = _open(workspace, home).list()
    if json:
        print_json({"folders": [one._asdict() for one in found]})
        return
    if not found:
        say("Agents can read the workspace only. `handrail folders add ../lib` adds a folder.")
    for one in found:
        say(f"{visible(one.path)}{'' if one.exists else '  [yellow](does not exist)[/]'}")


def add(folder: Folder, workspace: options.Workspace = Path(), home: options.Home = None) -> None:
    """Let agents of this workspace read a folder outside it. They cannot change it.

    For example: `handrail folders add ../lib`

    Files that are known to hold secrets, such as `.env`, stay hidden there too. It counts from the
    next call on.
    """
    added = _open(workspace, home).add(folder)
    say(f"Agents of this workspace can read {visible(added)}.")


def remove(
    folder: Folder, workspace: options.Workspace = Path(), home: options.Home = None
) -> None:
    """Let agents of this workspace not read a folder any more.

    For example: `handrail folders remove ../lib`
    """
    removed = _open(workspace, home).remove(folder)
    say(f"Agents of this workspace cannot read {visible(removed)} any more.")


def _open(workspace: Path, home: Path | None) -> ReadableFolders:
    return ReadableFolders(Home(load_settings(home=home).home), workspace)
