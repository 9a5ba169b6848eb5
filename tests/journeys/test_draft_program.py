"""Programs of a person in a draft: `handrail draft -- PROGRAM`."""

import asyncio
import os
import subprocess
from pathlib import Path

import pytest

from handrail.core.card import Card, Choice
from tests.executors.rehearsal.repositories import run
from tests.forge import Forged
from tests.journeys.conftest import Rig
from tests.terminal import Terminal

pytestmark = [
    pytest.mark.usefixtures("needs_box"),
    pytest.mark.slow,
    pytest.mark.timeout(180),
]

YES = Choice(approved=True)
NO = Choice(approved=False, reason="not this way")


@pytest.fixture
def up(rig: Rig, tmp_path: Path) -> Rig:
    """A server and a client, and a person whose home has a secret."""
    (tmp_path / "person/.ssh").mkdir(parents=True)
    (tmp_path / "person/.ssh/id").write_text("the secret")
    rig.environment["HOME"] = str(tmp_path / "person")
    rig.start_server()
    rig.start_client()
    return rig


def start(rig: Rig, *words: str) -> Forged:
    environment = {**os.environ, **rig.environment, "HANDRAIL_HOME": str(rig.home)}
    return Forged("draft", *words, environment=environment, folder=rig.workspace)


async def finish(process: Forged) -> str:
    said, _ = await asyncio.to_thread(process.communicate, 60)
    return said


async def decided(rig: Rig, choice: Choice, *words: str) -> tuple[str, Card, int]:
    """Run a program in a draft, and answer the one card about its sum."""
    process = start(rig, "--", *words)
    card = await rig.answer(choice)
    said = await finish(process)
    return said, card, process.wait()


@pytest.mark.behaviour("draft.program")
async def test_a_script_changes_nothing_before_the_yes_to_its_one_card(up: Rig) -> None:
    workspace = up.workspace
    run("git init -q -b main; git config user.name a; git config user.email b", workspace)
    run("echo one > a.txt; git add .; git commit -qm first", workspace)
    script = "echo two > a.txt; git commit -qam second; echo new > b.txt; echo $PWD"

    process = start(up, "--", "bash", "-c", script)
    card = await up.question()
    assert run("cat a.txt; git log --format=%s; ls", workspace) == "one\nfirst\na.txt\n"
    await up.answer(YES)
    said = await finish(process)

    assert "step 1    bash -c" in (await up.as_person(lambda api: api.unmask(card))).evidence
    assert "calls" not in card.evidence
    assert str(workspace) in said
    assert process.wait() == 0
    assert run("cat a.txt; git log --format=%s; ls", workspace) == (
        "two\nsecond\nfirst\na.txt\nb.txt\n"
    )
    [(call,)] = up.rows("SELECT id FROM tool_executions WHERE tool_name = 'apply_draft'")
    undone = await asyncio.to_thread(up.run, "undo", call, "--workspace", str(workspace))
    assert undone.returncode == 0, undone.stdout
    assert run("cat a.txt; git log --format=%s; ls", workspace) == "one\nfirst\na.txt\n"


@pytest.mark.behaviour("draft.program.refused")
async def test_after_a_no_the_draft_is_kept_and_the_program_can_go_on_in_it(up: Rig) -> None:
    said, _, code = await decided(up, NO, "bash", "-c", "echo one > a.txt")

    assert code == 3
    assert "not this way" in said
    assert not (up.workspace / "a.txt").exists()
    session = said.partition("--session ")[2].split()[0]
    process = start(up, "--session", session, "--", "bash", "-c", "cat a.txt; echo two >> a.txt")
    card = await up.answer(YES)
    assert "one" in await finish(process)
    assert "a draft of 2 steps" in card.evidence
    assert (up.workspace / "a.txt").read_text() == "one\ntwo\n"


@pytest.mark.behaviour("draft.program.attack")
async def test_a_hostile_script_reaches_nothing_outside(up: Rig, tmp_path: Path) -> None:
    outside = tmp_path / "outside.txt"
    script = f"""
        cat ~/.ssh/id; ls {up.home}; echo planted > {outside}; echo planted > /etc/planted
        echo planted >> ~/.bashrc; kill -9 1; kill -9 $PPID; pkill -9 handrail
        cat /proc/1/environ; (setsid nohup sleep 300 &)
        exec 3<>/dev/tcp/127.0.0.1/{up.port} && echo REACHED
        echo planted > a.txt
    """

    said, card, _ = await decided(up, NO, "bash", "-c", script)

    assert "the secret" not in said
    assert "HANDRAIL" not in said
    assert "REACHED" not in said
    assert "handrail.db" not in said
    assert "+planted" in card.evidence
    assert not outside.exists()
    assert not (tmp_path / "person/.bashrc").exists()
    assert not (up.workspace / "a.txt").exists()
    assert "sleep 300" not in subprocess.run(
        ["ps", "-eo", "args"], capture_output=True, text=True, check=True
    ).stdout.replace(script, "")


@pytest.mark.behaviour("draft.program.host")
async def test_a_connection_waits_until_a_person_has_answered(up: Rig) -> None:
    script = (
        "exec 3<>/dev/tcp/127.0.0.1/3128;"
        r" printf 'CONNECT example.com:443 HTTP/1.1\r\n\r\n' >&3; head -1 <&3"
    )
    process = start(up, "--", "bash", "-c", script)

    card = await up.answer(Choice(approved=False, reason="no need"))
    said = await finish(process)

    assert card.description == "Let bash connect to example.com:443"
    assert "403" in said
    assert "no need" in said
    assert "It changed nothing in the workspace." in said
    [(result,)] = up.rows("SELECT result FROM tool_executions WHERE tool_name = 'apply_draft'")
    assert "example.com:443: refused" in result


@pytest.mark.behaviour("draft.program.killed")
async def test_what_a_program_changed_is_kept_when_the_client_is_killed(rig: Rig) -> None:
    (rig.workspace / ".env").write_text("SECRET=1\n")
    run("git init -q; git add .env; git config user.name a; git config user.email b", rig.workspace)
    run("git commit -qm first; mkdir d", rig.workspace)
    rig.start_server()
    client = rig.start_client()
    script = "echo one > a.txt; git add a.txt; git commit -qm second; echo ready; sleep 300"
    process = start(rig, "--session", "killed", "--", "bash", "-c", script)
    await asyncio.to_thread(_read_until, process, "ready")

    rig.kill(client)
    said = await finish(process)
    rig.start_client()

    assert "the client ended before the program" in said
    words = ("bash", "-c", "git log --format=%s; git status --short; cat a.txt")
    process = start(rig, "--session", "killed", "--", *words)
    card = await rig.answer(YES)
    said = await finish(process)
    assert said.partition("\n")[2].startswith("second\nfirst\none\n")
    assert "+one" in card.evidence
    assert "client was killed while it ran" in card.evidence
    assert run("git log --format=%s; git status --short", rig.workspace) == "second\nfirst\n"


@pytest.mark.behaviour("draft.program.killed")
async def test_what_a_program_changed_is_kept_when_its_command_is_killed(up: Rig) -> None:
    script = "echo one > a.txt; echo ready; sleep 300"
    process = start(up, "--session", "cut", "--", "bash", "-c", script)
    await asyncio.to_thread(_read_until, process, "ready")
    refused = await up.call("apply_draft", {}, session_id="cut")

    process.kill()
    await finish(process)
    async with asyncio.timeout(30):
        while not (await up.as_person(lambda api: api.get("/drafts")))["drafts"]:
            await asyncio.sleep(0.2)

    assert "bash -c" in refused["error"]
    assert "is running in this draft" in refused["error"]
    process = start(up, "--session", "cut", "--", "cat", "a.txt")
    await up.answer(YES)
    assert "one\n" in await finish(process)
    assert (up.workspace / "a.txt").read_text() == "one\n"


def _read_until(process: Forged, word: str) -> None:
    for line in process.stdout:
        if word in line:
            return
    raise AssertionError(f"it ended without {word!r}")


@pytest.mark.behaviour("draft.program.terminal")
async def test_an_interactive_program_has_a_terminal_of_its_own(up: Rig) -> None:
    environment = {**os.environ, **up.environment, "HANDRAIL_HOME": str(up.home)}

    def sit_there() -> int:
        words = ("draft", "--", "bash", "--norc", "--noprofile")
        with Terminal(*words, cwd=up.workspace, env=environment) as terminal:
            terminal.expect("bash-")
            terminal.type("sleep 100\r")
            terminal.type("\x03")
            terminal.type("echo $((40 + 2)) $(tty) > a.txt; cat a.txt\r")
            terminal.expect("42 /dev/")
            assert not (up.workspace / "a.txt").exists()
            terminal.type("exit\r")
            terminal.expect("Apply a draft of 1 step")
            terminal.type("a", after_seconds=2)
            terminal.expect("Applied 1 step")
            return terminal.wait()

    assert await asyncio.to_thread(sit_there) == 0
    assert (up.workspace / "a.txt").read_text().startswith("42 ")


@pytest.mark.behaviour("draft.program.host")
async def test_a_host_is_decided_about_in_the_terminal_that_the_program_has(up: Rig) -> None:
    environment = {**os.environ, **up.environment, "HANDRAIL_HOME": str(up.home)}
    connect = (
        "exec 3<>/dev/tcp/127.0.0.1/3128;"
        r" printf 'CONNECT nothing.invalid:443 HTTP/1.1\r\n\r\n' >&3; head -1 <&3; echo gone on"
    )

    def sit_there() -> int:
        words = ("draft", "--", "bash", "--norc", "--noprofile")
        with Terminal(*words, cwd=up.workspace, env=environment) as terminal:
            terminal.expect("bash-")
            terminal.type(f"{connect}\r")
            terminal.expect("Let bash connect to nothing.invalid:443")
            terminal.type("a", after_seconds=2)
            terminal.expect("could not be resolved")
            terminal.expect("gone on")
            terminal.type("exit\r")
            terminal.expect("It changed nothing")
            return terminal.wait()

    assert await asyncio.to_thread(sit_there) == 0


@pytest.mark.behaviour("draft.program.host")
async def test_one_answer_refuses_all_further_hosts(up: Rig) -> None:
    environment = {**os.environ, **up.environment, "HANDRAIL_HOME": str(up.home)}
    connect = (
        "(exec 3<>/dev/tcp/127.0.0.1/3128;"
        r" printf 'CONNECT %s.invalid:443 HTTP/1.1\r\n\r\n' $1 >&3; head -1 <&3)"
    )
    script = f"ask() {{ {connect}; }}; ask one; ask two; echo gone on"

    def sit_there() -> bytes:
        words = ("draft", "--", "bash", "-c", script)
        with Terminal(*words, cwd=up.workspace, env=environment) as terminal:
            terminal.expect("Handrail asks.")
            terminal.expect("Let bash connect to one.invalid:443")
            terminal.expect("n refuse this host and every further one")
            terminal.type("n", after_seconds=2)
            terminal.expect("gone on")
            terminal.expect("It changed nothing")
            terminal.wait()
            return terminal.raw

    shown = await asyncio.to_thread(sit_there)
    assert shown.count(b"every further one that this run asks for") >= 2
    assert b"Let bash connect to two" not in shown


@pytest.mark.behaviour("draft.program.streams")
async def test_a_program_without_a_terminal_gets_no_descriptor_of_the_persons(
    up: Rig, tmp_path: Path
) -> None:
    environment = {**os.environ, **up.environment, "HANDRAIL_HOME": str(up.home)}
    (tmp_path / "asked.txt").write_text("words from a file\n")
    script = "cat; for fd in 0 1 2; do test -t $fd && echo terminal $fd; done; echo beside >&2"

    def sit_there() -> str:
        words = ("draft", "--", "bash", "-c", script)
        with (
            (tmp_path / "asked.txt").open("rb") as given,
            Terminal(*words, cwd=up.workspace, env=environment, given=given.fileno()) as terminal,
        ):
            terminal.wait(60)
            return terminal.shown

    shown = await asyncio.to_thread(sit_there)
    assert "words from a file" in shown
    assert "beside" in shown
    assert "terminal" not in shown
    assert "It changed nothing" in shown


@pytest.mark.behaviour("draft.program.host")
async def test_two_hosts_are_asked_about_one_after_the_other(up: Rig) -> None:
    environment = {**os.environ, **up.environment, "HANDRAIL_HOME": str(up.home)}
    connect = (
        "(exec 3<>/dev/tcp/127.0.0.1/3128;"
        r" printf 'CONNECT %s.invalid:443 HTTP/1.1\r\n\r\n' $1 >&3; head -1 <&3)"
    )
    # An unfinished title, which would swallow the card.
    script = (
        f"ask() {{ {connect}; }}; ask one & ask two & printf '\\033]0;title'; wait; echo gone on"
    )

    def sit_there() -> int:
        words = ("draft", "--", "bash", "-c", script)
        with Terminal(*words, cwd=up.workspace, env=environment) as terminal:
            for _ in range(2):
                terminal.expect("Let bash connect to")
                terminal.type("a", after_seconds=2)
            terminal.expect("could not be resolved")
            terminal.expect("could not be resolved")
            terminal.expect("gone on")
            terminal.expect("It changed nothing")
            assert b"\x18\x1b[?1049h" in terminal.raw
            return terminal.wait()

    assert await asyncio.to_thread(sit_there) == 0


@pytest.mark.behaviour("draft.program.words")
async def test_what_cannot_be_started_is_said_in_a_sentence(up: Rig) -> None:
    said = await finish(start(up, "--", "no-such-program"))
    assert "`no-such-program` is not a program on your PATH" in said
    said = await finish(start(up, "--allow", "example.com", "--", "bash"))
    assert "--allow: the host 'example.com' must name one host and its port" in said
    said = await finish(start(up, "--session", "../x", "--", "touch", "a.txt"))
    assert "--session: a name has at most 128 letters" in said
