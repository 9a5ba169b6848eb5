"""The contents before and after a change, for the card that shows them."""

import os
import stat

from handrail.core.effects import Effect, Node
from handrail.executors.rehearsal.nodes import READ
from handrail.executors.rehearsal.way import Way

MOST_BYTES = 1_000_000


class LayerContents:
    """Reads the file at a path from both layers, if it is not too large."""

    def __init__(self, lower_fd: int, upper_fd: int, most_bytes: int = MOST_BYTES):
        self._layers = lower_fd, upper_fd
        self._most_bytes = most_bytes

    def __call__(self, change: Effect) -> tuple[bytes | None, bytes | None]:
        lower_fd, upper_fd = self._layers
        before = self._read(lower_fd, change.path, change.before)
        return before, self._read(upper_fd, change.path, change.after)

    def _read(self, root_fd: int, path: str, node: Node | None) -> bytes | None:
        # Without a hash it was hidden from the command, and is none of a card's business.
        if node is None or not node.sha256:
            return None
        with Way(root_fd) as way:
            try:
                folder_fd, name = way.folder_of(path)
                fd = os.open(name, READ, dir_fd=folder_fd)
            except OSError:
                return None
        with os.fdopen(fd, "rb") as file:
            found = os.fstat(fd)
            if not stat.S_ISREG(found.st_mode) or found.st_size > self._most_bytes:
                return None
            return file.read()
