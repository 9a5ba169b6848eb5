"""Long texts are judged in other processes, in turn, with a deadline."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from handrail.core.errors import BadInput, Conflict, NotJudged
from handrail.executors.judging import pool as judging
from handrail.executors.judging.pool import JudgingPool

SECONDS = 30


@pytest.fixture
def pool() -> Iterator[JudgingPool]:
    made = JudgingPool()
    yield made
    made.close()


def echo(shared: object, value: object) -> tuple[object, object, int]:
    return shared, value, os.getpid()


def refuse(_shared: object, words: str) -> None:
    raise BadInput(words)


def never_end(_shared: object) -> None:
    while True:
        pass


def die(_shared: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def die_once(_shared: object, mark: str) -> str:
    if not Path(mark).exists():
        Path(mark).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return "judged"


def what_it_has(_shared: object) -> tuple[list[str], dict[str, str]]:
    fds = [os.readlink(f"/proc/self/fd/{fd}") for fd in ("0", "1", "2")]
    others = [fd for fd in os.listdir("/proc/self/fd") if int(fd) > 2]
    # One of them is the listing itself.
    return [*fds, *others[1:]], dict(os.environ)


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


async def test_answers_and_errors_come_from_another_process(pool: JudgingPool) -> None:
    rules = {"a": 1}

    first = await pool.run("agent", echo, rules, "x")
    second = await pool.run("agent", echo, rules, "y")

    assert first[:2] == (rules, "x")
    assert second == (rules, "y", first[2])
    assert pool.pids == [first[2]]
    with pytest.raises(BadInput, match="the words"):
        await pool.run("agent", refuse, None, "the words")


async def test_a_process_keeps_no_more_than_it_was_told_to(pool: JudgingPool) -> None:
    many = [{"number": number} for number in range(20)]

    for rules in [*many, *many]:
        assert (await pool.run("agent", echo, rules, None))[0] == rules


async def test_the_process_gets_no_descriptors_and_no_environment(
    pool: JudgingPool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SOME_SECRET", "open-sesame")
    with (tmp_path / "open").open("w") as file:
        os.set_inheritable(file.fileno(), True)

        fds, environment = await pool.run("agent", what_it_has, None)

    assert len(fds) == 3
    assert fds[2] == os.devnull
    assert set(environment) <= {"LC_CTYPE"}


async def test_agents_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    # With one process they end in the order of their turns, however busy the machine is.
    monkeypatch.setattr(judging, "_WORKERS", 1)
    pool, ended = JudgingPool(), list[str]()

    async def judge(agent: str) -> None:
        await pool.run(agent, echo, None, "x")
        ended.append(agent)

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(30):
                group.create_task(judge("noisy"))
            for agent in ("quiet", "calm", "still"):
                group.create_task(judge(agent))
    finally:
        pool.close()

    assert ended[:6] == ["noisy", "noisy", "quiet", "calm", "still", "noisy"]


async def test_a_slow_text_of_one_agent_does_not_hold_up_another(pool: JudgingPool) -> None:
    slow = [asyncio.create_task(pool.run("noisy", never_end, None)) for _ in range(3)]
    try:
        async with asyncio.timeout(SECONDS):
            assert (await pool.run("quiet", echo, None, "x"))[1] == "x"
        assert not any(task.done() for task in slow)
    finally:
        for task in slow:
            task.cancel()
        await asyncio.wait(slow)

    # Those who no longer wait hold no process.
    assert (await pool.run("noisy", echo, None, "y"))[1] == "y"


async def test_an_agent_with_too_much_waiting_is_told_so() -> None:
    pool = JudgingPool(most_waiting=2)
    try:
        async with asyncio.TaskGroup() as group:
            waiting = [group.create_task(pool.run("a", echo, None, "x")) for _ in range(3)]
            await asyncio.sleep(0)
            with pytest.raises(Conflict, match="2 calls of this agent are waiting to be judged"):
                await pool.run("a", echo, None, "x")
            await pool.run("b", echo, None, "x")
        assert len(waiting) == 3
    finally:
        pool.close()


async def test_a_text_that_takes_too_long_is_refused_and_its_process_killed() -> None:
    pool = JudgingPool(seconds=2)
    try:
        pid = (await pool.run("agent", echo, None, "x"))[2]

        with pytest.raises(NotJudged, match=r"longer than 2 s, so it was refused"):
            await pool.run("agent", never_end, None)

        assert not is_running(pid)
        assert (await pool.run("agent", echo, None, "x"))[2] != pid
    finally:
        pool.close()


async def test_a_text_whose_process_dies_is_judged_once_more(
    pool: JudgingPool, tmp_path: Path
) -> None:
    assert await pool.run("agent", die_once, None, str(tmp_path / "mark")) == "judged"
    with pytest.raises(NotJudged, match="ended twice, so it was refused"):
        await pool.run("agent", die, None)

    # Also one that died while it had nothing to do.
    pid = (await pool.run("agent", echo, None, "x"))[2]
    os.kill(pid, signal.SIGKILL)
    assert (await pool.run("agent", echo, None, "y"))[1] == "y"


async def test_what_cannot_be_sent_is_judged_in_a_thread() -> None:
    pool = JudgingPool(seconds=2)
    gate = asyncio.Event()
    local: Callable[..., int] = lambda _shared: os.getpid()  # noqa: E731

    def slow(_shared: object) -> None:
        while not gate.is_set():
            time.sleep(0.01)

    try:
        assert await pool.run("agent", local, None) == os.getpid()
        with pytest.raises(NotJudged):
            await pool.run("agent", slow, None)
    finally:
        gate.set()
        pool.close()


def test_a_process_ends_with_the_one_that_started_it() -> None:
    program = (
        "import asyncio, os, signal\n"
        "from handrail.executors.judging.pool import JudgingPool\n"
        "from tests.executors.judging.test_pool import echo\n"
        "pool = JudgingPool()\n"
        "print(asyncio.run(pool.run('agent', echo, None, 'x'))[2], flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    root = Path(__file__).parents[3]
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=root, check=False
    )
    assert ended.returncode == -signal.SIGKILL, ended.stderr

    pid, deadline = int(ended.stdout), time.monotonic() + SECONDS
    while is_running(pid):
        assert time.monotonic() < deadline
        time.sleep(0.01)
