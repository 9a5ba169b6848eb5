"""The keys of model providers: in the environment, the system's keyring, or a file of our own."""

import json
import os
from dataclasses import dataclass, field
from typing import Any, cast

from handrail.agent.providers.party import (
    HOME_ADDRESSES,
    KEY_VARIABLES,
    how_to_give_a_key,
    read_key,
)
from handrail.app.home import Home
from handrail.app.private_file import write_private
from handrail.app.system_keyring import keep_in_keyring, read_from_keyring, remove_from_keyring
from handrail.core.errors import BadInput, SetupError

# The providers that have keys.
WITH_KEYS = tuple(KEY_VARIABLES)

_LEAST_CHARS = 12
_IN_KEYRING = "the system's keyring"


@dataclass(frozen=True, slots=True)
class ProviderKey:
    """A key, and where it comes from in words."""

    place: str
    secret: str = field(repr=False)

    @property
    def masked(self) -> str:
        """Enough to know it again; of a short one, four characters would be too much."""
        return f"{self.secret[:4]}****" if len(self.secret) >= _LEAST_CHARS else "****"


@dataclass(frozen=True, slots=True)
class _Noted:
    """One kept key: the address it was given for; the secret is empty where a keyring has it."""

    address: str
    secret: str = field(repr=False)


class ProviderKeys:
    """Which keys are kept, and where, is noted in Handrail's folder: no keyring is opened in vain.

    A key lies in that note itself only where the system has no keyring that works. A kept key
    counts for the address it was given for; one in the environment for whichever is set there.
    """

    def __init__(self, home: Home | None):
        self._home = home

    def where(self, provider: str, address: str | None = None) -> str | None:
        """Where the key for an address comes from, in words; None where there is none.

        Without an address, it is any key of that provider.

        Raises:
            SetupError: The note cannot be read.
        """
        variable = KEY_VARIABLES.get(provider)
        if variable is None:
            return None
        if os.environ.get(variable, "").strip():
            return variable
        noted = None if self._home is None else self._read().get(provider)
        if noted is None or (address is not None and noted.address != address.rstrip("/")):
            return None
        return self._place(noted)

    def given_for(self, provider: str) -> str | None:
        """The address that the kept key of a provider is for; None where none is kept.

        Raises:
            SetupError: The note cannot be read.
        """
        noted = None if self._home is None else self._read().get(provider)
        return None if noted is None else noted.address

    def find(self, provider: str, address: str) -> ProviderKey | None:
        """The key for an address. Opening a keyring may take as long as a person who is asked.

        Raises:
            SetupError: The note cannot be read, or the keyring cannot be opened.
        """
        place = self.where(provider, address)
        if place is None:
            return None
        if place == KEY_VARIABLES[provider]:
            return ProviderKey(place, os.environ[place].strip())
        if place != _IN_KEYRING:
            return ProviderKey(place, self._read()[provider].secret)
        secret = read_from_keyring(self._name(provider))
        if secret is None:
            raise SetupError(
                f"the key for {provider} is no longer in {_IN_KEYRING}; "
                f"{how_to_give_a_key(provider)}"
            )
        return ProviderKey(place, secret)

    def keep(self, provider: str, words: str, address: str | None = None) -> str:
        """Keep a key instead of the one before; says where it lies now.

        Without an address, it is for the provider's own.

        Raises:
            BadInput: It is no key, or there is no such provider.
            SetupError: It cannot be kept.
        """
        if provider not in KEY_VARIABLES:
            raise BadInput(f"there are keys for {', '.join(KEY_VARIABLES)}, not for {provider!r}")
        secret = read_key(provider, words)
        if not secret:
            raise BadInput("no key was given")
        home = self._folder()
        with home.setting_up():
            in_keyring = keep_in_keyring(self._name(provider), secret)
            there = (address or HOME_ADDRESSES[provider]).rstrip("/")
            noted = _Noted(there, "" if in_keyring else secret)
            self._write({**self._read(), provider: noted})
        return _IN_KEYRING if in_keyring else str(home.keys)

    def kept(self) -> dict[str, str]:
        """The providers whose keys are kept, each with the place.

        Raises:
            SetupError: The note cannot be read.
        """
        if self._home is None:
            return {}
        return {provider: self._place(noted) for provider, noted in self._read().items()}

    def forget(self, provider: str) -> str | None:
        """Remove a kept key; says where it lay, or None where none was kept.

        Raises:
            SetupError: It cannot be removed.
        """
        home = self._folder()
        with home.setting_up():
            noted = self._read()
            place = self.kept().get(provider)
            if place is None:
                return None
            if place == _IN_KEYRING:
                remove_from_keyring(self._name(provider))
            del noted[provider]
            self._write(noted)
        return place

    def _name(self, provider: str) -> str:
        """Two folders of Handrail on one machine have keys of their own."""
        return f"{provider} for {self._folder().path}"

    def _place(self, noted: _Noted) -> str:
        return str(self._folder().keys) if noted.secret else _IN_KEYRING

    def _folder(self) -> Home:
        if self._home is None:
            raise SetupError("there is no folder for keys")
        return self._home

    def _read(self) -> dict[str, _Noted]:
        file = self._folder().keys
        try:
            noted: Any = json.loads(file.read_bytes())
            rows = cast("dict[str, Any]", noted["keys"])
            return {str(name): _read_noted(name, row) for name, row in rows.items()}
        except (FileNotFoundError, NotADirectoryError):
            return {}
        except OSError as error:
            raise SetupError(f"{file} cannot be read: {error.strerror}") from error
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise SetupError(f"{file} is damaged; remove it, and enter your keys again") from error

    def _write(self, noted: dict[str, _Noted]) -> None:
        rows = {name: {"address": one.address, "key": one.secret} for name, one in noted.items()}
        file = self._folder().keys
        try:
            if noted:
                write_private(file, json.dumps({"keys": rows}, indent=2))
            else:
                file.unlink(missing_ok=True)
        except OSError as error:
            raise SetupError(f"{file} cannot be written: {error.strerror}") from error


def _read_noted(provider: str, row: Any) -> _Noted:
    """A key from before addresses were noted was given for the provider's own."""
    if isinstance(row, str):
        return _Noted(HOME_ADDRESSES.get(provider, ""), row)
    return _Noted(str(row["address"]), str(row["key"]))
