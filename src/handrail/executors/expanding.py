"""A stage made ready: in a folder that is there, with the names its patterns stand for now."""

import os

from handrail.core.errors import CommandExecutionError
from handrail.core.stage import Stage
from handrail.executors.beneath import PASSAGE, open_beneath
from handrail.executors.explain import explain
from handrail.executors.patterns import expand


def expanded(root: str, stage: Stage) -> Stage:
    """The stage without patterns.

    Raises:
        CommandExecutionError: Its folder is not there, or a pattern stands for too many names.
        PathValidationError: Its folder leads out of the workspace.
    """
    words = [name for names in names_of_each(root, stage) for name in names]
    return stage._replace(argv=tuple(words), patterns=())


def names_of_each(root: str, stage: Stage) -> list[tuple[str, ...]]:
    """What each word of a stage stands for; all but patterns stand for themselves.

    Raises:
        CommandExecutionError, PathValidationError: As above.
    """
    if stage.folder == "." and not stage.patterns:
        return [(word,) for word in stage.argv]
    root_fd = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        _check_folder(root_fd, stage.folder)
        return [
            tuple(expand(root_fd, stage.folder, word)) if place in stage.patterns else (word,)
            for place, word in enumerate(stage.argv)
        ]
    finally:
        os.close(root_fd)


def _check_folder(root_fd: int, folder: str) -> None:
    try:
        os.close(open_beneath(root_fd, folder, PASSAGE))
    except (FileNotFoundError, NotADirectoryError) as error:
        raise CommandExecutionError(f"there is no folder {folder} in the workspace") from error
    except OSError as error:
        raise explain(error, folder, "enter") from error
