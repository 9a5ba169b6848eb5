"""Which model is asked: by what was said on the spot, the person's settings, and the keys."""

from dataclasses import dataclass

from handrail.agent.providers.choice import make_provider
from handrail.agent.providers.party import DEFAULT_MODELS, HOME_ADDRESSES, KEY_VARIABLES
from handrail.app.config import Config
from handrail.app.home import Home
from handrail.app.provider_keys import ProviderKey, ProviderKeys
from handrail.app.settings import Settings
from handrail.core.configuration import BASE_URL, MODEL, PROVIDER
from handrail.core.errors import SetupError
from handrail.core.model import Provider


@dataclass(frozen=True, slots=True)
class Chosen:
    """A model as it was chosen; whether it can be asked is another question."""

    provider: str
    model: str | None
    base_url: str | None
    key_place: str | None
    # The address that a kept key is for, where that is another one.
    key_is_for: str | None = None

    @property
    def needs_key(self) -> bool:
        """Whether it is the provider itself, who answers nobody without one."""
        return self.base_url is not None and self.base_url == HOME_ADDRESSES.get(self.provider)

    @property
    def lacks_key(self) -> str | None:
        """That a key is kept, but for another address, and how to give one; None where not so."""
        if self.key_is_for is None:
            return None
        return (
            f"no key was given for {self.base_url}, and the one for {self.key_is_for} is not sent "
            f"there; `handrail config set-key {self.provider}` stores one"
        )


class Models:
    """Looked up anew each time: settings and keys change while a server runs."""

    def __init__(self, config: Config, keys: ProviderKeys):
        self._config = config
        self._keys = keys

    def choose(self) -> Chosen:
        """What was chosen; no keyring is opened for it.

        Raises:
            SetupError: Nothing was, or nobody can tell which; the message says what to do.
        """
        name = self._config.text(PROVIDER) or self._only_one_with_a_key()
        model = self._config.text(MODEL) or DEFAULT_MODELS.get(name)
        address = self._config.text(BASE_URL) or HOME_ADDRESSES.get(name)
        place = self._keys.where(name, address)
        elsewhere = self._keys.given_for(name) if place is None else None
        return Chosen(name, model, address, place, elsewhere)

    def find(self) -> Provider:
        """The model to ask. May wait for a person who has to unlock their keyring.

        Raises:
            SetupError: There is none; the message says what to do.
        """
        chosen = self.choose()
        if chosen.needs_key and chosen.lacks_key is not None:
            raise SetupError(chosen.lacks_key)
        key = self._key(chosen)
        secret = None if key is None else key.secret
        return make_provider(chosen.provider, chosen.model, secret, self._config.text(BASE_URL))

    def show_key(self, chosen: Chosen) -> str | None:
        """The beginning of a key, to know it again; None where there is none.

        Raises:
            SetupError: The keyring cannot be opened.
        """
        key = self._key(chosen)
        return None if key is None else key.masked

    def _key(self, chosen: Chosen) -> ProviderKey | None:
        if chosen.base_url is None:
            return None
        return self._keys.find(chosen.provider, chosen.base_url)

    def _only_one_with_a_key(self) -> str:
        found = [name for name in KEY_VARIABLES if self._keys.where(name) is not None]
        if len(found) == 1:
            return found[0]
        if found:
            raise SetupError(
                f"there are keys for {' and '.join(found)}; choose the provider: "
                f"`handrail config set {PROVIDER.name} {found[0]}`"
            )
        raise SetupError(
            "no model is set up; `handrail init` asks for a provider's key and stores it, or set "
            f"{' or '.join(KEY_VARIABLES.values())}. Set up a server of your own with "
            f"`handrail config set`: {PROVIDER.name}, {BASE_URL.name}, {MODEL.name}"
        )


def open_models(settings: Settings) -> Models:
    """The models that these settings lead to.

    Raises:
        SetupError: The person's file is broken.
    """
    home = Home(settings.home)
    return Models(Config(home, settings.overrides), ProviderKeys(home))


def find_provider(settings: Settings) -> Provider:
    """The model to ask.

    Raises:
        SetupError: There is none; the message says what to do.
    """
    return open_models(settings).find()
