"""What holds for every value of core and policy: it never changes, and has no hidden fields."""

import pkgutil
from dataclasses import is_dataclass
from importlib import import_module

import pytest

import handrail.core
import handrail.policy

MODULES = [
    *pkgutil.iter_modules(handrail.core.__path__, "handrail.core."),
    *pkgutil.walk_packages(handrail.policy.__path__, "handrail.policy."),
]
VALUES = [
    kind
    for module in MODULES
    for kind in vars(import_module(module.name)).values()
    if isinstance(kind, type) and is_dataclass(kind) and kind.__module__ == module.name
]


def test_there_are_values() -> None:
    known = {kind.__name__ for kind in VALUES}
    assert {"Finding", "Token", "Verdict", "Change"} <= known
    assert {"Rules", "PathRule", "Scene", "PathValidator"} <= known


@pytest.mark.parametrize("kind", VALUES, ids=lambda kind: kind.__name__)
def test_value_is_frozen_and_closed(kind: type) -> None:
    value = object.__new__(kind)
    for name in kind.__dataclass_fields__:
        with pytest.raises(AttributeError):
            setattr(value, name, None)
    assert not hasattr(value, "__dict__")
