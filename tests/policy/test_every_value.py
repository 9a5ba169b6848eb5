"""What holds for every value of the policy: a judgement cannot be talked out of its rules."""

import pkgutil
from dataclasses import is_dataclass
from importlib import import_module

import pytest

import handrail.policy

VALUES = [
    kind
    for module in pkgutil.walk_packages(handrail.policy.__path__, "handrail.policy.")
    for kind in vars(import_module(module.name)).values()
    if isinstance(kind, type) and is_dataclass(kind) and kind.__module__ == module.name
]


def test_there_are_values() -> None:
    assert {"Rules", "PathRule", "Scene", "PathValidator"} <= {kind.__name__ for kind in VALUES}


@pytest.mark.parametrize("kind", VALUES, ids=lambda kind: kind.__name__)
def test_value_is_frozen_and_closed(kind: type) -> None:
    value = object.__new__(kind)
    name = next(iter(kind.__dataclass_fields__))
    with pytest.raises(AttributeError):
        setattr(value, name, None)
    assert not hasattr(value, "__dict__")
