"""What holds for every value of the core: it never changes, and takes no field nobody declared."""

import pkgutil
from dataclasses import is_dataclass
from importlib import import_module

import pytest

import handrail.core

VALUES = [
    kind
    for module in pkgutil.iter_modules(handrail.core.__path__, "handrail.core.")
    for kind in vars(import_module(module.name)).values()
    if isinstance(kind, type) and is_dataclass(kind) and kind.__module__ == module.name
]


def test_there_are_values() -> None:
    assert {"Finding", "Token", "Verdict", "Change"} <= {kind.__name__ for kind in VALUES}


@pytest.mark.parametrize("kind", VALUES, ids=lambda kind: kind.__name__)
def test_value_is_frozen_and_closed(kind: type) -> None:
    value = object.__new__(kind)
    name = next(iter(kind.__dataclass_fields__))
    with pytest.raises(AttributeError):
        setattr(value, name, None)
    assert not hasattr(value, "__dict__")
