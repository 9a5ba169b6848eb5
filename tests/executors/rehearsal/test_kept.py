"""A rehearsal is kept until a yes, and then no more is done than what it showed."""

import os
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from handrail.core.errors import CommandExecutionError, PathValidationError, StaleFileError
from handrail.core.rehearsal import CallRef
from handrail.executors.rehearsal.git_reading import ReadEffects
from handrail.executors.rehearsal.rehearser import Rehearsal
from tests.executors.conftest import PYTHON
from tests.executors.rehearsal.agent import Agent, stage

SECRET = "hunter2"


async def test_a_kept_rehearsal_answers_its_own_command_only(agent: Agent, root: Path) -> None:
    call, first = await agent.rehearse("date +%N > a")

    assert await agent.again(call, "date +%N > a") == first
    second = await agent.again(call, "echo x > b")

    assert [one.path for one in second.changes] == ["b"]
    await agent.kept.apply(call)
    assert not (root / "a").exists()


@contextmanager
def replaced(root: Path) -> Generator[None]:
    aside = root.with_name("aside")
    root.rename(aside)
    root.mkdir()
    yield
    root.rmdir()
    aside.rename(root)


async def test_nothing_is_applied_to_a_workspace_that_was_replaced(
    agent: Agent, root: Path
) -> None:
    call, _ = await agent.rehearse("echo x > a")

    with replaced(root):
        with pytest.raises(CommandExecutionError, match="replaced by another folder"):
            await agent.kept.apply(call)
        assert os.listdir(root) == []
        with pytest.raises(CommandExecutionError, match="replaced by another folder"):
            await agent.rehearse("echo x > b")

    assert not (root / "a").exists()


async def test_a_process_that_is_left_running_changes_nothing_after_its_effects_are_read(
    agent: Agent, root: Path
) -> None:
    call, rehearsed = await agent.rehearse(
        "(trap '' TERM HUP; setsid bash -c 'while :; do echo $((i++)) > a; done')"
        " > /dev/null 2>&1 & while ! test -s a; do :; done"
    )
    assert rehearsed.left_running
    (change,) = rehearsed.changes

    await agent.kept.apply(call)

    assert change.after is not None
    assert (root / "a").stat().st_size == change.after.size


HIDDEN = (".env", "kept/.env", "kept/deep/id_rsa", ".git/config")


@pytest.fixture
def hidden(root: Path) -> Generator[None]:
    for name in HIDDEN:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(f"TOKEN={SECRET}\n")
    (root / "kept/plain").write_text("plain\n")
    before = {name: (root / name).stat().st_ino for name in HIDDEN}
    yield
    assert {name: (root / name).stat().st_ino for name in HIDDEN} == before
    for path in root.rglob("*"):
        if path.is_file() and str(path.relative_to(root)) not in HIDDEN:
            assert SECRET not in path.read_text(errors="replace")


@pytest.mark.usefixtures("hidden")
@pytest.mark.parametrize(
    "line",
    [
        "rm -rf kept",
        "mv kept moved",
        "rm -rf kept; mkdir kept; echo mine > kept/.env",
        "cp -a kept copy",
        "cp .env env; cat .env > env2; ln .env env3; dd if=.env of=env4",
        "mv .env env",
        "rm -f .env; echo mine > .env",
        "mv kept/deep elsewhere",
        "find . -name '.env' -delete; find . -name 'id_*' -delete",
        "ln -s .env link; cat link > copy; rm link",
        "ln -s kept k; cp k/.env copy; rm k",
        "tar cf - . > /tmp/all.tar; tar xf /tmp/all.tar -C kept",
        "python3 -c \"import shutil; shutil.rmtree('kept', ignore_errors=True)\"",
        "rm -rf kept; ln -s /etc kept",
        "mv kept old; mkdir -p kept/deep; mv kept new; mv old kept",
        "chmod -R a+rwx . ; cat kept/.env kept/deep/id_rsa > copy",
        "mv .git moved; cat moved/config > copy",
        "cp -a .git moved; ln .git/config copy; cat .git/config > copy2",
        "rm -f .git/config; rm -rf .git; git config --list --show-origin > copy",
    ],
)
async def test_what_is_hidden_is_never_taken_away_moved_or_read(agent: Agent, line: str) -> None:
    call, rehearsed = await agent.rehearse(line)

    assert SECRET.encode() not in rehearsed.outcome.stdout + rehearsed.outcome.stderr
    if rehearsed.is_complete:
        # What is written to git's folder, which is no repository here, is refused.
        with suppress(PathValidationError):
            await agent.kept.apply(call)


async def test_a_poisoned_cache_reaches_later_rehearsals_of_its_session_alone(
    agent: Agent, root: Path
) -> None:
    (root / "mod.py").write_text("print('true')\n")
    (root / "main.py").write_text("import mod\n")
    poison = (
        "import os, py_compile, shutil\n"
        "found = os.stat('mod.py')\n"
        "open('/tmp/mod.py', 'w').write(\"print('evil')\\n\")\n"
        "os.utime('/tmp/mod.py', ns=(found.st_mtime_ns, found.st_mtime_ns))\n"
        "to = py_compile.compile('/tmp/mod.py', dfile='mod.py')\n"
        "os.makedirs('__pycache__', exist_ok=True)\n"
        "shutil.copy(to, '__pycache__')\n"
    )
    (root / "poison.py").write_text(poison)
    run = f"{PYTHON.name} main.py"
    call, rehearsed = await agent.rehearse(f"{PYTHON.name} poison.py; echo x > applied")
    assert [one.path for one in rehearsed.changes] == ["applied"]

    await agent.kept.apply(call)

    assert await agent.output(run) == "evil\n"
    assert await agent.output(run, "second") == "true\n"
    real = await agent.executor.run([stage(run)], timeout_seconds=30)
    assert real.stdout == b"true\n"
    assert (root / "applied").exists()


async def test_sessions_share_neither_a_temporary_folder_nor_a_home(agent: Agent) -> None:
    await agent.rehearse("echo x > /tmp/left; echo y > ~/left; mkdir -p /dev/shm/left")

    assert await agent.output("cat /tmp/left ~/left") == "x\ny\n"
    assert "No such file" in await agent.output("cat /tmp/left", "second")
    assert "No such file" in await agent.output("cat ~/left", "second")
    assert await agent.output("ls -A /dev/shm", "second") == ""


async def test_a_card_cannot_be_outrun_by_a_change_of_the_upper_layer(
    agent: Agent, root: Path
) -> None:
    call, _ = await agent.rehearse("echo shown > a")
    kept = agent.kept._kept[call]
    fd = kept.rehearsal.open_upper()
    Path(f"/proc/self/fd/{fd}/a").write_text("other")
    os.close(fd)

    with pytest.raises(StaleFileError, match="copy of a has changed"):
        await agent.kept.apply(call)
    assert not (root / "a").exists()


async def test_odd_contents_are_applied_byte_by_byte(agent: Agent, root: Path) -> None:
    """Holes, a name of 255 bytes, and a path that is nearly as deep as is allowed."""
    call, rehearsed = await agent.rehearse(
        "truncate -s 5M holes; printf x >> holes;"
        f" echo long > {'n' * 255};"
        " p=d; for i in {1..95}; do p=$p/d; done; mkdir -p $p; echo deep > $p/f"
    )
    assert rehearsed.is_complete

    await agent.kept.apply(call)

    assert (root / "holes").read_bytes() == bytes(5 << 20) + b"x"
    assert (root / ("n" * 255)).read_text() == "long\n"
    assert (root / "/".join(["d"] * 96) / "f").read_text() == "deep\n"


async def test_a_save_is_seen_though_the_clock_was_set_back(
    agent: Agent, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours is an hour ahead when the rehearsal begins, and the save comes behind its copy."""
    (root / "a").write_text("1\n")
    real, read = time.time_ns, agent.kept._read
    ahead = [3600 * 10**9]
    saves = ["saved\n"]

    def save_and_read(rehearsal: Rehearsal, *, follows_remotes: bool) -> ReadEffects:
        if saves:
            (root / "a").write_text(saves.pop())
        return read(rehearsal, follows_remotes=follows_remotes)

    monkeypatch.setattr(time, "time_ns", lambda: real() + (ahead.pop() if ahead else 0))
    monkeypatch.setattr(agent.kept, "_read", save_and_read)

    call, _ = await agent.rehearse("echo 2 >> a")
    await agent.kept.apply(call)

    assert (root / "a").read_text() == "saved\n2\n"


@pytest.mark.parametrize(
    ("meanwhile", "why"),
    [
        (lambda root: (root / "a").write_text("mine\n"), "a has other content now"),
        (lambda root: (root / "b").write_text("mine\n"), "b was created meanwhile"),
        (lambda root: (root / "read").write_text("mine\n"), ""),
        (lambda root: (root / "a").write_text("1\n"), ""),
    ],
)
async def test_a_rehearsal_is_dropped_where_its_effects_can_no_longer_be_applied(
    agent: Agent, root: Path, meanwhile: Callable[[Path], object], why: str
) -> None:
    for name in ("a", "read"):
        (root / name).write_text("1\n")
    call, rehearsed = await agent.rehearse("cat read > b; echo 2 >> a")

    meanwhile(root)

    assert await agent.kept.drop_stale(call) == why
    assert await agent.kept.find(call) == (None if why else rehearsed)
    assert await agent.kept.drop_stale(CallRef("first", "none")) == ""
