"""What a session keeps lasts as long as it does, and what a command leaves ends with it."""

import asyncio
import os
from pathlib import Path

import pytest

from handrail.core.outcome import Ending
from handrail.executors.rehearsal import starter
from handrail.executors.rehearsal.overlay import Maker
from tests.executors.rehearsal.conftest import OpenSession, RehearsalSession, changed_in

pytestmark = pytest.mark.usefixtures("project")
# Told from those of tests that run at the same time.
NAP = f"sleep 1234.{os.getpid()}"


# What lasts for the session


async def test_temporary_files_and_the_home_last_for_the_session_only(
    either: RehearsalSession, open_session: OpenSession
) -> None:
    first = await either.shell("echo t > /tmp/kept; echo h > ~/.kept; echo v > /var/tmp/too")

    again = await either.shell("cat /tmp/kept ~/.kept /tmp/too")
    other = await open_session("other").shell("ls -A /tmp/kept ~/.kept")

    assert sorted(first.outside) == ["/tmp/home/.kept", "/tmp/kept", "/tmp/too"]
    assert again.outcome.stdout == b"t\nh\nv\n"
    assert other.outcome.stdout == b""


async def test_the_home_cannot_be_replaced_by_a_link(session: RehearsalSession) -> None:
    first = await session.shell("rm -rf ~; mv ~ /tmp/moved; ln -sfn /oldroot /tmp/home; ls /tmp")

    second = await session.shell("cd ~ && pwd -P && touch ~/fine")

    assert b"moved" not in first.outcome.stdout
    assert second.outcome.stdout == b"/tmp/home\n"


async def test_links_in_the_temporary_folder_lead_no_box_astray(
    session: RehearsalSession, root: Path
) -> None:
    """Where the workspace lies below /tmp, so does the way to it in a box."""
    way = str(root).split("/")[2]
    await session.shell(f"rm -rf /tmp/{way}; mv /tmp/{way} /tmp/x; ln -s /oldroot /tmp/{way}; true")

    rehearsal = await session.shell("cat notes.txt")

    assert rehearsal.outcome.stdout == b"notes\n"


# The end


async def test_what_is_left_running_is_ended_and_told(session: RehearsalSession) -> None:
    rehearsal = await session.shell(f"setsid {NAP} > /dev/null 2>&1 & echo begun")

    assert rehearsal.outcome.stdout == b"begun\n"
    assert rehearsal.outcome.exit_code == 0
    assert rehearsal.left_running
    assert not running(NAP)


async def test_what_is_left_running_is_ended_also_where_the_command_is_seen_too_late(
    session: RehearsalSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def look_late(first: int) -> int | None:
        await asyncio.sleep(0.5)
        return await look(first)

    look = starter._command_of
    monkeypatch.setattr(starter, "_command_of", look_late)

    rehearsal = await session.shell(f"{NAP} > /dev/null 2>&1 & echo begun", seconds=10)

    assert (rehearsal.outcome.ending, rehearsal.outcome.stdout) == (Ending.EXITED, b"begun\n")
    assert rehearsal.left_running
    assert not running(NAP)


async def test_a_command_that_takes_too_long_is_ended(session: RehearsalSession) -> None:
    rehearsal = await session.shell(f"echo x > made; {NAP}", seconds=1)

    assert rehearsal.outcome.ending is Ending.TIMED_OUT
    assert changed_in(rehearsal) == {"made"}
    assert not running(NAP)


async def test_a_rehearsal_that_is_called_off_leaves_nothing(
    session: RehearsalSession, sessions: Path
) -> None:
    rehearsing = asyncio.ensure_future(session.shell(f"echo x > made; {NAP}"))
    while not running(NAP):
        await asyncio.sleep(0.01)

    rehearsing.cancel()

    with pytest.raises(asyncio.CancelledError):
        await rehearsing
    assert not running(NAP)
    assert not [*sessions.glob("*/view-*")]


async def test_several_at_once_do_not_see_each_other(session: RehearsalSession) -> None:
    line = "echo {0} > shared; sleep 0.2; cat shared; mkdir .mypy_cache; echo {0} > .mypy_cache/c"

    found = await asyncio.gather(*[session.shell(line.format(name)) for name in "abc"])
    after = await session.shell("cat .mypy_cache/c")

    assert [one.outcome.stdout for one in found] == [b"a\n", b"b\n", b"c\n"]
    assert after.outcome.stdout in {b"a\n", b"b\n", b"c\n"}


async def test_a_maker_that_has_died_is_replaced(session: RehearsalSession, maker: Maker) -> None:
    await session.shell("echo x > /tmp/lost")
    generation = maker.generation
    maker.close()

    rehearsal = await session.shell("ls /tmp/lost; echo y > made")

    assert maker.generation == generation + 1
    assert rehearsal.outcome.exit_code == 0
    assert b"No such file" in rehearsal.outcome.stderr
    assert changed_in(rehearsal) == {"made"}


async def test_a_closed_rehearsal_and_a_closed_session_leave_nothing(
    either: RehearsalSession, sessions: Path, maker: Maker
) -> None:
    """Of whatever depth, and with whatever rights."""
    rehearsal = await either.python(
        "import os\n"
        "fd = os.open('.', os.O_RDONLY)\n"
        "for _ in range(2000):\n"
        "    os.mkdir('d' * 200, dir_fd=fd)\n"
        "    inner = os.open('d' * 200, os.O_RDONLY, dir_fd=fd)\n"
        "    os.close(fd); fd = inner\n"
        "os.makedirs('closed/off/entirely'); os.chmod('closed/off', 0)\n"
    )
    assert (rehearsal.outcome.stderr, rehearsal.outcome.exit_code) == (b"", 0)

    await either.close()
    await rehearsal.close()

    assert not [*sessions.iterdir()]
    assert str(sessions) not in mounts_of(maker)


def mounts_of(maker: Maker) -> str:
    assert maker.pid is not None
    return Path(f"/proc/{maker.pid}/mountinfo").read_text()


def running(words: str) -> bool:
    """Whether a process with these words runs anywhere."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found = path.read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
        except OSError:
            continue
        if found == words:
            return True
    return False
