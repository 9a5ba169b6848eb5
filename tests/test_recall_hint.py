"""`make run` says in one line how memories are found, where no model is installed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from handrail.knowledge.minilm import find_weights

SCRIPT = Path(__file__).parent.parent / "scripts" / "recall_hint.py"


def hint(**environment: str) -> str:
    done = subprocess.run(
        [sys.executable, str(SCRIPT)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )
    return done.stdout


def test_without_a_model_one_line_names_the_command_to_install_it(tmp_path: Path) -> None:
    told = hint(HANDRAIL_MEMORY_WEIGHTS=str(tmp_path))
    assert "`make memory`" in told
    assert told.count("\n") == 1


def test_with_a_model_nothing_is_said() -> None:
    if find_weights().folder is None:
        pytest.skip("the model is not installed here")
    assert hint() == ""
