"""Settings that can be changed while Handrail runs: which there are, and what each may be."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol
from urllib.parse import urlsplit

from handrail.core.retention import (
    CALLS_DAYS,
    DRAFTS_DAYS,
    EVENTS_DAYS,
    MAX_DATABASE_MB,
    RESULTS_DAYS,
)

Value = str | int

CONFIG_FILE = "config.toml"
MOST_KEY_CHARS = 100
MOST_TEXT_CHARS = 8_000
_MOST_LINE_CHARS = 2_000
_MOST_DAYS = 36_500


class Kind(StrEnum):
    """What a value looks like. A line is a text without a second line."""

    LINE = "line"
    ADDRESS = "address"
    TEXT = "text"
    NUMBER = "number"
    CHOICE = "choice"


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting. Numbers lie between `least` and `most`; without a default, none is set."""

    name: str
    kind: Kind
    meaning: str
    default: Value | None = None
    agent_may_set: bool = False
    choices: tuple[str, ...] = ()
    least: int = 1
    most: int = 1_000_000_000_000

    @property
    def bounds(self) -> str:
        """What it may be, in words that stand behind "it must be"."""
        match self.kind:
            case Kind.LINE:
                return f"one line of text, up to {_MOST_LINE_CHARS:,} characters"
            case Kind.ADDRESS:
                return "an address such as http://127.0.0.1:11434/v1, with no name, key or query"
            case Kind.TEXT:
                return f"a text of up to {MOST_TEXT_CHARS:,} characters"
            case Kind.NUMBER:
                return f"a whole number from {self.least:,} to {self.most:,}"
            case Kind.CHOICE:
                return f"one of {', '.join(self.choices)}"

    def fits(self, value: object) -> bool:
        match self.kind:
            case Kind.LINE:
                return _is_text(value, _MOST_LINE_CHARS) and value != "" and "\n" not in str(value)
            case Kind.ADDRESS:
                return _is_address(value)
            case Kind.TEXT:
                return _is_text(value, MOST_TEXT_CHARS)
            case Kind.NUMBER:
                if isinstance(value, bool) or not isinstance(value, int):
                    return False
                return self.least <= value <= self.most
            case Kind.CHOICE:
                return value in self.choices

    def read(self, words: str) -> Value:
        """What somebody has typed, as a value that may still not fit."""
        digits = words.replace("_", "")
        is_number = self.kind is Kind.NUMBER and digits.isascii() and digits.isdecimal()
        return int(digits) if is_number and len(digits) <= 20 else words


def _is_text(value: object, most: int) -> bool:
    if not isinstance(value, str) or len(value) > most:
        return False
    return all(char.isprintable() or char in "\n\t" for char in value)


def _is_address(value: object) -> bool:
    if not isinstance(value, str) or not value.isascii() or len(value) > _MOST_LINE_CHARS:
        return False
    try:
        parts = urlsplit(value)
        sound = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
    plain = parts.username is None and not (parts.query or parts.fragment)
    return sound and plain and value.isprintable() and " " not in value


PROVIDER = Setting(
    "agent.provider",
    Kind.CHOICE,
    "The model provider of Handrail's own agent; without it, the provider that has a key.",
    choices=("anthropic", "openai", "scripted"),
)
MODEL = Setting(
    "agent.model",
    Kind.LINE,
    "The provider's name for the model; for `scripted`, the file of the script.",
)
BASE_URL = Setting(
    "agent.base_url",
    Kind.ADDRESS,
    "The address of the model server, such as http://127.0.0.1:11434/v1; without it, the "
    "provider's "
    "own address.",
)
INSTRUCTIONS = Setting(
    "agent.instructions",
    Kind.TEXT,
    "Instructions for the agent in every conversation, in addition to Handrail's own.",
    default="",
    agent_may_set=True,
)
MAX_TURNS = Setting(
    "agent.max_turns", Kind.NUMBER, "How many times a run may ask the model.", 50, most=10_000
)
MAX_CALLS = Setting(
    "agent.max_calls", Kind.NUMBER, "How many tool calls a run may make.", 200, most=100_000
)
MAX_SECONDS = Setting(
    "agent.max_seconds",
    Kind.NUMBER,
    "How many seconds a run may take.",
    3_600,
    most=7 * 24 * 3_600,
)
MAX_TOKENS = Setting(
    "agent.max_tokens",
    Kind.NUMBER,
    "How many tokens a run may use; without it, there is no limit. It is checked before each turn.",
)
COMPACT_AT_TOKENS = Setting(
    "agent.compact_at_tokens",
    Kind.NUMBER,
    "How many tokens a conversation may have before its beginning is summarised.",
    120_000,
    least=10_000,
    most=10_000_000,
)
DAILY_TOKENS = Setting(
    "budget.daily_tokens",
    Kind.NUMBER,
    "How many tokens the agents of each person may use on one day (UTC); without it, there is no "
    "limit.",
)

RETENTION_RESULTS_DAYS = Setting(
    "retention.results_days",
    Kind.NUMBER,
    "How many days the results of calls are kept.",
    RESULTS_DAYS,
    most=_MOST_DAYS,
)
RETENTION_CALLS_DAYS = Setting(
    "retention.calls_days",
    Kind.NUMBER,
    "How many days the records of calls and the questions about them are kept; no result is kept "
    "longer.",
    CALLS_DAYS,
    most=_MOST_DAYS,
)
RETENTION_EVENTS_DAYS = Setting(
    "retention.events_days",
    Kind.NUMBER,
    "How many days the events of the stream are kept; never more than 100,000 for each project.",
    EVENTS_DAYS,
    most=_MOST_DAYS,
)
RETENTION_DRAFTS_DAYS = Setting(
    "retention.drafts_days",
    Kind.NUMBER,
    "How many days a draft that is not used is kept on this machine; then it is saved as a patch "
    "and removed.",
    DRAFTS_DAYS,
    most=_MOST_DAYS,
)
RETENTION_MAX_DATABASE_MB = Setting(
    "retention.max_database_mb",
    Kind.NUMBER,
    "How many megabytes of the database may be in use; beyond that, the oldest results are "
    "removed, then the oldest calls, but none from the last day.",
    MAX_DATABASE_MB,
    least=10,
)

# The one list to extend when Handrail gets a new setting.
CATALOGUE = (
    PROVIDER, MODEL, BASE_URL, INSTRUCTIONS, MAX_TURNS, MAX_CALLS, MAX_SECONDS, MAX_TOKENS,
    COMPACT_AT_TOKENS, DAILY_TOKENS, RETENTION_RESULTS_DAYS, RETENTION_CALLS_DAYS,
    RETENTION_EVENTS_DAYS, RETENTION_DRAFTS_DAYS, RETENTION_MAX_DATABASE_MB,
)  # fmt: skip
SETTINGS: Mapping[str, Setting] = {setting.name: setting for setting in CATALOGUE}

# Areas that no agent changes, whatever settings there will be in them.
_FOR_PEOPLE = {
    "security": "what agents may do",
    "policy": "what agents may do",
    "http": "which hosts may be reached",
    "hosts": "which hosts may be reached",
    "allowed_hosts": "which hosts may be reached",
    "trusted_hosts": "which hosts may be reached",
    "mcp": "which MCP servers are asked",
    "mcp_servers": "which MCP servers are asked",
    "provider": "which model is asked, and where",
    "providers": "which model is asked, and where",
    "owner": "who owns this",
    "owners": "who owns this",
    "budget": "how much agents may use",
    "retention": "how long records are kept",
}


def no_such_setting(key: str) -> str:
    return f"there is no setting {key!r}; there are {', '.join(SETTINGS)}"


def tell_unknown(name: str) -> str:
    """A warning about an unknown name in the settings file."""
    if name.lower().rpartition(".")[2] in ("allowed_hosts", "trusted_hosts"):
        return (
            f"{name} has no effect there: hosts are listed in policy.toml, under [http];"
            " `trusted_hosts` adds hosts, `allowed_hosts` allows no others"
        )
    return f"{name} is in the file, but is not a setting of Handrail"


def why_not_by_agent(key: str) -> str | None:
    """Why no agent may change what has this name; None where it may."""
    setting = SETTINGS.get(key)
    if setting is not None and setting.agent_may_set:
        return None
    area = key.strip().partition(".")[0].lower()
    if area in _FOR_PEOPLE:
        return f"only a person decides {_FOR_PEOPLE[area]}, never an agent"
    if setting is None:
        return no_such_setting(key)
    return f"only a person changes {key}: `handrail config set {key} …`"


class Source(StrEnum):
    """Where a value comes from; the first that has one counts."""

    ENVIRONMENT = "environment"
    FILE = "file"
    DEFAULT = "default"


@dataclass(frozen=True, slots=True)
class Entry:
    """A setting with what it is now."""

    setting: Setting
    value: Value | None
    source: Source


@dataclass(frozen=True, slots=True)
class Shown:
    """All settings; `trouble` says why the file is not gone by, `unknown` are names in it."""

    entries: tuple[Entry, ...]
    trouble: str | None = None
    unknown: tuple[str, ...] = ()


class Configuration(Protocol):
    """The settings, for one person and their agents."""

    async def show(self) -> Shown:
        """All settings there are, with what looks like a secret covered.

        Raises:
            Forbidden: They are not this person's.
        """
        ...

    async def set_for_agent(self, key: str, words: str) -> Entry:
        """Change one; the words are read as its kind wants them.

        Raises:
            Forbidden: They are not this person's, or it is not for agents to change.
            BadInput: The value does not fit.
            SetupError: The file is broken, or cannot be written.
        """
        ...

    async def append_for_agent(self, key: str, words: str) -> Entry:
        """Add a line to a text.

        Raises:
            Forbidden: Likewise.
            BadInput: It is no text, or becomes too long.
            SetupError: Likewise.
        """
        ...
