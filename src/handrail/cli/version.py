"""handrail version."""

import platform

import typer

from handrail.cli import options
from handrail.cli.output import print_json, say
from handrail.version import __version__


def register(app: typer.Typer) -> None:
    app.command("version")(version)


def version(json: options.Json = False) -> None:
    """Print the version.

    For example: `handrail version`
    """
    if json:
        print_json({"handrail": __version__, "python": platform.python_version()})
    else:
        say(f"handrail {__version__} (Python {platform.python_version()})")
