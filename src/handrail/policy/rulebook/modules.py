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
_ENDS = (".py", ".pyc", ".so", ".abi3.so")


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
    """Files of the folder that Python takes for a module of this name, before any other."""
    way = name.replace(".", "/")
    package = way.partition("/")[0]
    files = [f"{start}{end}" for start in (way, f"{package}/__init__") for end in _ENDS]
    files += [f"{way}/__main__{end}" for end in _ENDS]
    return list(dict.fromkeys(files)) if name and "/" not in name else []
