"""Running the programs beside this one as root, and as an ordinary user."""

import json
import os
import shutil
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.adversarial.people import REPOSITORY, Person, somebody_else, whoever_runs_the_tests

_HERE = "tests/executors/rehearsal"
ACCOUNTS = ("tester", "ordinary user")


@contextmanager
def account(name: str) -> Generator[Person]:
    if name == "tester":
        with whoever_runs_the_tests() as person:
            yield person
        return
    if os.geteuid() != 0:
        pytest.skip("only root can become another user")
    with somebody_else() as person:
        if person is None:
            pytest.skip("there is no Python that another user may run")
        shutil.copytree(REPOSITORY / _HERE, person.code / _HERE)
        yield person


def run(person: Person, program: str, folder: Path, *words: object) -> dict[str, Any]:
    """Run a program in a folder of the person's own, and return its findings."""
    own = folder / f"{program}-{person.uid}"
    own.mkdir()
    if person.uid is not None:
        os.chown(own, person.uid, person.uid)
    path = f"../executors/rehearsal/{program}"
    return json.loads(person.run(path, own, *map(str, words)))
