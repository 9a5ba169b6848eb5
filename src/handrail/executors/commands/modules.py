"""Modules of Python that are tools: nothing in the folder they are started in is theirs to run.

`python -m` looks for every module in that folder first, so that a `pip.py` or a `logging.py` of the
workspace would run instead of the real one. A word that the rules put there tells it not to; from
3.11 on this does, and for those that it starts in turn as well.
"""

from itertools import pairwise

from handrail.core.python_tools import PYTHON_TOOLS
from handrail.core.stage import Stage

SAFE_PATH = ("PYTHONSAFEPATH", "1")


def runs_tool(stage: Stage) -> bool:
    """Whether it runs a tool by `python -m`; `-m` can stand in a cluster, and its value too."""
    return any(
        _is_short(flag) and (flag.partition("m")[2] or following) in PYTHON_TOOLS
        for flag, following in pairwise((*stage.argv, ""))
    )


def _is_short(flag: str) -> bool:
    return flag.startswith("-") and not flag.startswith("--") and "m" in flag
