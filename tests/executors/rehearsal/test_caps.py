"""A rehearsal that takes too much ends, says why, and leaves the next one untouched."""

import os
from dataclasses import replace

import pytest

from handrail.core.box import Profile
from handrail.core.errors import CommandExecutionError
from handrail.core.outcome import Ending
from handrail.core.stage import Join, Stage
from handrail.executors.rehearsal.caps import DEFAULT_CAPS, Cap, Caps
from tests.executors.rehearsal.conftest import OpenSession, RehearsalSession, changed_in

MEGABYTE = 1 << 20
SMALL = replace(
    DEFAULT_CAPS,
    changed_bytes=40 * MEGABYTE,
    changed_files=2_000,
    temporary_bytes=8 * MEGABYTE,
    temporary_files=500,
    memory_bytes=300 * MEGABYTE,
    processes=60,
)
BRIEF = replace(DEFAULT_CAPS, cpu_seconds=1)
FILL = "i=0; while :; do head -c 1M /dev/zero > {0}/f$i; i=$((i+1)); done"
MANY = "i=0; while :; do : > {0}/f$i; i=$((i+1)); done"
HOARD = "held = []\nwhile True: held.append(bytearray(1 << 20))"
SHARE = (
    "import mmap\nheld = []\n"
    "while True:\n    one = mmap.mmap(-1, 1 << 20); one.write(bytes(1 << 20)); held.append(one)"
)


@pytest.fixture(params=[True, False], ids=["memory", "disk"])
def capped(request: pytest.FixtureRequest, open_session: OpenSession) -> RehearsalSession:
    return open_session(caps=SMALL, in_memory=request.param)


async def nothing_is_left_of_it(session: RehearsalSession) -> None:
    rehearsal = await session.shell("echo fine > made; cat made")
    assert rehearsal.outcome.stdout == b"fine\n"
    assert rehearsal.exceeded is None
    assert changed_in(rehearsal) == {"made"}


async def test_a_disk_bomb_ends(capped: RehearsalSession) -> None:
    rehearsal = await capped.shell(FILL.format("."))

    assert rehearsal.exceeded is Cap.BYTES
    assert rehearsal.outcome.ending is Ending.KILLED
    await rehearsal.close()
    capped.rehearsed.clear()
    await nothing_is_left_of_it(capped)


async def test_a_bomb_of_empty_files_ends(capped: RehearsalSession) -> None:
    rehearsal = await capped.shell(MANY.format("."))

    assert rehearsal.exceeded is Cap.FILES
    await rehearsal.close()
    capped.rehearsed.clear()
    await nothing_is_left_of_it(capped)


@pytest.mark.parametrize("bomb", [FILL, MANY])
async def test_a_bomb_in_the_temporary_folder_ends(open_session: OpenSession, bomb: str) -> None:
    session = open_session(caps=SMALL)

    rehearsal = await session.shell(bomb.format("/tmp"))

    assert rehearsal.exceeded is Cap.TEMPORARY
    after = await session.shell("rm -rf /tmp/f*; echo fine > made; cat made")
    assert (after.outcome.stdout, after.exceeded) == (b"fine\n", None)


@pytest.mark.parametrize("code", [HOARD, SHARE], ids=["own", "shared"])
async def test_a_memory_bomb_ends(open_session: OpenSession, code: str) -> None:
    session = open_session(caps=SMALL)

    rehearsal = await session.python(code)

    assert rehearsal.exceeded is Cap.MEMORY
    await nothing_is_left_of_it(session)


async def test_memory_that_processes_share_counts_once(open_session: OpenSession) -> None:
    session = open_session(caps=SMALL)

    rehearsal = await session.python(
        "import os, time\n"
        "held = bytearray(100 << 20)\n"
        "for _ in range(8):\n"
        "    if os.fork() == 0: time.sleep(0.5); os._exit(0)\n"
        "for _ in range(8): os.wait()\n"
        "print('shared')"
    )

    assert (rehearsal.outcome.stdout, rehearsal.exceeded) == (b"shared\n", None)


async def test_a_fork_bomb_ends(open_session: OpenSession) -> None:
    session = open_session(caps=SMALL)
    # The kernel holds it for an ordinary user. For root only our look ten times a second does, and
    # on a busy machine the bomb would have all process ids by then, those of other tests too.
    pace = "sleep 0.05; " if os.geteuid() == 0 else ""

    rehearsal = await session.shell(f"bomb() {{ {pace}bomb | bomb & }}; bomb; sleep 60")

    assert rehearsal.exceeded is Cap.PROCESSES
    await nothing_is_left_of_it(session)


async def test_processes_that_only_wait_are_counted_too(open_session: OpenSession) -> None:
    session = open_session(caps=SMALL)

    rehearsal = await session.shell("for i in {1..80}; do sleep 60 & done; wait")

    assert rehearsal.exceeded is Cap.PROCESSES


@pytest.mark.parametrize(
    "line", ["while :; do :; done", "for i in 1 2; do (while :; do :; done) & done; wait"]
)
async def test_a_busy_loop_ends(open_session: OpenSession, line: str) -> None:
    session = open_session(caps=BRIEF)

    rehearsal = await session.shell(line)

    assert rehearsal.exceeded is Cap.CPU
    await nothing_is_left_of_it(session)


async def test_a_session_has_so_many_seconds_of_computing(open_session: OpenSession) -> None:
    session = open_session(caps=replace(DEFAULT_CAPS, session_cpu_seconds=0.5))
    busy = "import time\nwhile time.process_time() < 0.2: pass"

    exceeded = [(await session.python(busy)).exceeded for _ in range(2)]
    while exceeded[-1] is None:
        exceeded.append((await session.python(busy)).exceeded)

    assert (exceeded[0], exceeded[-1]) == (None, Cap.SESSION_CPU)
    with pytest.raises(CommandExecutionError, match="as long as they may"):
        await session.python(busy)


async def test_short_commands_are_counted_too(open_session: OpenSession) -> None:
    """Each ends before anyone has looked at it for the first time."""
    session = open_session(caps=replace(DEFAULT_CAPS, session_cpu_seconds=0.3))
    busy = "import time\nwhile time.process_time() < 0.05: pass"

    while (await session.rehearser.why_not()) is None:
        await session.python(busy)

    assert len(session.rehearsed) <= 12


async def test_a_line_stops_where_a_cap_was_met(open_session: OpenSession) -> None:
    session = open_session(caps=BRIEF)

    rehearsal = await session.run(
        Stage(("bash", "-c", "while :; do :; done"), Profile.WRITE),
        Stage(("touch", "after"), Profile.WRITE, Join.THEN),
    )

    assert rehearsal.outcome.ending is Ending.STOPPED
    assert rehearsal.outcome.why_stopped == Cap.CPU.tell(BRIEF)
    assert changed_in(rehearsal) == set()


@pytest.mark.parametrize("cap", Cap)
def test_every_cap_is_told_in_a_sentence(cap: Cap) -> None:
    assert cap.tell(Caps()).startswith("it was ended at a limit of rehearsals: ")
