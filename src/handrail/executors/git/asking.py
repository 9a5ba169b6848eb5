"""Asking git itself about a repository, where nothing can be changed."""

from collections.abc import Awaitable, Callable, Sequence

from handrail.core.box import Profile
from handrail.core.errors import CommandExecutionError
from handrail.core.outcome import CommandOutcome, Ending
from handrail.core.stage import Stage
from handrail.core.visible import cut, visible
from handrail.executors.git.words import GIT

# Runs a command in the box in which nothing can be changed.
Look = Callable[[Stage], Awaitable[CommandOutcome]]

_MOST_CHARS = 200


async def ask_git(look: Look, words: Sequence[str], folder: str) -> bytes:
    """All that git says.

    Raises:
        CommandExecutionError: It fails, or says more than is kept.
    """
    outcome = await look(Stage((GIT, *words), Profile.READ, folder=folder, programs=(GIT,)))
    if outcome.ending is Ending.EXITED and not outcome.exit_code and not outcome.stdout_lost:
        return outcome.stdout
    why = visible(outcome.stderr.decode(errors="replace").strip())
    raise CommandExecutionError(cut(why, _MOST_CHARS) or "git fails")
