"""Asking for the key of a model provider. It is never an argument: those can be seen by others."""

import sys

import typer

from handrail.app.config import Config
from handrail.app.home import Home
from handrail.app.provider import Chosen, open_models
from handrail.app.provider_keys import WITH_KEYS, ProviderKeys
from handrail.app.settings import Settings
from handrail.cli.output import say, visible
from handrail.core.configuration import PROVIDER
from handrail.core.errors import BadInput, SetupError

_MOST_CHARS = 10_000


def check_names_provider(provider: str | None, *, key_stdin: bool) -> None:
    """Say what does not go together before anything is made."""
    if provider is not None and provider not in WITH_KEYS:
        raise BadInput(f"there are keys for {' and '.join(WITH_KEYS)}, not for {provider!r}")
    if key_stdin and provider is None:
        raise BadInput(f"say whose key is piped in: --provider {', or '.join(WITH_KEYS)}")


def keep_from_stdin(settings: Settings, provider: str | None) -> str:
    """Keep the key that is piped in; gives the place."""
    check_names_provider(provider, key_stdin=True)
    assert provider is not None  # noqa: S101  just checked
    if sys.stdin.isatty():
        raise BadInput("nothing is piped in; leave out the option to be asked for the key")
    return _keep(settings, provider, sys.stdin.readline(_MOST_CHARS))


def keep_from_person(settings: Settings, provider: str) -> str | None:
    """Ask for a key without showing it, and keep it; gives the place, or None where none came."""
    words = typer.prompt(
        f"The key for {provider} (it is not shown; Enter leaves it out)",
        default="",
        show_default=False,
        hide_input=True,
    )
    if not words.strip():
        say("Left out.")
        return None
    return _keep(settings, provider, words)


def offer_a_model(settings: Settings, provider: str | None) -> None:
    """Ask whose model Handrail's own agent shall ask, unless that is known already."""
    chosen = find_chosen(settings)
    if provider is None and chosen is not None and (chosen.key_place or not chosen.needs_key):
        say(f"\nHandrail's own agent asks {visible(chosen.provider)}.")
        return
    if provider is None:
        say("\nHandrail's own agent asks a model; other agents work without it.")
        answer = typer.prompt(
            f"Whose ({', '.join(WITH_KEYS)}; Enter leaves it out)", default="", show_default=False
        )
        provider = answer.strip().lower()
    if not provider:
        say("Left out; `handrail config set-key` asks again.")
    elif provider not in WITH_KEYS:
        say(f"There is no {visible(provider)}; `handrail config set-key` asks again.")
    elif (place := keep_from_person(settings, provider)) is not None:
        say(f"It is kept in {visible(place)}.")


def find_chosen(settings: Settings) -> Chosen | None:
    """Which model is asked; None where nobody has said."""
    try:
        return open_models(settings).choose()
    except SetupError:
        return None


def _keep(settings: Settings, provider: str, words: str) -> str:
    home = Home(settings.home)
    place = ProviderKeys(home).keep(provider, words)
    chosen = find_chosen(settings)
    if chosen is None or chosen.provider != provider:
        # With keys for both, or another choice before, nobody could tell that this one is meant.
        Config(home).set(PROVIDER.name, provider)
    return place
