"""handrail uninstall."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from handrail.app.home import Home
from handrail.app.settings import load_settings
from handrail.app.uninstall import Estate, Item, remove_estate, survey_estate
from handrail.cli import options
from handrail.cli.output import print_json, say, visible
from handrail.cli.tables import Rows
from handrail.core.errors import SetupError

_UNITS = ("B", "kB", "MB", "GB", "TB")


def register(app: typer.Typer) -> None:
    app.command("uninstall")(uninstall)


def uninstall(
    yes: Annotated[bool, typer.Option("--yes", help="Remove it without asking.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only list what would be removed.")
    ] = False,
    home: options.Home = None,
    json: options.Json = False,
) -> None:
    """Remove everything that Handrail has created.

    For example: `handrail uninstall --dry-run`

    That is its own folder, the files of the tour, and the stored keys of model providers. Your own
    files stay, including the policy, the settings and the skills in that folder, and the policy in
    the `.handrail` folder of a workspace.
    """
    own = Home(load_settings(home=home).home)
    estate = survey_estate(own)
    if not json:
        _show(estate)
    agreed = not dry_run and _agree(own, yes=yes, json=json)
    if agreed:
        remove_estate(own, estate)
    if json:
        print_json(_in_json(estate, removed=agreed))
    elif agreed:
        say("[green]Removed.[/]")
        say(f"The program itself stays: {visible(_how_to_remove_the_program())}")
    else:
        say("Nothing was removed.")


def _agree(own: Home, *, yes: bool, json: bool) -> bool:
    with own.at_rest():
        pass  # Whether something runs is said before anybody is asked.
    if yes:
        return True
    if json or not sys.stdin.isatty():
        raise SetupError(
            "there is no terminal to ask at; use --yes to remove it, or --dry-run to list it"
        )
    return typer.confirm("Remove all of this permanently, including the audit log of every call?")


def _show(estate: Estate) -> None:
    say(f"Handrail has created {_readable(estate.size_bytes)}:")
    rows = Rows(right=(0,))
    for item in (Item(estate.home, 0), *estate.inside, *estate.tours, *estate.undo):
        name = item.path if item.path.parent != estate.home else f"  {item.path.name}"
        size = "" if item.path == estate.home else _readable(item.size_bytes)
        rows.add_row(size, visible(name))
    rows.print()
    for provider, place in estate.keys.items():
        say(f"Your key for {visible(provider)}, in {visible(place)}")
    for path in estate.kept:
        say(f"Yours, and kept: {visible(path)}")


def _how_to_remove_the_program() -> str:
    environment = Path(sys.prefix)
    if environment.name == ".venv":
        return f"remove {environment.parent} if you need nothing else in it"
    return f"{sys.executable} -m pip uninstall handrail"


def _readable(size: float) -> str:
    unit = 0
    while size >= 1000 and unit < len(_UNITS) - 1:
        size, unit = size / 1000, unit + 1
    return f"{size:.0f} {_UNITS[unit]}" if unit == 0 else f"{size:.1f} {_UNITS[unit]}"


def _in_json(estate: Estate, *, removed: bool) -> dict[str, Any]:
    def told(items: list[Item]) -> list[dict[str, Any]]:
        return [{"path": str(item.path), "size_bytes": item.size_bytes} for item in items]

    return {
        "home": str(estate.home),
        "items": told([*estate.inside, *estate.tours, *estate.undo]),
        "keys": estate.keys,
        "kept": [str(path) for path in estate.kept],
        "removed": removed,
    }
