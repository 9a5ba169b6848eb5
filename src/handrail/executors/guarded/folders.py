"""GuardedFolders: a workspace as boxes show it, with the folders beside it that can be read."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from handrail.core.errors import CommandExecutionError
from handrail.executors.guarded.names import GuardedNames
from handrail.executors.sandbox.bubblewrap import GitAccess, View


class GuardedFolders:
    """`beside` tells what must be hidden in the folders that may be read at that moment."""

    def __init__(self, own: GuardedNames, beside: Callable[[], Sequence[GuardedNames]]):
        self.root = own.root
        self._own = own
        self._beside = beside

    def view(self, git: GitAccess = GitAccess.NONE) -> View:
        """The workspace and these folders as a box should show them now.

        Raises:
            CommandExecutionError: There is more to cover in one of them than a box can.
        """
        own = self._own.view(git)
        return replace(own, beside=tuple(map(_view_beside, self._beside())))


def _view_beside(guarded: GuardedNames) -> View:
    try:
        return guarded.view()
    except CommandExecutionError as error:
        told = f"{error.message}; this is about {guarded.root}, a folder that agents may read"
        raise CommandExecutionError(told) from error
