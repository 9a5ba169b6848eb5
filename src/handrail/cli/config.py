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
    str, typer.Argument(metavar="PROVIDER", help=f"The model provider: {' or '.join(WITH_KEYS)}.")
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
    """Show and change the settings, and the keys of model providers."""
    if context.invoked_subcommand is None:
        list_settings(home, json=json)


def list_settings(home: options.Home = None, json: options.Json = False) -> None:
    """List all settings, their values, and where each value comes from.

    For example: `handrail config list`
    """
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
    """Print the value of a setting; nothing if it is not set.

    For example: `handrail config get agent.model`
    """
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
    value: Annotated[str, typer.Argument(metavar="VALUE", help="The new value.")],
    home: options.Home = None,
    json: options.Json = False,
) -> None:
    """Change a setting in your `config.toml`; comments and layout stay.

    For example: `handrail config set agent.max_turns 50`

    A running server uses it at once.
    """
    _tell(_open(home).set(key, value), json=json)


def unset(key: Key, home: options.Home = None, json: options.Json = False) -> None:
    """Remove a setting from your `config.toml`.

    For example: `handrail config unset agent.model`
    """
    _tell(_open(home).unset(key), json=json)


def set_key(
    provider: Provider,
    stdin: Annotated[
        bool, typer.Option("--stdin", help="Read the key from the first line of standard input.")
    ] = False,
    home: options.Home = None,
) -> None:
    """Store the key of a model provider: you are asked for it, and it is not shown.

    For example: `handrail config set-key anthropic`

    It is stored in the system's keyring or, if there is none, in a file in Handrail's own folder
    that only you can read.
    """
    check_names_provider(provider, key_stdin=stdin)
    settings = load_settings(home=home)
    if stdin:
        kept = keep_from_stdin(settings, provider)
    elif sys.stdin.isatty():
        kept = keep_from_person(settings, provider)
    else:
        raise SetupError("there is no terminal to ask at; pipe the key in, and use --stdin")
    if kept is not None:
        tell_changes(kept.changes)
        say(
            f"The key for {visible(provider)} is stored in {visible(kept.place)}, "
            f"for {visible(kept.address)}"
        )


def forget_key(provider: Provider, home: options.Home = None) -> None:
    """Delete the stored key of a model provider.

    For example: `handrail config forget-key anthropic`
    """
    place = ProviderKeys(Home(load_settings(home=home).home)).forget(provider)
    if place is None:
        raise BadInput(f"no key for {provider!r} is stored")
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
