"""Modules of Python that are tools: nothing in the folder they are started in is theirs to run.

`python -m` looks for every module in that folder first, so that a `pip.py` or a `logging.py` of the
workspace would run instead of the real one. From 3.11 on Python can be told not to.
"""

from itertools import pairwise

from handrail.core.stage import Stage

SAFE_PATH = ("PYTHONSAFEPATH", "1")
_TOOLS = frozenset(
    [
        *("black", "build", "compileall", "ensurepip", "isort", "json.tool", "pip"),
        *("pip3", "pipx", "py_compile", "ruff", "tarfile", "twine", "venv", "virtualenv", "wheel"),
        *("zipfile",),
    ]
)


def runs_tool(stage: Stage) -> bool:
    """Whether it runs a tool by `python -m`; `-m` can stand in a cluster, and its value too."""
    return any(
        _is_short(flag) and (flag.partition("m")[2] or following) in _TOOLS
        for flag, following in pairwise((*stage.argv, ""))
    )


def _is_short(flag: str) -> bool:
    return flag.startswith("-") and not flag.startswith("--") and "m" in flag
