"""Modules that come with Python and delete, overwrite or run more than their names say."""

import shlex

import pytest

from handrail.core.risk import RiskLevel, worst
from handrail.policy.validators.commands import CommandValidator

COMMANDS = CommandValidator("/workspace")


def risk_of(line: str) -> RiskLevel:
    command, *args = shlex.split(line)
    return worst(COMMANDS.validate_command(command, args))


@pytest.mark.parametrize(
    "words",
    [
        *("venv --clear src", "venv --without-pip --clear .", "venv --cle src", "venv src --clear"),
        *("venv --upgrade .venv", "venv --upgrade-deps .venv", "virtualenv --clear src"),
        *("virtualenv -p ./x .venv", "virtualenv --python=./x .venv", "venv .github"),
    ],
)
def test_what_empties_the_folder_of_an_environment_is_told_of(words: str) -> None:
    assert risk_of(f"python3 -m {words}") is RiskLevel.HIGH


@pytest.mark.parametrize(
    "words",
    [
        *("zipfile -e a.zip .github", "tarfile -e a.tar .github", "zipfile -c conftest.py src"),
        *("tarfile --filter=fully_trusted -e a.tar", "zipapp -o Makefile src", "uu -d a Makefile"),
        *("pickletools a -o Makefile", "cProfile -o Makefile a.py", "lib2to3 -o out -w src"),
        *("trace --count -f a.counts a.py", "trace -r --file=a.counts", "trace -cC .github a.py"),
        *("compileall --invalidation-mode unchecked-hash src", "compileall -i list", "pydoc -w x"),
        *("pickle a.pickle", "http.server", "xmlrpc.server", "pydoc -p 0", "ensurepip"),
    ],
)
def test_modules_that_write_or_run_what_nobody_sees_are_told_of(words: str) -> None:
    assert risk_of(f"python3 -m {words}") is RiskLevel.HIGH


@pytest.mark.parametrize(
    "words",
    ["runpy x", "gzip -d Makefile.gz", "fileinput -i a", "pstats a", "webbrowser x", "sqlite3 a x"],
)
def test_modules_that_stand_for_others_or_wait_are_refused(words: str) -> None:
    assert risk_of(f"python3 -m {words}") is RiskLevel.FORBIDDEN


@pytest.mark.parametrize(
    "words",
    [
        *("venv .venv", "venv --prompt x .venv", "zipfile -l a.zip", "zipfile -e a.zip data"),
        *("tarfile -c a.tar src", "compileall -q src", "unittest discover", "doctest README.md"),
        *("cProfile -o a.prof a.py", "trace -t a.py", "zipapp -p python3 -o app.pyz src"),
        *("json a.json", "pydoc json", "lib2to3 -w src"),
    ],
)
def test_what_they_do_otherwise_is_a_change_like_any(words: str) -> None:
    assert risk_of(f"python3 -m {words}") is RiskLevel.MEDIUM
