"""What a check is given, and what it finds."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from handrail.app.home import Credentials, Home
from handrail.app.settings import Settings


class Health(StrEnum):
    FINE = "fine"
    NOTE = "note"
    WARN = "warn"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class Finding:
    """One sentence about one thing and, where there is something to do, what."""

    subject: str
    health: Health
    words: str
    remedy: str | None = None


@dataclass(frozen=True, slots=True)
class Patient:
    settings: Settings
    home: Home
    workspace: Path
    credentials: Credentials | None
