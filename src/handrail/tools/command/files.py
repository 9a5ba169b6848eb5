"""Where the paths in a command lead, looked at as late as can be: programs follow links."""

import posixpath
from collections.abc import Iterable

from handrail.core.box import Profile
from handrail.core.errors import PathValidationError
from handrail.core.hands import Hands
from handrail.core.sight import FileSort
from handrail.core.stage import Stage


async def check_files(
    hands: Hands, files: Iterable[tuple[str, bool]], programs: Iterable[str]
) -> dict[str, str]:
    """Look at the files that a command may open, or change, and at the programs it is to run.

    Where links lead by which it may change files, is handed back.

    Raises:
        PathValidationError: One leads outside, or is protected under its true name.
    """
    leading: dict[str, str] = {}
    for path, written in files:
        true_path = await hands.files.check(path, writing=written)
        if written and posixpath.normpath(true_path) != posixpath.normpath(path):
            leading[path] = true_path
    for path in programs:
        try:
            await hands.files.check(path, writing=False)
        except PathValidationError:
            if not await _is_kept_program(hands, path):
                raise
    return leading


async def _is_kept_program(hands: Hands, path: str) -> bool:
    """Whether it is a link in the workspace to a program that nothing in a box can change.

    So is the interpreter of a virtual environment. Who finds the programs decides that.
    """
    await hands.files.check(posixpath.dirname(path) or ".", writing=False)
    word = path if "/" in path else f"./{path}"
    sight = await hands.commands.look([Stage((word,), Profile.READ)])
    return sight.steps[0].program.sort is FileSort.PROGRAM
