"""Flags that name a folder to be emptied, or a file to be written over, are told of."""

import shlex

import pytest

from handrail.core.risk import RiskLevel, worst
from handrail.policy.rulebook.rules import default_rules
from handrail.policy.rulebook.settings import PACKS
from handrail.policy.validators.commands import CommandValidator

COMMANDS = CommandValidator("/workspace", default_rules(PACKS))


def risk_of(line: str) -> RiskLevel:
    command, *args = shlex.split(line)
    return worst(COMMANDS.validate_command(command, args))


def is_grantable(line: str) -> bool:
    command, *args = shlex.split(line)
    return COMMANDS.class_of(command, args) is not None


@pytest.mark.parametrize(
    "line",
    [
        *("pytest -o addopts=--basetemp=src", "pytest -oaddopts=--pdb", "pytest -qo a=b"),
        *("pytest --override-ini=addopts=--pdb", "pytest --over a=b", "pytest --basetemp src"),
        *("pytest -c x.ini", "pytest --config-file=x.ini", "python -m pytest -o addopts=--pdb"),
        *("cargo clean --target-dir docs", "cargo clean --targ=docs", "cargo vendor src"),
        *("cargo clean --manifest-path web/Cargo.toml", "cargo vendor --no-delete -- src"),
        *("go clean -i ./...", "go clean --modcache", "uv venv --clear src", "uv venv -c src"),
        *("uv build --clear --out-dir src", "uv pip install --target src x", "uv export -o a.txt"),
        *(
            "pip install -t src --upgrade x",
            "pip install --prefix=src x",
            "pip wheel --log Makefile x",
        ),
        *("npm cache clean --force", "make -C web", "cmake --install build --prefix src"),
        *(
            "mypy --html-report src src",
            "mypy --txt-rep=src src",
            "coverage erase --data-file=a.py",
        ),
        *("tox -xtestenv.envdir=src", "pdm build --dest src", "poetry build --clean"),
        *(
            "jest --coverageDirectory src",
            "jest --clearCache --cacheDirectory=src",
            "tsc -b --clean",
        ),
        *("vitest run --coverage.reportsDirectory=src", "playwright test --output src"),
        *("c8 --temp-directory=src node a.js", "eslint --fix -o Makefile src"),
        *("eslint --cache-location a.js src", "vite build --outDir src", "tsc --outFile Makefile"),
        *("webpack --output-path src --output-clean", "rustc -o Makefile a.rs"),
    ],
)
def test_what_empties_or_overwrites_what_it_is_given_is_told_of(line: str) -> None:
    assert risk_of(line) is RiskLevel.HIGH


@pytest.mark.parametrize(
    "line",
    [
        *("pytest --junitxml=Makefile", "pytest --cov-report=html:src", "pytest --log-file a.py"),
        *("go test -coverprofile=a.go ./...", "go test --cpuprofile a.go", "go build -o a ./..."),
    ],
)
def test_no_grant_reaches_to_files_that_flags_write(line: str) -> None:
    assert risk_of(line) is RiskLevel.MEDIUM
    assert not is_grantable(line)


@pytest.mark.parametrize(
    "line",
    [
        *(
            "pytest --co -q",
            "pytest -q --tb=short tests",
            "cargo clean",
            "cargo clean -p x --release",
        ),
        *(
            "cargo vendor",
            "cargo vendor --locked",
            "go clean",
            "uv venv",
            "uv venv .venv",
            "uv build",
        ),
        *("pip install --pre x", "uv pip install -r requirements.txt", "jest --coverage --cache"),
        *("tox -e fix", "coverage run -m pytest -x", "eslint --cache src", "tsc --declaration"),
        *("tsc --outDir dist", "rustc -o app main.rs", "vitest run --coverage --reporter=dot"),
        *("mypy --strict src", "poetry build", "vite build"),
    ],
)
def test_the_same_commands_are_as_they_were_without_such_flags(line: str) -> None:
    assert risk_of(line) is RiskLevel.MEDIUM
