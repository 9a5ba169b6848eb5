"""Changing one value of a TOML text, with everything else left as somebody wrote it."""

from collections.abc import MutableMapping
from typing import Any, cast

import tomlkit
from tomlkit.exceptions import TOMLKitError

from handrail.core.configuration import Value
from handrail.core.errors import SetupError

_FIRST_LINE = "# Handrail's settings. `handrail config list` shows them all.\n"


def with_value(text: str, key: str, value: Value | None) -> str:
    """The text with that value, or without any; a table that is missing is made."""
    area, _, name = key.partition(".")
    document = _parse(text or _FIRST_LINE)
    if area not in document:
        document[area] = tomlkit.table()
    table = _table(document, area)
    if value is None:
        # A table that is empty then stays, for it may have comments.
        table.pop(name, None)
    else:
        table[name] = _item(value)
    return tomlkit.dumps(document)  # pyright: ignore[reportUnknownMemberType]


def _parse(text: str) -> MutableMapping[str, Any]:
    try:
        return tomlkit.parse(text)
    except (TOMLKitError, RecursionError) as error:
        raise SetupError(f"the settings cannot be changed: {error}") from error


def _table(document: MutableMapping[str, Any], area: str) -> MutableMapping[str, Any]:
    found = document[area]
    if not isinstance(found, MutableMapping):
        raise SetupError(f"{area!r} is in the file, but is not a table; remove that line")
    return cast("MutableMapping[str, Any]", found)


def _item(value: Value) -> Any:
    """A text of several lines stands in several lines; TOML would take away an empty first one."""
    if isinstance(value, str) and "\n" in value and not value.startswith("\n"):
        return tomlkit.string(value, multiline=True)
    return value
