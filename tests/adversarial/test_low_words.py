"""What passes unasked does nothing, even where nothing would stop it."""

import json
import shutil
import sys
from pathlib import Path

import pytest

from handrail.core.box import Isolation
from handrail.core.hands import Ending
from handrail.executors.sandbox.box import Programs
from tests.adversarial.boxes import boxed, run
from tests.adversarial.low_words import Case, low_commands

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]

HERE = Path(__file__).parent
COUNT = 800
HARMFUL = [
    ["sort", "-o", "out", "f.txt"],
    ["find", ".", "-name", "f.txt", "-exec", "./s.sh", ";"],
    ["sed", "-n", "1w out", "f.txt"],
    ["uniq", "f.txt", "b.txt"],
    ["git", "diff", "--output=out"],
    ["touch", "f.txt"],
    ["cat", "../outside/secret"],
]


async def those_that_act(
    cases: list[Case], ws: Path, programs: Programs, isolation: Isolation
) -> list[Case]:
    """Tried in a place of a box's own, where everything may be written and everything be run."""
    shutil.copy(HERE / "low_driver.py", ws)
    shutil.copy(Path(sys.executable).parent / "rg", ws)
    own = {"rg": str(ws / "rg")}
    ready = [[own.get(name, name), *words] for name, *words in cases]
    (ws / "cases.json").write_text(json.dumps(ready))
    with boxed(ws, programs, isolation) as executor:
        outcome = await run(executor, "python3", "low_driver.py", "cases.json", seconds=300)
    assert (outcome.ending, outcome.exit_code) == (Ending.EXITED, 0), outcome.stderr
    return [json.loads(line) for line in outcome.stdout.splitlines()]


async def test_no_command_that_passes_unasked_does_anything(
    tmp_path: Path, programs: Programs, isolation: Isolation
) -> None:
    cases = low_commands(seed=4711, count=COUNT)

    assert await those_that_act(cases, tmp_path, programs, isolation) == []
    assert len({case[0] for case in cases}) >= 25


async def test_whatever_does_anything_is_noticed(
    tmp_path: Path, programs: Programs, isolation: Isolation
) -> None:
    assert await those_that_act(HARMFUL, tmp_path, programs, isolation) == HARMFUL
