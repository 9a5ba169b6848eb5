"""Modules of Python that are run by their names, and what they may be instead."""

from collections.abc import Sequence

from handrail.core.box import Profile
from handrail.core.python_tools import PYTHON_TOOLS
from handrail.core.risk import Finding, RiskLevel
from handrail.policy.rulebook.concerns import rule_of
from handrail.policy.rulebook.inner import Inner
from handrail.policy.rulebook.reading import Addition, Reading, shown

# It looks for no module in the folder it is started in, whichever Python it is.
_ISOLATED = "-I"
_ENDS = (".py", ".pyc", ".so")
# With the version of Python, or the machine's, in between.
_BUILT, _COMPILED = _SEVERAL = (".*.so", ".*.pyc")


def read_module(title: str, argv: Sequence[str], at: int, inner: Inner) -> Reading:
    """A module that has the name of a command is judged as that command.

    Where it is no tool, the workspace may bring it: then it is code like any, without a network.
    """
    read = inner.read(argv, at)
    if argv[0] in PYTHON_TOOLS or read.profile is not Profile.NET:
        return read
    reason = f"{title} runs a module {shown(argv[0])}, which may be one of the workspace itself"
    finding = Finding(rule_of(title), reason, RiskLevel.HIGH)
    return read._replace(
        findings=(*read.findings, finding), profile=Profile.WRITE, networks=(), additions=()
    )


def isolation(module: str | None, at: int) -> tuple[Addition, ...]:
    """What keeps a tool from taking modules of the workspace for its own."""
    return (Addition(at, (_ISOLATED,)),) if module in PYTHON_TOOLS else ()


def files_of_module(name: str) -> list[str]:
    """Files of the folder that Python takes for a module of this name, before any other.

    On the way to it every package runs, and of each Python may have kept what it has compiled.
    """
    parts = name.split(".")
    if not name or "/" in name:
        return []
    packages = ["/".join(parts[: count + 1]) for count in range(len(parts))]
    starts = [packages[-1], *(f"{way}/__init__" for way in packages), f"{packages[-1]}/__main__"]
    return [file for start in starts for file in _forms_of(start)]


def is_of_several(word: str) -> bool:
    """Whether this is what a module may be kept as under many names, and stands for them all."""
    return word.endswith(_SEVERAL)


def _forms_of(start: str) -> list[str]:
    folder, mark, name = start.rpartition("/")
    kept = f"{folder}{mark}__pycache__/{name}{_COMPILED}"
    return [*(f"{start}{end}" for end in _ENDS), f"{start}{_BUILT}", kept]
