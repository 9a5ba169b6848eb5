"""Whom we ask: a model of a provider, at an address, with a key."""

from dataclasses import dataclass, field
from urllib.parse import urlsplit

from handrail.core.errors import SetupError

ANTHROPIC = "anthropic"
OPENAI = "openai"
SCRIPTED = "scripted"

# Where a person may leave a key. It is for the app to look there: no provider does.
KEY_VARIABLES = {ANTHROPIC: "ANTHROPIC_API_KEY", OPENAI: "OPENAI_API_KEY"}
HOME_ADDRESSES = {ANTHROPIC: "https://api.anthropic.com", OPENAI: "https://api.openai.com/v1"}
DEFAULT_MODELS = {ANTHROPIC: "claude-sonnet-5-5"}

_MOST_KEY_CHARS = 4_000


@dataclass(frozen=True, slots=True)
class Party:
    """One model as it can be reached; without a key where its server asks for none."""

    provider: str
    model: str
    base_url: str
    key: str = field(default="", repr=False)

    @property
    def is_at_home(self) -> bool:
        """Whether it is the provider itself, and not a server that speaks like it."""
        return self.base_url == HOME_ADDRESSES[self.provider]


def find_party(provider: str, model: str | None, key: str | None, base_url: str | None) -> Party:
    """The party that these words stand for.

    Raises:
        SetupError: They stand for none; the message says which is missing, and where it comes from.
    """
    address = _read_address(base_url) if base_url else HOME_ADDRESSES[provider]
    key = read_key(provider, key or "")
    found = Party(provider, model or DEFAULT_MODELS.get(provider, ""), address, key)
    if not found.model:
        raise SetupError(
            f"{provider} has many models; say which one to ask: "
            "`handrail config set agent.model …`, or set HANDRAIL_MODEL"
        )
    if not found.key and found.is_at_home:
        raise SetupError(f"{provider} needs a key; {how_to_give_a_key(provider)}")
    return found


def read_key(provider: str, words: str) -> str:
    """The key in what somebody has pasted; empty where there is none.

    Raises:
        SetupError: It is no key.
    """
    key = words.strip()
    if not (key.isascii() and key.isprintable() and " " not in key and len(key) <= _MOST_KEY_CHARS):
        raise SetupError(
            f"the key for {provider} contains characters that a key cannot contain; copy it "
            f"again: {how_to_give_a_key(provider)}"
        )
    return key


def how_to_give_a_key(provider: str) -> str:
    return f"`handrail init` asks for one and stores it, or set {KEY_VARIABLES[provider]}"


def _read_address(text: str) -> str:
    try:
        parts = urlsplit(text)
        sound = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        sound = False
    if not sound or not (text.isascii() and text.isprintable()) or " " in text:
        raise SetupError(
            f"{text!r} is not the address of a model server; an example is "
            f"http://127.0.0.1:11434/v1"
        )
    parts = urlsplit(text)
    if parts.username is not None or parts.query or parts.fragment:
        raise SetupError(
            "the address of a model server has only a host, a port and a path; give the key "
            "separately"
        )
    return text.rstrip("/")
