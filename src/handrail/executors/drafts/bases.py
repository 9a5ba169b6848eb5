"""What files were in the workspace when a draft changed them first, so that they can be merged."""

import hashlib
import os
from collections.abc import Iterable

from handrail.core.effects import Effect
from handrail.core.files import EntryKind
from handrail.executors.drafts.layers import DraftLayers
from handrail.executors.rehearsal.nodes import READ
from handrail.executors.rehearsal.way import LISTED, Way

MOST_BYTES = 1_000_000


def keep_bases(layers: DraftLayers, root: str, changes: Iterable[Effect]) -> None:
    """Keep the files that a step changes and no earlier one has, if they are not too large."""
    known = layers.first_before()
    root_fd = os.open(root, LISTED)
    try:
        with Way(root_fd) as way:
            for change in changes:
                before = change.before
                if before is None or before.kind is not EntryKind.FILE or change.path in known:
                    continue
                content = _content(way, change.path) if before.size <= MOST_BYTES else None
                # It may have been saved since; then there is no base.
                if content is not None and _hash(content) == before.sha256:
                    layers.keep_base(before.sha256, content)
    finally:
        os.close(root_fd)


def _content(way: Way, path: str) -> bytes | None:
    try:
        folder_fd, name = way.folder_of(path)
        with open(os.open(name, READ, dir_fd=folder_fd), "rb") as file:
            return file.read(MOST_BYTES + 1)
    except OSError:
        return None


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
