"""Asking for the key of a model provider. It is never an argument: those can be seen by others."""

import sys
import termios

import typer

from handrail.app.config import Config
from handrail.app.home import Home
from handrail.app.provider_keys import WITH_KEYS
from handrail.app.provider_setup import (
    COMMON_TONGUE,
    Kept,
    address_for_key,
    find_chosen,
    keep_key,
    switch_provider,
)
from handrail.app.settings import Settings
from handrail.cli.output import say, visible
from handrail.core.configuration import BASE_URL, MODEL
from handrail.core.errors import BadInput

_MOST_CHARS = 10_000
# What a person answers who has a server of another kind.
_OTHER = "other"


def check_names_provider(provider: str | None, *, key_stdin: bool) -> None:
    """Say what does not go together before anything is made."""
    if provider is not None and provider not in WITH_KEYS:
        raise BadInput(f"there are keys for {' and '.join(WITH_KEYS)}, not for {provider!r}")
    if key_stdin and provider is None:
        raise BadInput(f"say which provider the key is for: --provider {', or '.join(WITH_KEYS)}")


def keep_from_stdin(settings: Settings, provider: str | None) -> Kept:
    """Keep the key that is piped in."""
    check_names_provider(provider, key_stdin=True)
    assert provider is not None  # noqa: S101  just checked
    if sys.stdin.isatty():
        raise BadInput("nothing is piped in; leave out the option to be asked for the key")
    return keep_key(settings, provider, sys.stdin.readline(_MOST_CHARS))


def keep_from_person(settings: Settings, provider: str) -> Kept | None:
    """Ask for a key without showing it, and keep it; None where none came."""
    words = typer.prompt(
        f"The key for {provider} at {address_for_key(settings, provider)} (it is not shown; "
        "Enter skips this)",
        default="",
        show_default=False,
        hide_input=True,
    )
    if not words.strip():
        say("Skipped.")
        return None
    return keep_key(settings, provider, words)


def tell_changes(changes: list[str]) -> None:
    for words in changes:
        say(visible(words))


def offer_a_model(settings: Settings, provider: str | None) -> None:
    """Ask whose model Handrail's own agent shall ask, unless that is known already."""
    chosen = find_chosen(settings)
    if provider is None and chosen is not None and (chosen.key_place or not chosen.needs_key):
        say(f"\nHandrail's own agent uses {visible(chosen.provider)}.")
        return
    if provider is None:
        say("\nHandrail's own agent needs a model; other agents work without it.")
        provider = _ask_whose()
    if provider is None:
        say("Skipped; `handrail config set-key PROVIDER` asks again.")
        return
    is_other = provider == _OTHER
    if is_other:
        provider = COMMON_TONGUE
        _ask_where(settings)
    if (kept := keep_from_person(settings, provider)) is not None:
        tell_changes(kept.changes)
        say(f"It is stored in {visible(kept.place)}, for {visible(kept.address)}.")
    _ask_which(settings, provider, anew=is_other)


def _ask_whose() -> str | None:
    """One of those there are; None where it is left out. Whatever else is typed is not repeated."""
    names = (*WITH_KEYS, _OTHER)
    while True:
        said = _ask(
            f"Which provider ({', '.join(WITH_KEYS)}, or {_OTHER} for another server "
            "with the OpenAI API; Enter skips this)"
        ).lower()
        if not said:
            return None
        if said in names:
            return said
        say(
            f"That is not one of {', '.join(names)}; you are asked for the key next, and it "
            "is not shown."
        )


def _ask_where(settings: Settings) -> None:
    """The address of a server of one's own."""
    while True:
        said = _ask("Its address, such as http://127.0.0.1:11434/v1")
        if BASE_URL.fits(said):
            break
        say(f"It must be {BASE_URL.bounds}.")
    tell_changes(switch_provider(settings, COMMON_TONGUE))
    Config(Home(settings.home)).set(BASE_URL.name, said)


def _ask_which(settings: Settings, provider: str, *, anew: bool) -> None:
    """The model, where none goes without saying."""
    chosen = find_chosen(settings)
    if chosen is None or chosen.provider != provider or (chosen.model is not None and not anew):
        return
    said = _ask("The name of the model there (Enter skips this)")
    if said and MODEL.fits(said):
        Config(Home(settings.home)).set(MODEL.name, said)
        say(f"{MODEL.name} is now: {visible(said)}")
    else:
        say(f"Skipped; set it later: `handrail config set {MODEL.name} …`")


def _ask(question: str) -> str:
    """One line. What was typed before the question was to be read is no answer to it."""
    if sys.stdin.isatty():
        termios.tcflush(sys.stdin, termios.TCIFLUSH)
    return str(typer.prompt(question, default="", show_default=False)).strip()
