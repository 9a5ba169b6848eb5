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
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only list it.")] = False,
    home: options.Home = None,
    json: options.Json = False,
) -> None:
    """Remove everything that Handrail has made.

    That is its own folder, what the tour left, and the keys of model providers that it keeps. Your
    own files stay, also the policy, the settings and the skills that you have written into that
    folder, and the policy in a workspace's `.handrail`.
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
        say(f"The program itself is left: {visible(_how_to_remove_the_program())}")
    else:
        say("Nothing was removed.")


def _agree(own: Home, *, yes: bool, json: bool) -> bool:
    with own.at_rest():
        pass  # Whether something runs is said before anybody is asked.
    if yes:
        return True
    if json or not sys.stdin.isatty():
        raise SetupError("nobody can be asked here; say --yes to remove it, or --dry-run to look")
    return typer.confirm("Remove all of this for good, the record of every call included?")


def _show(estate: Estate) -> None:
    say(f"Handrail has made {_readable(estate.size_bytes)}:")
    rows = Rows(right=(0,))
    for item in (Item(estate.home, 0), *estate.inside, *estate.tours):
        name = item.path if item.path.parent != estate.home else f"  {item.path.name}"
        size = "" if item.path == estate.home else _readable(item.size_bytes)
        rows.add_row(size, visible(name))
    rows.print()
    for provider, place in estate.keys.items():
        say(f"Your key for {visible(provider)}, in {visible(place)}")
    for path in estate.kept:
        say(f"Yours, and left alone: {visible(path)}")


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
        "items": told(estate.inside) + told(estate.tours),
        "keys": estate.keys,
        "kept": [str(path) for path in estate.kept],
        "removed": removed,
    }
