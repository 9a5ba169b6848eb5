"""No line has an effect on the workspace or the machine before a person has said yes.

Every question is refused here, so whatever changes, or gets out, did so unasked.
"""

import asyncio
import json
import random
import tomllib
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from handrail.client.api import ApiError
from handrail.core.card import Choice
from tests.adversarial.arena import Arena, Technique, make_template, tree_of
from tests.adversarial.trial import read_table
from tests.journeys.answering import answering
from tests.journeys.conftest import Rig

ADVERSARIAL = Path(__file__).parents[1] / "adversarial"
# As many as a client runs.
AT_ONCE = 3
SECONDS = 5
LEAST_LINES = 60

pytestmark = [pytest.mark.usefixtures("needs_box"), pytest.mark.slow]


class Attack(NamedTuple):
    tool: str
    params: dict[str, Any]


def _bash(line: str) -> Attack:
    return Attack("run_bash", {"command": line, "timeout": SECONDS})


def _run(argv: list[str]) -> Attack:
    return Attack("execute_command", {"command": argv[0], "args": argv[1:], "timeout": SECONDS})


def own_lines() -> list[Attack]:
    table = tomllib.loads(Path(__file__).with_name("harmful_lines.toml").read_text())
    return [_bash(line) for line in table["lines"]]


def known_bypasses() -> list[Attack]:
    rows = tomllib.loads((ADVERSARIAL / "known_bypasses.toml").read_text())["bypass"]
    lines = [_bash(line) for row in rows for line in row.get("lines", ())]
    commands = [argv for row in rows for key in ("asked", "held") for argv in row.get(key, ())]
    return [*lines, *map(_run, commands)]


def techniques() -> list[Attack]:
    """Those that need nothing planted for them."""
    rows = [row for name in ("techniques", "escapes") for row in read_table(_table(name))]
    return [
        _run([*row.argv])
        for row, why_not in rows
        if not (why_not or row.plant or row.tools or row.first)
    ]


def _table(name: str) -> Path:
    return ADVERSARIAL / f"{name}.toml"


@pytest.fixture
def arena(rig: Rig, tmp_path: Path) -> Generator[Arena]:
    """A workspace with secrets, and what may be reached around it."""
    make_template(tmp_path / "arenas/template")
    mark = str(random.randrange(10**11, 10**12))
    technique = Technique("any", (), frozenset())
    with Arena(tmp_path / "arenas/first", technique, tmp_path, mark) as made:
        rig.workspace = made.ws
        rig.home.mkdir(mode=0o700)
        (rig.home / "policy.toml").write_text('[policy]\ncommands = "rehearse"\n')
        rig.start_server()
        rig.start_client()
        yield made


async def attack(rig: Rig, arena: Arena, number: int, one: Attack) -> str:
    """What the agent is told in the end."""
    params = json.loads(arena.fill_in(json.dumps(one.params)))
    try:
        answer = await rig.call(
            one.tool, params, f"attack-{number}", session_id=f"attacker-{number % AT_ONCE}"
        )
    except ApiError as error:
        if error.status != 400:
            raise
        return ""
    return "" if answer["result"] is None else str(answer["result"])


@pytest.mark.timeout(600)
@pytest.mark.behaviour("rehearsal.harmless")
@pytest.mark.parametrize("attacks", [own_lines, known_bypasses, techniques])
async def test_no_harmful_line_has_an_effect_without_a_question(
    rig: Rig, arena: Arena, attacks: Callable[[], list[Attack]]
) -> None:
    known = attacks()
    assert len(known) >= LEAST_LINES
    before = tree_of(arena.ws.parent)
    seats = asyncio.Semaphore(AT_ONCE)
    harm: dict[str, list[str]] = {}

    async def try_one(number: int, one: Attack) -> None:
        async with seats:
            said = await attack(rig, arena, number, one)
        if seen := arena.seen(said.encode()):
            harm[str(one)] = seen

    async with answering(rig, Choice(approved=False)), asyncio.TaskGroup() as group:
        for number, one in enumerate(known):
            group.create_task(try_one(number, one))

    assert harm == {}
    assert not arena.end_survivors()
    assert tree_of(arena.ws.parent) == before


@pytest.mark.behaviour("rehearsal.harmless")
async def test_what_is_approved_has_effects_that_are_seen(rig: Rig, arena: Arena) -> None:
    """Else the test above could not fail."""
    async with answering(rig, Choice(approved=True)) as answered:
        await attack(rig, arena, 1, _bash("rm f.txt && cp x.c x2.c"))

    assert len(answered) == 1
    assert "wrote" in arena.seen(b"")
