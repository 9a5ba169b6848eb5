"""Commands for a test, shortly."""

from collections.abc import Sequence

from handrail.core.box import Profile
from handrail.core.stage import Stage


def one(argv: Sequence[str], profile: Profile = Profile.WRITE) -> list[Stage]:
    """A single command."""
    return [Stage(tuple(argv), profile)]
