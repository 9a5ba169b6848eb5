"""handrail config: settings, and the keys of model providers."""

import sys
from typing import Annotated, Any

import typer

from handrail.app.config import Config
from handrail.app.home import Home
from handrail.app.provider_keys import WITH_KEYS, ProviderKeys
from handrail.app.settings import load_settings
from handrail.cli import options
from handrail.cli.groups import add_group
from handrail.cli.output import in_short, print_json, remark, say, visible
from handrail.cli.provider_key import (
    check_names_provider,
    keep_from_person,
    keep_from_stdin,
    tell_changes,
)
from handrail.cli.tables import Rows
from handrail.core.configuration import SETTINGS, Entry, no_such_setting, tell_unknown
from handrail.core.errors import BadInput, SetupError

Key = Annotated[str, typer.Argument(metavar="KEY", help="The setting, such as `agent.model`.")]

Provider = Annotated[
    str, typer.Argument(metavar="PROVIDER", help=f"Whose key it is: {' or '.join(WITH_KEYS)}.")
]


def register(app: typer.Typer) -> None:
    add_group(
        app,
        "config",
        config,
        {
            "list": list_settings,
            "get": get,
            "set": set_value,
            "unset": unset,
            "set-key": set_key,
            "forget-key": forget_key,
        },
    )


def config(context: typer.Context, home: options.Home = None, json: options.Json = False) -> None:
    """Show and change the settings of Handrail, and the keys of model providers."""
    if context.invoked_subcommand is None:
        list_settings(home, json=json)


def list_settings(home: options.Home = None, json: options.Json = False) -> None:
    """List all settings, what they are now, and where that comes from."""
    found = _open(home)
    entries = found.entries()
    if json:
        print_json({"settings": [_as_json(one) for one in entries], "unknown": found.unknown})
        return
    rows = Rows("setting", "value", "from", "meaning")
    for one in entries:
        value = "" if one.value is None else visible(in_short(one.value))
        rows.add_row(one.setting.name, value, one.source, visible(one.setting.meaning))
    rows.print()
    for name in found.unknown:
        remark(f"[yellow]{visible(tell_unknown(name))}[/]")


def get(key: Key, home: options.Home = None, json: options.Json = False) -> None:
    """Print what a setting is now; nothing, if it is not set."""
    found = _open(home)
    if key not in SETTINGS:
        raise BadInput(no_such_setting(key))
    (entry,) = (one for one in found.entries() if one.setting.name == key)
    if json:
        print_json(_as_json(entry))
    elif entry.value is not None:
        typer.echo(entry.value)


def set_value(
    key: Key,
    value: Annotated[str, typer.Argument(metavar="VALUE", help="What it shall be.")],
    home: options.Home = None,
    json: options.Json = False,
) -> None:
    """Change a setting in your `config.toml`; comments and layout stay.

    A running server goes by it at once.
    """
    _tell(_open(home).set(key, value), json=json)


def unset(key: Key, home: options.Home = None, json: options.Json = False) -> None:
    """Take a setting out of your `config.toml`."""
    _tell(_open(home).unset(key), json=json)


def set_key(
    provider: Provider,
    stdin: Annotated[
        bool, typer.Option("--stdin", help="Read the key from standard input, its first line.")
    ] = False,
    home: options.Home = None,
) -> None:
    """Keep the key of a model provider: you are asked for it, and it is not shown.

    It goes into the system's keyring or, where none works, into a file in Handrail's own folder
    that only you can read.
    """
    check_names_provider(provider, key_stdin=stdin)
    settings = load_settings(home=home)
    if stdin:
        kept = keep_from_stdin(settings, provider)
    elif sys.stdin.isatty():
        kept = keep_from_person(settings, provider)
    else:
        raise SetupError("nobody can be asked here; pipe the key in, and say --stdin")
    if kept is not None:
        tell_changes(kept.changes)
        say(
            f"The key for {visible(provider)} is kept in {visible(kept.place)}, "
            f"for {visible(kept.address)}"
        )


def forget_key(provider: Provider, home: options.Home = None) -> None:
    """Remove the key of a model provider that Handrail keeps."""
    place = ProviderKeys(Home(load_settings(home=home).home)).forget(provider)
    if place is None:
        raise BadInput(f"no key for {provider!r} is kept")
    say(f"The key for {visible(provider)} is no longer in {visible(place)}")


def _open(home: options.Home) -> Config:
    settings = load_settings(home=home)
    return Config(Home(settings.home), settings.overrides)


def _tell(entry: Entry, *, json: bool) -> None:
    if json:
        print_json(_as_json(entry))
        return
    now = "not set" if entry.value is None else visible(in_short(entry.value))
    say(f"{entry.setting.name} is now: {now} [dim](from: {entry.source})[/]")


def _as_json(entry: Entry) -> dict[str, Any]:
    return {
        "key": entry.setting.name,
        "value": entry.value,
        "source": entry.source,
        "meaning": entry.setting.meaning,
        "default": entry.setting.default,
        "agent_may_set": entry.setting.agent_may_set,
    }
