"""Setting up whose model is asked: another provider, or a key for the address that is set."""

from dataclasses import dataclass

from handrail.agent.providers.party import HOME_ADDRESSES, OPENAI
from handrail.app.config import Config
from handrail.app.home import Home
from handrail.app.provider import Chosen, open_models
from handrail.app.provider_keys import ProviderKeys
from handrail.app.settings import Settings
from handrail.core.configuration import BASE_URL, MODEL, PROVIDER
from handrail.core.errors import SetupError

# Whose words most other servers speak.
COMMON_TONGUE = OPENAI


@dataclass(frozen=True, slots=True)
class Kept:
    """Where a key lies, the address it is for, and which settings were changed for it, in words."""

    place: str
    address: str
    changes: list[str]


def find_chosen(settings: Settings) -> Chosen | None:
    """Which model is asked; None where nobody has said."""
    try:
        return open_models(settings).choose()
    except SetupError:
        return None


def address_for_key(settings: Settings, provider: str) -> str:
    """Where a key that is given now would be sent: an address is set for one provider alone."""
    chosen, own = find_chosen(settings), HOME_ADDRESSES.get(provider, "")
    if chosen is not None:
        return (chosen.base_url or own) if chosen.provider == provider else own
    return Config(Home(settings.home), settings.overrides).text(BASE_URL) or own


def keep_key(settings: Settings, provider: str, words: str) -> Kept:
    """Keep a key for the address that is set, and ask that provider from now on.

    Raises:
        BadInput: It is no key, or there is no such provider.
        SetupError: It cannot be kept.
    """
    address, before = address_for_key(settings, provider), find_chosen(settings)
    place = ProviderKeys(Home(settings.home)).keep(provider, words, address)
    after = find_chosen(settings)
    changes: list[str] = []
    if before is not None or after is None or after.provider != provider:
        # With keys for both, or another choice before, nobody could tell that this one is meant.
        changes = switch_provider(settings, provider, before)
    return Kept(place, address, changes)


def switch_provider(settings: Settings, provider: str, chosen: Chosen | None = None) -> list[str]:
    """Ask this provider from now on; gives what is changed by that, in words.

    A model and an address that were set for another provider are no longer set then.

    Raises:
        SetupError: The person's file is broken, or cannot be written.
    """
    config = Config(Home(settings.home))
    chosen = chosen or find_chosen(settings)
    before = config.text(PROVIDER) if chosen is None else chosen.provider
    if before == provider:
        return []
    config.set(PROVIDER.name, provider)
    if before is None:
        return [f"{PROVIDER.name} is now: {provider}"]
    changes = [f"{PROVIDER.name} is now: {provider} (it was {before})"]
    for setting in (MODEL, BASE_URL):
        if (value := config.text(setting)) is not None:
            config.unset(setting.name)
            changes.append(f"{setting.name} is no longer set: {value} was for {before}")
    return changes
