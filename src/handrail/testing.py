"""Stand-ins for time and for the machine, for our own tests and for those of plug-ins.

clock = FakeClock()
hands = FakeHands({"README.md": b"hello"})
result = await ReadFile().execute(params, scene, hands)
"""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from handrail.core.errors import FileOperationError
from handrail.core.hands import FileContent, Hands


class FakeClock:
    """Stands still until it is moved."""

    def __init__(self, start: datetime = datetime(2026, 1, 1, tzinfo=UTC)):
        self._now = start

    def now(self) -> datetime:
        return self._now

    def advance(self, seconds: float) -> None:
        self._now += timedelta(seconds=seconds)


class FakeFiles:
    """A workspace that exists only in memory."""

    def __init__(self, files: Mapping[str, bytes]):
        self.files = dict(files)

    async def read(self, path: str, *, max_bytes: int) -> FileContent:
        if path not in self.files:
            raise FileOperationError(f"{path} does not exist")
        data = self.files[path]
        if len(data) > max_bytes:
            raise FileOperationError(f"{path} is larger than {max_bytes:,} bytes")
        return FileContent(data, len(data))


class FakeHands(Hands):
    """Hands that touch nothing real."""

    def __init__(self, files: Mapping[str, bytes] | None = None):
        super().__init__(files=FakeFiles(files or {}))
