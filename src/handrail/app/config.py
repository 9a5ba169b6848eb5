"""The settings of Handrail: what was said on the spot, else the person's file, else the default."""

import os
import re
import threading
import tomllib
from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple, cast

import structlog

from handrail.app.config_edit import with_value
from handrail.app.home import Home
from handrail.app.policy_files import PolicyFile
from handrail.app.private_file import write_private
from handrail.core import configuration as known
from handrail.core.configuration import (
    CATALOGUE,
    SETTINGS,
    Entry,
    Kind,
    Setting,
    Shown,
    Source,
    Value,
    no_such_setting,
)
from handrail.core.errors import BadInput, SetupError
from handrail.core.retention import Retention

_BARE = re.compile(r"[A-Za-z0-9_-]{1,100}")

log = structlog.get_logger(__name__)


class Written(NamedTuple):
    """What a file says: the settings it has, and names that are none."""

    values: Mapping[str, Value] = {}
    unknown: tuple[str, ...] = ()


class RunLimits(NamedTuple):
    """How far one run of the agent may go."""

    max_turns: int
    max_calls: int
    max_seconds: int
    compact_at_tokens: int


class Config:
    """Read afresh whenever the file has changed. Without a folder, there is no file."""

    def __init__(self, home: Home | None = None, overrides: Mapping[str, Value] | None = None):
        self._home = home
        self._overrides = overrides or {}
        self._file = PolicyFile(Path(os.devnull, "none") if home is None else home.config)
        self._written = _read(self._file)
        self._trouble: SetupError | None = None
        # Settings are changed in threads, and read on the loop.
        self._reading = threading.Lock()

    @property
    def unknown(self) -> tuple[str, ...]:
        """Names in the file that mean nothing; most often they are mistyped."""
        return self._now().unknown

    def entries(self) -> list[Entry]:
        """All settings, with what they are now.

        Raises:
            SetupError: The file is broken.
        """
        self._now()
        if self._trouble is not None:
            raise self._trouble
        return [self._entry(setting) for setting in CATALOGUE]

    def show(self) -> Shown:
        """The settings that hold, whatever the file is like."""
        unknown = self._now().unknown
        trouble = None if self._trouble is None else self._trouble.message
        return Shown(tuple(map(self._entry, CATALOGUE)), trouble, unknown)

    def text(self, setting: Setting) -> str | None:
        value = self._entry(setting).value
        return None if value is None else str(value)

    def number(self, setting: Setting) -> int | None:
        value = self._entry(setting).value
        return value if isinstance(value, int) else None

    def run_limits(self) -> RunLimits:
        settings = (known.MAX_TURNS, known.MAX_CALLS, known.MAX_SECONDS, known.COMPACT_AT_TOKENS)
        return RunLimits(*(cast(int, self.number(setting)) for setting in settings))

    def retention(self) -> Retention:
        return Retention(
            results=self._days(known.RETENTION_RESULTS_DAYS),
            calls=self._days(known.RETENTION_CALLS_DAYS),
            events=self._days(known.RETENTION_EVENTS_DAYS),
            max_bytes=cast(int, self.number(known.RETENTION_MAX_DATABASE_MB)) * 1_000_000,
        )

    def draft_age(self) -> timedelta:
        """How long a draft is kept that is not used."""
        return self._days(known.RETENTION_DRAFTS_DAYS)

    def _days(self, setting: Setting) -> timedelta:
        return timedelta(days=cast(int, self.number(setting)))

    def set(self, key: str, words: str) -> Entry:
        """Change one setting in the file.

        Raises:
            BadInput: There is no such setting, or it cannot be that.
            SetupError: The file is broken, or cannot be written.
        """
        setting = _find(key)
        value = _fitting(setting, setting.read(words))
        return self._change(setting, lambda before: value)

    def append(self, key: str, words: str) -> Entry:
        """Add a line to a text in the file.

        Raises:
            BadInput: There is no such setting, it is no text, or becomes too long.
            SetupError: The file is broken, or cannot be written.
        """
        setting = _find(key)
        if setting.kind is not Kind.TEXT:
            raise BadInput(f"{key} is not a text, so nothing can be added to it; set it instead")

        def longer(before: Value | None) -> Value:
            lines = str(before or "").rstrip("\n")
            return _fitting(setting, f"{lines}\n{words}" if lines else words)

        return self._change(setting, longer)

    def unset(self, key: str) -> Entry:
        """Take one setting out of the file.

        Raises:
            BadInput: There is no such setting.
            SetupError: The file is broken, or cannot be written.
        """
        return self._change(_find(key), lambda before: None)

    def _change(self, setting: Setting, decide: Callable[[Value | None], Value | None]) -> Entry:
        if self._home is None:
            raise SetupError("there is no folder for settings")
        with self._home.setting_up():
            file = PolicyFile(self._home.config)
            text, place = file.read(), str(file.path)
            before = _understand(text, place)
            value = decide(before.values.get(setting.name))
            if value == before.values.get(setting.name):
                return self._entry(setting)
            text = with_value(text, setting.name, value)
            wanted = {**before.values, setting.name: value}
            after = _understand(text, place)
            if ({setting.name: None, **after.values}, after.unknown) != (wanted, before.unknown):
                raise SetupError(f"{place} cannot be changed in place; edit it by hand")
            try:
                # Whoever keeps the file elsewhere and has a link to it here keeps the link.
                write_private(file.path.resolve(), text)
            except OSError as error:
                raise SetupError(f"{place} cannot be written: {error.strerror}") from error
        return self._entry(setting)

    def _entry(self, setting: Setting) -> Entry:
        if setting.name in self._overrides:
            return Entry(setting, self._overrides[setting.name], Source.ENVIRONMENT)
        if (value := self._now().values.get(setting.name)) is not None:
            return Entry(setting, value, Source.FILE)
        return Entry(setting, setting.default, Source.DEFAULT)

    def _now(self) -> Written:
        """What the file says, or said before somebody broke it."""
        with self._reading:
            if self._file.is_changed():
                self._trouble = None
                try:
                    self._written = _read(self._file)
                except SetupError as error:
                    self._trouble = error
                    then = "the settings before it stay in force"
                    log.warning("config.broken", error=error.message, then=then)
            return self._written


def _find(key: str) -> Setting:
    if key not in SETTINGS:
        raise BadInput(no_such_setting(key))
    return SETTINGS[key]


def _fitting(setting: Setting, value: Value) -> Value:
    if not setting.fits(value):
        raise BadInput(f"{setting.name} cannot have this value; it must be {setting.bounds}")
    return value


def _read(file: PolicyFile) -> Written:
    return _understand(file.read(), str(file.path))


def _understand(text: str, place: str) -> Written:
    try:
        rows = dict(_rows(tomllib.loads(text)))
    except tomllib.TOMLDecodeError as error:
        last = text.rpartition("\n")[2]
        end = f"at line {text.count(chr(10)) + 1}, column {len(last) + 1}"
        why = str(error).replace("at end of document", end)
        raise SetupError(f"{place} cannot be read: {why[:1].lower()}{why[1:]}") from error
    except RecursionError as error:
        raise SetupError(f"{place} cannot be read: it is nested too deeply") from error
    for name, value in rows.items():
        if name in SETTINGS and not SETTINGS[name].fits(value):
            raise SetupError(f"{place}: {name} must be {SETTINGS[name].bounds}")
    values = {name: cast(Value, value) for name, value in rows.items() if name in SETTINGS}
    return Written(values, tuple(sorted(rows.keys() - SETTINGS.keys())))


def _rows(table: Mapping[str, Any], start: str = "") -> Iterator[tuple[str, Any]]:
    """Every value with its full name; names with other characters are quoted."""
    for key, value in table.items():
        name = start + (key if _BARE.fullmatch(key) else repr(key))
        if isinstance(value, dict):
            yield from _rows(cast("dict[str, Any]", value), f"{name}.")
        else:
            yield name, value
