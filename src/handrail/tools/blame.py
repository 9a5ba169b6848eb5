"""Whose fault it is. Tools may come from anywhere; none may take Handrail down."""

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
    except (Exception, SystemExit) as error:
        raise BrokenTool(f"{tool_name} broke {when}: {type(error).__name__}") from error
