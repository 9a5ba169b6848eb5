"""The examples work as they lie there."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted(
    path.parent for path in Path(__file__).parent.parent.glob("examples/*/pyproject.toml")
)


def test_there_are_examples() -> None:
    assert EXAMPLES


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_an_example_passes_its_own_tests(example: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", "pyproject.toml"],
        cwd=example,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": "."},
        capture_output=True,
        text=True,
        timeout=50,
    )
    assert done.returncode == 0, done.stdout
