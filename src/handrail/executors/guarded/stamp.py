"""By what a folder is known that nobody has changed."""

from typing import NamedTuple

_STILL_NS = 2_000_000_000


class Stamp(NamedTuple):
    """If none of it has changed, neither has what the folder holds, once it has been still."""

    inode: int
    modified_ns: int
    changed_ns: int

    def was_still_at(self, now_ns: int) -> bool:
        """Whether a further change would have been seen: clocks of file systems tick slowly."""
        return now_ns - max(self.modified_ns, self.changed_ns) > _STILL_NS


NEVER = Stamp(0, 0, 0)
