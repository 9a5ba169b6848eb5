"""Settings: what flags say, else the environment, else the defaults."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from handrail.core import configuration
from handrail.core.configuration import Value
from handrail.core.errors import SetupError

DEFAULT_HOST = "127.0.0.1"
DEFAULT_PORT = 8000
LONGEST_APPROVAL_SECONDS = 7 * 24 * 3600


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable of the environment: what it means, and what holds where it is not set."""

    name: str
    meaning: str
    default: str = ""

    @property
    def help(self) -> str:
        """The words for an option that says the same, and comes before it."""
        default = f"  [default: {self.default}]" if self.default else ""
        return f"{self.meaning}  [env: {self.name}]{default}"

    def read(self) -> str:
        return os.environ.get(self.name, self.default)


HOME = Variable(
    "HANDRAIL_HOME", "Handrail's own folder: database, credentials and keys.", "~/.handrail"
)
HOST = Variable(
    "HANDRAIL_HOST",
    "Address to listen on; beyond this machine only with TLS or behind a proxy.",
    DEFAULT_HOST,
)
PORT = Variable("HANDRAIL_PORT", "Port to listen on; 0 takes a free one.", str(DEFAULT_PORT))
TLS_CERT = Variable("HANDRAIL_TLS_CERT", "Certificate for TLS, a PEM file.")
TLS_KEY = Variable("HANDRAIL_TLS_KEY", "The certificate's private key, a PEM file.")
BEHIND_PROXY = Variable(
    "HANDRAIL_BEHIND_PROXY",
    "How others reach the TLS proxy in front of it, such as https://handrail.example.org.",
)
METRICS_TOKEN = Variable(
    "HANDRAIL_METRICS_TOKEN",
    "A bearer token for reading `/metrics` from anywhere; without it, only callers on the same "
    "machine can read it.",
)
APPROVAL_TIMEOUT = Variable(
    "APPROVAL_TIMEOUT_SECONDS",
    "Seconds a person has to answer any question, up to a week; without it, the risk of the call "
    "decides.",
)
TOKEN = Variable(
    "HANDRAIL_TOKEN",
    "A client's token, for the first `handrail connect` to a server elsewhere; without it, you "
    "are asked for it.",
)
MEMORY_WEIGHTS = Variable(
    "HANDRAIL_MEMORY_WEIGHTS",
    "Folder with `model.safetensors` and `tokenizer.json` of all-MiniLM-L6-v2, by which memories "
    "are found by meaning; without it, the installed package of weights.",
)
PROVIDER = Variable(
    "HANDRAIL_PROVIDER",
    "The model provider of Handrail's own agent: `anthropic`, `openai` or `scripted`; overrides "
    f"`{configuration.PROVIDER.name}`.",
)
MODEL = Variable(
    "HANDRAIL_MODEL", f"The name of the model; overrides `{configuration.MODEL.name}`."
)
BASE_URL = Variable(
    "HANDRAIL_BASE_URL",
    f"The address of the model server; overrides `{configuration.BASE_URL.name}`.",
)
DAILY_TOKEN_LIMIT = Variable(
    "DAILY_TOKEN_LIMIT",
    "Tokens that the agents of each person may use on one day (UTC); overrides "
    f"`{configuration.DAILY_TOKENS.name}`.",
)
VARIABLES = (
    HOME, HOST, PORT, TLS_CERT, TLS_KEY, BEHIND_PROXY, METRICS_TOKEN, APPROVAL_TIMEOUT, TOKEN,
    MEMORY_WEIGHTS, PROVIDER, MODEL, BASE_URL, DAILY_TOKEN_LIMIT,
)  # fmt: skip
# Settings of the person's file that a variable comes before.
CHANGEABLE = {
    configuration.PROVIDER: PROVIDER,
    configuration.MODEL: MODEL,
    configuration.BASE_URL: BASE_URL,
    configuration.DAILY_TOKENS: DAILY_TOKEN_LIMIT,
}


@dataclass(frozen=True, slots=True)
class Settings:
    home: Path
    host: str = DEFAULT_HOST
    port: int = DEFAULT_PORT
    approval_timeout_seconds: int | None = None
    tls_cert: Path | None = None
    tls_key: Path | None = None
    behind_proxy: str | None = None
    metrics_token: str | None = None
    memory_weights: Path | None = None
    # What is said on the spot, and comes before the person's file.
    overrides: Mapping[str, Value] = field(default_factory=dict[str, Value])


def load_settings(
    home: Path | None = None,
    host: str | None = None,
    port: int | None = None,
    tls_cert: Path | None = None,
    tls_key: Path | None = None,
    behind_proxy: str | None = None,
) -> Settings:
    return Settings(
        home=(home or Path(HOME.read())).expanduser().absolute(),
        host=host or HOST.read(),
        port=_port() if port is None else port,
        approval_timeout_seconds=_approval_timeout(),
        tls_cert=tls_cert or _path(TLS_CERT),
        tls_key=tls_key or _path(TLS_KEY),
        behind_proxy=behind_proxy or BEHIND_PROXY.read() or None,
        metrics_token=METRICS_TOKEN.read() or None,
        memory_weights=_path(MEMORY_WEIGHTS),
        overrides=_overrides(),
    )


def _path(variable: Variable) -> Path | None:
    text = variable.read()
    return Path(text).expanduser() if text else None


def _port() -> int:
    text = PORT.read()
    if not text.isdecimal() or int(text) > 65535:
        raise SetupError(f"{PORT.name} is {text!r}; it must be a number up to 65535")
    return int(text)


def _overrides() -> dict[str, Value]:
    found: dict[str, Value] = {}
    for setting, variable in CHANGEABLE.items():
        if words := variable.read():
            found[setting.name] = setting.read(words)
            if not setting.fits(found[setting.name]):
                raise SetupError(f"{variable.name} is {words!r}; it must be {setting.bounds}")
    return found


def _approval_timeout() -> int | None:
    text = os.environ.get(APPROVAL_TIMEOUT.name)
    if text is None:
        return None
    if not text.isdecimal() or not 1 <= int(text) <= LONGEST_APPROVAL_SECONDS:
        raise SetupError(
            f"{APPROVAL_TIMEOUT.name} is {text!r}; it must be a number of seconds up to a week"
        )
    return int(text)
