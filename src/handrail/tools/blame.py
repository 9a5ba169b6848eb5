"""Whose fault it is. Tools may come from anywhere; none may take Handrail down."""

import asyncio
from collections.abc import Generator
from contextlib import contextmanager

from handrail.core.errors import BadInput, BrokenTool, ToolError


@contextmanager
def blaming(tool_name: str, when: str) -> Generator[None]:
    """Whatever a tool raises in here, besides what it may raise, becomes one kind of error.

    Raises:
        BrokenTool: It says which tool broke and when, and nothing of what it knew.
    """
    try:
        yield
    except (BadInput, ToolError, BrokenTool):
        raise
    except BaseException as error:
        if isinstance(error, GeneratorExit) or _is_called_off(error):
            raise
        raise BrokenTool(f"{tool_name} failed {when}: {type(error).__name__}") from error


def _is_called_off(error: BaseException) -> bool:
    """Whether somebody has stopped us, and not the tool itself has said so."""
    try:
        task = asyncio.current_task()
    except RuntimeError:
        task = None
    if task is None:
        return isinstance(error, KeyboardInterrupt | asyncio.CancelledError)
    return isinstance(error, asyncio.CancelledError) and task.cancelling() > 0
