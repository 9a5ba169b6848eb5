"""Whether the database can be written, and whether its files are the ones that were opened."""

import os
from pathlib import Path

import structlog

from handrail.core.errors import StoreDamaged, StoreReplaced, StoreUnavailable
from handrail.store.faults import WAYS_ON

log = structlog.get_logger(__name__)

# SQLite keeps its log and its locks in the other two; none of them changes while it is open.
_SUFFIXES = ("", "-wal", "-shm")
_REPLACED = (
    "the files of Handrail's database were removed or replaced while the server was running, so "
    f"nothing is stored any more; stop the server, then {WAYS_ON}"
)


class Condition:
    """The last fault. Damage and a replaced file last until the server is started again."""

    def __init__(self, path: Path):
        self._files = [path.with_name(f"{path.name}{suffix}") for suffix in _SUFFIXES]
        self._opened: list[tuple[int, int] | None] = []
        self.fault: StoreUnavailable | None = None

    @property
    def is_lasting(self) -> bool:
        return isinstance(self.fault, StoreDamaged | StoreReplaced)

    def remember_files(self) -> None:
        self._opened = [_identity(file) for file in self._files]

    def check_files(self) -> None:
        """Raises StoreReplaced if a file was removed or replaced since it was opened."""
        if [_identity(file) for file in self._files] != self._opened:
            raise StoreReplaced(_REPLACED)

    def note(self, fault: StoreUnavailable) -> None:
        if self.is_lasting:
            return
        if self.fault is None or self.fault.message != fault.message:
            log.error("store.unavailable", error=fault.message)
        self.fault = fault

    def note_success(self) -> None:
        if self.fault is not None and not self.is_lasting:
            log.warning("store.available")
            self.fault = None

    def raise_lasting(self) -> None:
        if self.fault is not None and self.is_lasting:
            # One exception is not raised twice: its traceback would grow.
            raise type(self.fault)(self.fault.message)


def _identity(file: Path) -> tuple[int, int] | None:
    try:
        found = os.stat(file)
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino
