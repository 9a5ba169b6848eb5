"""Attackers, and boxes to attack from."""

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from handrail.core.box import Isolation
from tests.adversarial.people import Person, somebody_else, whoever_runs_the_tests

AN_ORDINARY_USER = "an ordinary user"
TOOLS = ("rg", "ruff")


@pytest.fixture(params=["root", AN_ORDINARY_USER])
def person(request: pytest.FixtureRequest, isolation: Isolation) -> Iterator[Person]:
    """Somebody who attacks; root can be both, anybody else only themselves."""
    is_root = os.geteuid() == 0
    if not is_root and request.param == "root":
        pytest.skip("not started as root: the half that runs as root was not run")
    if not is_root or request.param == "root":
        with whoever_runs_the_tests() as found:
            yield found
        return
    with somebody_else() as found:
        if found is None:
            pytest.skip("there is no Python 3.11 that an ordinary user could run")
        yield found


@pytest.fixture
def tools(tmp_path_factory: pytest.TempPathFactory, person: Person) -> Path:
    """Programs that came with the tests, where the attacker can take them from."""
    folder = person.folder.parent / "tools" if person.uid else person.folder / "tools"
    folder.mkdir()
    for name in TOOLS:
        shutil.copy(Path(sys.executable).parent / name, folder / name)
    return folder
