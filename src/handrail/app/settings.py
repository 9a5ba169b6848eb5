"""Settings: what flags say, else the environment, else the defaults."""

import os
from dataclasses import dataclass
from pathlib import Path

from handrail.core.errors import SetupError

DEFAULT_HOST = "127.0.0.1"
DEFAULT_PORT = 8000
LONGEST_APPROVAL_SECONDS = 7 * 24 * 3600


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


def load_settings(
    home: Path | None = None,
    host: str | None = None,
    port: int | None = None,
    tls_cert: Path | None = None,
    tls_key: Path | None = None,
    behind_proxy: str | None = None,
) -> Settings:
    return Settings(
        home=(home or Path(os.environ.get("HANDRAIL_HOME", "~/.handrail"))).expanduser().absolute(),
        host=host or os.environ.get("HANDRAIL_HOST", DEFAULT_HOST),
        port=_port() if port is None else port,
        approval_timeout_seconds=_approval_timeout(),
        tls_cert=tls_cert or _path("HANDRAIL_TLS_CERT"),
        tls_key=tls_key or _path("HANDRAIL_TLS_KEY"),
        behind_proxy=behind_proxy or os.environ.get("HANDRAIL_BEHIND_PROXY") or None,
        metrics_token=os.environ.get("HANDRAIL_METRICS_TOKEN") or None,
    )


def _path(name: str) -> Path | None:
    text = os.environ.get(name)
    return Path(text).expanduser() if text else None


def _port() -> int:
    text = os.environ.get("HANDRAIL_PORT", str(DEFAULT_PORT))
    if not text.isdecimal() or int(text) > 65535:
        raise SetupError(f"HANDRAIL_PORT is {text!r}; it must be a number up to 65535")
    return int(text)


def _approval_timeout() -> int | None:
    text = os.environ.get("APPROVAL_TIMEOUT_SECONDS")
    if text is None:
        return None
    if not text.isdecimal() or not 1 <= int(text) <= LONGEST_APPROVAL_SECONDS:
        raise SetupError(
            f"APPROVAL_TIMEOUT_SECONDS is {text!r}; it must be a number of seconds up to a week"
        )
    return int(text)
