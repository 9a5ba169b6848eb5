"""Which keys decide: those that stand alone, on a screen that has been seen for a moment."""

import time
from dataclasses import dataclass

from handrail.channels.keyboard import END, Keys
from handrail.channels.terminal import DEAF_SECONDS, QUIET_SECONDS

_LONG = 3600.0


@dataclass(frozen=True, slots=True)
class Patience:
    deaf_seconds: float = DEAF_SECONDS
    quiet_seconds: float = QUIET_SECONDS


class Attention:
    """The rule of the terminal's dialog, for keys that come from Textual."""

    def __init__(self, patience: Patience):
        self._patience = patience
        self._keys = Keys()
        self._deaf_until = 0.0

    @property
    def is_there(self) -> bool:
        """Whether what is shown has been seen for a moment."""
        return time.monotonic() >= self._deaf_until

    def begin_anew(self) -> None:
        """Something else is shown: what was pressed until it could be read is for nothing."""
        # Whoever waits for a key of before hears that there will be none.
        self._keys.press(END, time.monotonic())
        self._keys = Keys()
        self._deaf_until = time.monotonic() + self._patience.deaf_seconds

    def press(self, key: str, at: float) -> None:
        if at < self._deaf_until:
            # The rest of a line that began too early is no lone key either.
            self._deaf_until = max(self._deaf_until, at + self._patience.quiet_seconds)
        else:
            self._keys.press(key, at)

    async def next_key(self) -> str:
        """The next key that stands alone on what is shown now."""
        while True:
            keys = self._keys
            key = await keys.lone_key(_LONG, self._patience.quiet_seconds)
            if key is not None and keys is self._keys:
                return key
