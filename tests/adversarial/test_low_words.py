"""Commands that pass unasked have no effect in the read box, and nearly none without it."""

import json
import shutil
import sys
from pathlib import Path

import pytest

from handrail.core.box import Isolation, Profile
from handrail.core.errors import ToolError
from handrail.core.outcome import Ending
from handrail.executors.sandbox.box import Programs
from tests.adversarial.boxes import boxed, run
from tests.adversarial.low_driver import PLACE, SECRET, look, make_place
from tests.adversarial.low_words import Case, low_commands

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]

HERE = Path(__file__).parent
SEED = 4711
OPEN_COUNT, BOX_COUNT = 2_000, 300
HARMFUL = [
    ["sort", "-o", "out", "f.txt"],
    ["find", ".", "-name", "f.txt", "-exec", "./s.sh", ";"],
    ["sed", "-n", "1w out", "f.txt"],
    ["uniq", "f.txt", "b.txt"],
    ["git", "diff", "--output=out"],
    ["touch", "f.txt"],
    ["cat", "../outside/secret"],
]
# Readers that write where no box keeps them from it. The table knows words and does not count
# operands, so only the box holds these.
HELD_BY_THE_BOX = {
    "uniq": [["uniq", "f.txt", "b.txt"]],
    "xxd": [["xxd", "f.txt", "b.txt"]],
    "git symbolic-ref": [["git", "symbolic-ref", "HEAD", "refs/heads/x"]],
}
MOST_IN_THE_OPEN = OPEN_COUNT // 200


async def acting_in_the_open(
    cases: list[Case], ws: Path, programs: Programs, isolation: Isolation
) -> list[Case]:
    """Those with an effect where everything may be written and every program run."""
    shutil.copy(HERE / "low_driver.py", ws)
    shutil.copy(Path(sys.executable).parent / "rg", ws)
    own = {"rg": str(ws / "rg")}
    ready = [[own.get(name, name), *words] for name, *words in cases]
    (ws / "cases.json").write_text(json.dumps(ready))
    with boxed(ws, programs, isolation) as executor:
        outcome = await run(executor, "python3", "low_driver.py", "cases.json", seconds=300)
    assert (outcome.ending, outcome.exit_code) == (Ending.EXITED, 0), outcome.stderr
    return [json.loads(line) for line in outcome.stdout.splitlines()]


async def acting_in_the_read_box(
    cases: list[Case], home: Path, programs: Programs, isolation: Isolation
) -> tuple[list[Case], int]:
    """Those with an effect in the box in which they really run, and how many were started."""
    acting: list[Case] = []
    started = 0
    before = look(str(home))
    with boxed(home / "arena", programs, isolation) as executor:
        for argv in cases:
            try:
                outcome = await run(executor, *argv, profile=Profile.READ, seconds=10)
            except ToolError:
                continue
            started += 1
            after = look(str(home))
            if after != before or SECRET in outcome.stdout + outcome.stderr:
                acting.append(argv)
            before = after
    return acting, started


def name_of(argv: Case) -> str:
    return " ".join(argv[:2]) if argv[0] == "git" else argv[0]


@pytest.mark.behaviour("command.every-option")
async def test_no_command_that_passes_unasked_acts_in_the_box_it_gets(
    tmp_path: Path, programs: Programs, isolation: Isolation
) -> None:
    make_place(str(tmp_path))
    cases = low_commands(SEED, BOX_COUNT, str(tmp_path / "arena"))
    cases += [argv for held in HELD_BY_THE_BOX.values() for argv in held]

    acting, started = await acting_in_the_read_box(cases, tmp_path, programs, isolation)

    assert acting == []
    assert started >= 0.9 * len(cases)


async def test_hardly_any_of_them_acts_even_in_the_open(
    tmp_path: Path, programs: Programs, isolation: Isolation
) -> None:
    cases = low_commands(SEED, OPEN_COUNT, PLACE)

    acting = await acting_in_the_open(cases, tmp_path, programs, isolation)

    assert [argv for argv in acting if name_of(argv) not in HELD_BY_THE_BOX] == []
    assert len(acting) <= MOST_IN_THE_OPEN
    assert len({name_of(case) for case in cases}) >= 60


async def test_every_effect_is_noticed_in_the_open_and_none_is_had_in_the_box(
    tmp_path: Path, programs: Programs, isolation: Isolation
) -> None:
    held = [argv for cases in HELD_BY_THE_BOX.values() for argv in cases if argv[0] != "xxd"]
    harmful = [*HARMFUL, *held]
    (tmp_path / "open").mkdir()
    (tmp_path / "boxed").mkdir()
    make_place(str(tmp_path / "boxed"))

    assert await acting_in_the_open(harmful, tmp_path / "open", programs, isolation) == harmful
    acting, started = await acting_in_the_read_box(harmful, tmp_path / "boxed", programs, isolation)
    assert (acting, started) == ([], len(harmful))
