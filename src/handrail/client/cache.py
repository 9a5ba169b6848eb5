"""What was read is kept for a few minutes, and given again only while it is certainly the same."""

from collections import OrderedDict
from datetime import datetime, timedelta
from typing import NamedTuple

from handrail.core.hands import FileContent, FileVersion
from handrail.core.ports import Clock

MOST_BYTES = 32_000_000
KEPT = timedelta(minutes=5)
# Two changes within one tick of a file system's clock look like one; the coarsest ticks are 2 s.
_SETTLED_NS = 2_100_000_000


class _Kept(NamedTuple):
    content: FileContent
    until: datetime


class ContentCache:
    """Contents by the version of the file they were read from; the longest unused go first."""

    def __init__(self, clock: Clock, *, max_bytes: int = MOST_BYTES):
        self._clock = clock
        self._max_bytes = max_bytes
        self._bytes = 0
        self._kept: OrderedDict[FileVersion, _Kept] = OrderedDict()

    def find(self, version: FileVersion) -> FileContent | None:
        kept = self._kept.get(version)
        if kept is None:
            return None
        if kept.until <= self._clock.now():
            self._forget(version)
            return None
        self._kept.move_to_end(version)
        return kept.content

    def keep(self, version: FileVersion, content: FileContent) -> None:
        """Keep what was read, unless the file has changed so lately that it could change unseen."""
        now = self._clock.now()
        self._forget_outdated(now)
        last_change = max(version.modified_ns, version.changed_ns)
        if now.timestamp() * 1e9 - last_change < _SETTLED_NS or content.size > self._max_bytes:
            return
        self._forget(version)
        self._kept[version] = _Kept(content, now + KEPT)
        self._bytes += content.size
        while self._bytes > self._max_bytes:
            self._forget(next(iter(self._kept)))

    def _forget_outdated(self, now: datetime) -> None:
        for version in [one for one, kept in self._kept.items() if kept.until <= now]:
            self._forget(version)

    def _forget(self, version: FileVersion) -> None:
        kept = self._kept.pop(version, None)
        if kept is not None:
            self._bytes -= kept.content.size
