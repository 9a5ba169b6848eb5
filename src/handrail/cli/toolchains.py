"""handrail toolchains: list, allow, deny."""

from pathlib import Path
from typing import Annotated

import typer

from handrail.app.home import Home
from handrail.app.settings import load_settings
from handrail.app.toolchains import Answer, Entry, Toolchains
from handrail.cli import options
from handrail.cli.groups import add_group
from handrail.cli.output import print_json, say, visible
from handrail.cli.tables import Rows
from handrail.core.errors import BadInput

Paths = Annotated[list[str] | None, typer.Argument(metavar="PATH", help="Folders from the list.")]
_MOST_SHOWN = 3
_COLOURS = {Answer.ALLOWED: "green", Answer.DENIED: "red", Answer.OPEN: "yellow"}


def register(app: typer.Typer) -> None:
    add_group(app, "toolchains", toolchains, {"allow": allow, "deny": deny})


def toolchains(
    context: typer.Context,
    workspace: options.Workspace = Path(),
    home: options.Home = None,
    json: options.Json = False,
) -> None:
    """List the toolchains of this machine, and choose which of them commands may use.

    For example: `handrail toolchains`, then `handrail toolchains allow ~/.pyenv`.

    Commands run in a box that shows the system's programs. What you have installed for yourself
    (with pyenv, nvm, rustup and the like) it shows when you have allowed it, to read and to run.
    """
    if context.invoked_subcommand is not None:
        return
    entries = _open(workspace, home).entries()
    if json:
        print_json({"toolchains": [_as_json(entry) for entry in entries]})
        return
    if not entries:
        say("None was found apart from the system's own, which commands can always use.")
        return
    rows = Rows("answer", "kind", "folder", "programs, the first one first")
    for entry in entries:
        answer = f"[{_COLOURS[entry.answer]}]{entry.answer}[/]"
        where = visible(entry.toolchain.path)
        rows.add_row(answer, entry.toolchain.kind, where, _programs(entry))
    rows.print()


def _programs(entry: Entry) -> str:
    if entry.trouble is not None:
        return f"[yellow]not used:[/] {visible(entry.trouble)}"
    shown = [visible(folder) for folder in entry.toolchain.folders[:_MOST_SHOWN]]
    left = len(entry.toolchain.folders) - len(shown)
    return "\n".join([*shown, f"and {left:,} more"] if left else shown)


def allow(
    paths: Paths = None,
    every: Annotated[
        bool, typer.Option("--all", help="Allow all that were found, except those you denied.")
    ] = False,
    first: Annotated[bool, typer.Option("--first", help="Search them before the others.")] = False,
    workspace: options.Workspace = Path(),
    home: options.Home = None,
    json: options.Json = False,
) -> None:
    """Let commands read these folders, and find programs in them.

    For example: `handrail toolchains allow ~/.pyenv`

    Programs in them are trusted like those of the system. Running clients see them after a
    restart.
    """
    known = _open(workspace, home)
    named = paths or []
    if every:
        open_ones = [e for e in known.entries() if e.answer is Answer.OPEN and e.trouble is None]
        named = [*named, *(entry.toolchain.path for entry in open_ones)]
    if not named:
        raise BadInput("name a folder, or use --all; `handrail toolchains` lists them")
    chosen = known.allow(named, first=first)
    if json:
        print_json({"toolchains": [_as_json(entry) for entry in known.entries()]})
        return
    for toolchain in chosen:
        say(f"[green]allowed[/]  {visible(toolchain.path)}")
    say("Restart running clients to use them.")


def deny(
    paths: Annotated[list[str], typer.Argument(metavar="PATH", help="Folders to hide.")],
    workspace: options.Workspace = Path(),
    home: options.Home = None,
    json: options.Json = False,
) -> None:
    """Hide these folders from commands, and do not suggest them again.

    For example: `handrail toolchains deny ~/.rbenv`
    """
    known = _open(workspace, home)
    chosen = known.deny(paths)
    if json:
        print_json({"toolchains": [_as_json(entry) for entry in known.entries()]})
        return
    for toolchain in chosen:
        say(f"[red]denied[/]  {visible(toolchain.path)}")
    say("Running clients keep using them until they are restarted.")


def _open(workspace: Path, home: Path | None) -> Toolchains:
    return Toolchains(Home(load_settings(home=home).home), workspace)


def _as_json(entry: Entry) -> dict[str, object]:
    return {
        "path": entry.toolchain.path,
        "kind": entry.toolchain.kind,
        "answer": entry.answer,
        "folders": entry.toolchain.folders,
        "shown": entry.toolchain.mounts,
        "trouble": entry.trouble,
    }
