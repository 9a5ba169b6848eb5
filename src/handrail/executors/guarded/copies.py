"""Files of git of which a box shows a copy."""

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress

from handrail.core.errors import CommandExecutionError
from handrail.executors.guarded.settings_copies import copy_without_passwords
from handrail.executors.repository.index import MOST_BYTES
from handrail.executors.repository.overlooked import by_index, overlooking
from handrail.executors.repository.plain import read_plain


def copies_of_settings(root: str, settings: Iterable[str]) -> dict[str, bytes | None]:
    """A copy of each file with a password in it; None of one that cannot be read."""
    found: dict[str, bytes | None] = {}
    for path in settings:
        try:
            copy = copy_without_passwords(os.path.join(root, path))
        except CommandExecutionError:
            found[path] = None
        else:
            found |= {} if copy is None else {path: copy}
    return found


def copies_of_indexes(root: str, hidden: Iterable[str]) -> Mapping[str, bytes | None]:
    """A copy of each index that tracks hidden files, by which git takes them for unchanged."""
    found: dict[str, bytes | None] = {}
    for path, names in by_index(hidden).items():
        with suppress(ValueError):
            content = read_plain(os.path.join(root, path), MOST_BYTES)
            if content and (copy := overlooking(content, names)) is not None:
                found[path] = copy.content
    return found
