"""The box that a command runs in, and what is proven of it on a machine."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


class Profile(StrEnum):
    """Boxes, each of which lets through more than the one before. Compare them by `widest` only."""

    READ = "read"
    WRITE = "write"
    NET = "net"


_ORDER = tuple(Profile)


def widest(profiles: Iterable[Profile]) -> Profile:
    """The box in which all of them have room; the narrowest where nobody needs any."""
    return max(profiles, key=_ORDER.index, default=Profile.READ)


class Room(NamedTuple):
    """The most that commands can do in their boxes: in the widest, and whether to `.git`."""

    profile: Profile
    changes_git: bool


class Wall(StrEnum):
    """One thing that keeps a command in. Each is proven by trying to get past it."""

    NAMESPACES = "namespaces"
    SECCOMP = "seccomp"
    LIMITS = "limits"
    LANDLOCK = "landlock"
    # Commands can be rehearsed over an overlay of the workspace.
    OVERLAY = "overlay"


@dataclass(frozen=True, slots=True)
class Isolation:
    """What keeps commands in on one machine; `why_not` says what is in the way, if anything."""

    walls: tuple[Wall, ...] = ()
    why_not: str | None = None

    @property
    def holds(self) -> bool:
        """Whether a command can be let run unasked: without one of these it could get out.

        Landlock is no such wall. It keeps most of what was approved to the workspace, and leaves
        other processes, the names of files, their rights and times within reach.
        """
        return Wall.NAMESPACES in self.walls and Wall.SECCOMP in self.walls

    @property
    def rehearses(self) -> bool:
        """True if commands can be rehearsed: run over an overlay and thrown away."""
        return self.holds and Wall.OVERLAY in self.walls
