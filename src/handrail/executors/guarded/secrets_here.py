"""SecretsHere: guarded files of a workspace, known again under any name they have there."""

import os
import threading
import time

from handrail.core.errors import CommandExecutionError
from handrail.executors.guarded.names import GuardedNames
from handrail.executors.guarded.second_names import Identity

# Reading is frequent, and must not wait for a look each time: one takes its share and no more.
_SHARE = 20
_LEAST_SECONDS = 1.0


class SecretsHere:
    """Looks by the guarded names, and goes by that look for a while."""

    def __init__(self, names: GuardedNames):
        self._names = names
        self._looking = threading.Lock()
        self.forget()

    @property
    def is_fresh(self) -> bool:
        """Whether what was seen still counts, so that an answer takes no time."""
        return time.monotonic() < self._until

    def forget(self) -> None:
        """Look again before the next answer."""
        self._known: frozenset[Identity] = frozenset()
        self._until = 0.0

    def look(self) -> None:
        """Look now, so that nobody has to wait for it later."""
        with self._looking:
            self._look()

    def hold(self, found: os.stat_result) -> bool:
        """Whether it is one. A yes is by a look of now: numbers of files are soon used again."""
        with self._looking:
            is_new = not self.is_fresh
            if is_new:
                self._look()
            identity = (found.st_dev, found.st_ino)
            if identity in self._known and not is_new:
                self._look()
            return identity in self._known

    def knows_not(self, found: os.stat_result) -> bool:
        """Whether it is surely none, by a look that still counts."""
        return self.is_fresh and (found.st_dev, found.st_ino) not in self._known

    def _look(self) -> None:
        began = time.monotonic()
        try:
            self._known = self._names.secrets()
        except CommandExecutionError:
            # No command runs in such a workspace; a file in it is known by its name alone.
            self._known = frozenset()
        ended = time.monotonic()
        self._until = ended + max(_LEAST_SECONDS, _SHARE * (ended - began))
