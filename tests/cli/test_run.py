"""`handrail run`: a task, its answer and its end, for people and for scripts."""

import json
import re
import shlex
import signal
import subprocess
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from handrail.agent.providers.script import read_script
from tests.cli.conftest import Shell, ended_well, refused
from tests.forge import Forged
from tests.model_server.server import serving
from tests.terminal import Terminal

LOOK = """
[[steps]]
text = "I look first."
tools = [
    { name = "read_file", input = { path = "README.md" } },
    { name = "execute_command", input = { command = "rm", args = ["-rf", "/"] } },
    { name = "bogus", input = { path = "x" } },
]
usage = { input = 1000, output = 100 }

[[steps]]
text = "It is called Example.\\nThat is all."
usage = { input = 1000, output = 100 }
"""
WRITE = """
[[steps]]
text = "I write it down."
tools = [{ name = "write_file", input = { path = "notes.md", content = "hello\\n" } }]

[[steps]]
text = "Written, or not."
"""


class Desk(Shell):
    """A workspace with a script for the agent's model."""

    scripted = ("--provider", "scripted", "--model", "script.toml")

    def set_up(self) -> None:
        """Let every server here play the script."""
        self.home.mkdir(mode=0o700, exist_ok=True)
        place = self.workspace / "script.toml"
        words = f'[agent]\nprovider = "scripted"\nmodel = "{place}"\n'
        (self.home / "config.toml").write_text(words)

    def script(self, text: str) -> None:
        (self.workspace / "script.toml").write_text(text)

    def run_task(self, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
        return self.run("run", "Do it.", *self.scripted, *words, **env)

    def start_task(self, *words: str, until: str) -> tuple[Forged, list[str]]:
        return self.start("run", "Do it.", *self.scripted, *words, until=until)

    def sit_down(self, *words: str) -> Terminal:
        return Terminal(
            "run", "Do it.", *self.scripted, *words, cwd=self.workspace, env=self.environment
        )

    @property
    def server(self) -> str:
        """Where the others look for the server of this folder."""
        (file,) = (self.home / "credentials").glob("*.json")
        return json.loads(file.read_text())["server"]

    @property
    def notes(self) -> Path:
        return self.workspace / "notes.md"


@pytest.fixture
def desk(tmp_path: Path) -> Generator[Desk]:
    made = Desk(tmp_path)
    (made.workspace / "README.md").write_text("# Example\n")
    made.script(LOOK)
    yield made
    made.stop_all()


def events_of(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.behaviour("run.headless")
def test_a_pipe_gets_the_answer_alone_and_the_rest_is_said_beside_it(desk: Desk) -> None:
    ended = desk.run_task()

    assert ended.returncode == 0
    assert ended.stdout == "It is called Example.\nThat is all.\n"
    where, first, *calls, last = ended.stderr.splitlines()
    assert where.startswith("conversation ses_")
    assert first == "│ I look first."
    read, unknown, removed = sorted(calls)
    assert read == "  · read_file README.md  completed  LOW"
    assert unknown.startswith("  ✗ bogus x  invalid: no tool is named 'bogus'; there are: ")
    assert not unknown.endswith("FORBIDDEN")
    assert removed == (
        "  ✗ execute_command rm -rf /  refused: Command not allowed: rm / would delete a root,"
        " a home or the whole workspace; rm deletes files  FORBIDDEN"
    )
    assert last == "done (2 turns, 3 calls, 2,200 tokens)"
    assert desk.server == "http://127.0.0.1:8000"


@pytest.mark.behaviour("run.events")
def test_a_program_gets_every_event_as_a_line_and_the_end_last(desk: Desk) -> None:
    desk.script(WRITE)
    ended = desk.run_task("--json", APPROVAL_TIMEOUT_SECONDS="1")

    assert ended.returncode == 0
    *events, end = events_of(ended.stdout)
    kinds = [event["event"] for event in events]
    assert kinds.count("chat.message") == 4
    assert {"chat.run", "tool.approval_request", "approval.resolved", "tool.status"} <= set(kinds)
    (told,) = (one for one in events if one.get("role") == "tool")
    assert "Approval timeout" in told["parts"][0]["text"]
    (resolved,) = (one for one in events if one["event"] == "approval.resolved")
    assert (resolved["error"], resolved["risk_level"]) == ("Approval timeout", "MEDIUM")
    assert {key: end[key] for key in ("event", "status", "answer", "error")} == {
        "event": "end",
        "status": "done",
        "answer": "Written, or not.",
        "error": None,
    }
    assert end["tokens"] > 0
    assert {event.get("session_id", end["session_id"]) for event in events} == {end["session_id"]}
    (line,) = ended.stderr.splitlines()
    assert "there is no terminal to ask at: Create notes.md (1 line)" in line
    assert not desk.notes.exists()


@pytest.mark.parametrize(
    ("script", "words", "code", "complaint"),
    [
        ("steps = []", (), 1, "failed: the script has 0 steps"),
        (LOOK, ("--max-tokens", "1000"), 1, "failed: the agent has used the 1,000 tokens"),
        ("steps = 1", (), 2, "handrail: script.toml: steps: "),
        (LOOK, ("--provider", "bogus"), 2, "handrail: --provider is 'bogus'; it must be one of"),
        (LOOK, ("--model", "none.toml"), 2, "the script none.toml: No such file or directory"),
        (LOOK, ("--max-tokens", "0"), 2, "--max-tokens"),
        (LOOK, ("--autonomy", "boundless"), 2, "'boundless' is not one of 'read_only'"),
        (LOOK, ("--workspace", "nowhere"), 2, "handrail: nowhere does not exist"),
        (LOOK, ("--workspace", "README.md"), 2, "handrail: README.md is not a folder"),
        (LOOK, ("--session", "nope"), 2, "handrail: there is no conversation 'nope'; leave"),
        (LOOK, ("--session", ""), 2, "handrail: there is no conversation ''; leave out --session"),
        (LOOK, ("--session", "x" * 201), 2, "handrail: there is no conversation 'xxx"),
    ],
)
def test_a_script_can_tell_what_went_wrong(
    desk: Desk, script: str, words: tuple[str, ...], code: int, complaint: str
) -> None:
    desk.script(script)
    ended = desk.run_task(*words)

    assert (ended.returncode, ended.stdout) == (code, "")
    assert complaint in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_program_is_told_on_a_line_that_nothing_was_begun(desk: Desk) -> None:
    ended = desk.run_task("--json", "--session", "nope")

    (end,) = events_of(ended.stdout)
    assert (ended.returncode, end["event"], end["status"]) == (2, "end", "not begun")
    assert "there is no conversation 'nope'" in end["error"]
    assert end["error"] in ended.stderr


def test_a_question_that_nobody_answers_is_not_shown_as_if_it_had_been_done(desk: Desk) -> None:
    desk.script(WRITE)
    ended = desk.run_task(APPROVAL_TIMEOUT_SECONDS="1")

    assert "  ✗ write_file notes.md  timed out: no answer in time  MEDIUM" in ended.stderr


def test_without_a_model_nothing_is_begun_and_it_is_said_how_to_get_one(desk: Desk) -> None:
    ended = desk.run("run", "Do it.")

    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.startswith("handrail: no model is set up; `handrail init`")


@pytest.mark.parametrize(
    ("given", "code", "said"),
    [
        (b"Do it.\n", 0, "That is all."),
        (b"\xff\xfe", 2, "not UTF-8 text"),
        (b"  \n", 2, "there is no task"),
        (b"x" * 100_001, 2, "longer than 100,000 characters"),
    ],
)
def test_a_task_can_come_from_standard_input(
    desk: Desk, given: bytes, code: int, said: str
) -> None:
    ended = desk.pipe(given, "run", "-", *desk.scripted)

    assert ended.returncode == code
    assert said in ended.stdout + ended.stderr


def test_freedom_is_for_this_conversation_and_is_lowered_by_the_policy_alone(desk: Desk) -> None:
    desk.script(WRITE)
    bound = desk.run_task("--autonomy", "read_only")
    assert not desk.notes.exists()
    free = desk.run_task("--autonomy", "full")

    assert (bound.returncode, free.returncode) == (0, 0)
    refusal = "changes a file in the workspace; autonomy is read_only here"
    assert f"✗ write_file notes.md  refused: {refusal}" in bound.stderr
    assert "write_file notes.md  completed  MEDIUM" in free.stderr
    assert desk.notes.read_text() == "hello\n"


@pytest.mark.behaviour("run.inline")
def test_a_person_sees_the_answer_grow_and_decides_in_between(desk: Desk) -> None:
    desk.script(WRITE)
    with desk.sit_down() as terminal:
        terminal.expect("I write it down.")
        terminal.expect("Create notes.md (1 line)")
        terminal.expect("decide")
        terminal.type("a")
        terminal.expect("approved")
        terminal.expect("write_file notes.md  completed  MEDIUM")
        terminal.expect("Written, or not.")
        terminal.expect("done (2 turns, 1 call, ")
        assert terminal.wait() == 0
        shown = terminal.shown

    assert desk.notes.read_text() == "hello\n"
    assert shown.count("Written, or not.") == 1


@pytest.mark.behaviour("run.refused")
def test_after_three_refusals_the_run_stops_and_a_script_can_tell(desk: Desk) -> None:
    wish = '{ name = "write_file", input = { path = "%s.md", content = "x" } }'
    wishes = ", ".join(wish % name for name in ("a", "b", "c"))
    desk.script(f"repeat = true\n[[steps]]\ntext = 'I write.'\ntools = [{wishes}]")
    with desk.sit_down() as terminal:
        for _ in range(3):
            terminal.expect("decide")
            terminal.type("r")
            terminal.expect("reason?")
            terminal.type("\n")
            terminal.expect("refused")
            terminal.expect("✗ write_file")
            terminal.expect("refused by ")
        terminal.expect("stopped: three calls in a row were refused")
        assert terminal.wait() == 3

    assert list(desk.workspace.glob("*.md")) == [desk.workspace / "README.md"]


@pytest.mark.slow
@pytest.mark.timeout(180)
def test_a_run_that_was_killed_is_told_of_by_the_next_one_and_can_be_read(desk: Desk) -> None:
    desk.script(WRITE)
    process, said = desk.start_task("--json", until="tool.approval_request")
    session = json.loads(said[-1])["session_id"]
    process.kill()
    process.communicate()
    desk.script(LOOK)
    following = desk.run_task()

    assert following.returncode == 0
    told = following.stderr.splitlines()[0]
    assert told.startswith(
        "  ! another run is still going: “Do it.”. See it with `handrail chat show"
    )
    assert session[-8:] in told
    desk.script(WRITE)
    desk.set_up()
    desk.start_up()
    listed = ended_well(desk.run("chat"))
    assert f"{session[-8:]}" in listed
    assert listed.count("Do it.") == 2
    shown = ended_well(desk.run("chat", "show", session[-8:]))
    assert f"conversation {session}" in shown
    assert "I write it down." in shown
    assert "· write_file path=notes.md" in shown
    assert "It continues while a server is running" in shown
    as_json, missing = desk.run_all(f"chat show {session} --json", "chat show nope")
    found = json.loads(ended_well(as_json))
    assert (found["session_id"], found["run"]["status"]) == (session, "running")
    assert "no conversation has an id that ends in 'nope'" in refused(missing)


def test_a_run_that_is_stopped_from_another_terminal_says_so(desk: Desk) -> None:
    desk.script(WRITE)
    process, said = desk.start_task("--json", until="tool.approval_request")
    session = json.loads(said[-1])["session_id"]
    ended_well(desk.run("executions", "stop", session))
    rest, _ = process.communicate(timeout=30)

    assert process.returncode == 3
    assert events_of(rest)[-1]["status"] == "stopped"


@pytest.mark.behaviour("run.interrupted")
def test_ctrl_c_stops_the_run_with_what_waits_and_it_can_be_gone_on_with(desk: Desk) -> None:
    desk.script(WRITE)
    process, said = desk.start_task("--json", until="tool.approval_request")
    process.send_signal(signal.SIGINT)
    rest, _ = process.communicate(timeout=30)
    end = events_of(rest)[-1]
    following = desk.run_task("--session", end["session_id"])

    assert process.returncode == 130
    assert (end["event"], end["status"]) == ("end", "stopped")
    assert json.loads(said[-1])["session_id"] == end["session_id"]
    assert (following.returncode, following.stdout) == (0, "Written, or not.\n")
    assert not desk.notes.exists()


def test_who_reads_no_further_ends_the_run(desk: Desk) -> None:
    desk.script(WRITE)
    process, _ = desk.start_task("--json", until="chat.message")
    process.stdout.close()
    assert process.wait(timeout=30) == 130


@pytest.mark.behaviour("run.there")
def test_a_server_that_runs_already_does_the_work_with_its_own_model(desk: Desk) -> None:
    desk.set_up()
    desk.start_up()
    there = desk.server
    done = desk.run("run", "Do it.")
    other_model = desk.run_task()
    commands = re.findall(r"`handrail (config set [^`]+)`", other_model.stderr)
    for command in commands:
        ended_well(desk.run(*shlex.split(command)))
    as_advised = desk.run("run", "Do it.")

    assert (as_advised.returncode, as_advised.stdout) == (done.returncode, done.stdout)
    assert (done.returncode, done.stdout) == (0, "It is called Example.\nThat is all.\n")
    assert other_model.returncode == 2
    assert "a Handrail server is running" in other_model.stderr
    assert commands == [
        "config set agent.provider scripted",
        f"config set agent.model {desk.workspace / 'script.toml'}",
    ]
    assert desk.server == there


@pytest.mark.slow
@pytest.mark.timeout(180)
@pytest.mark.behaviour("run.elsewhere")
def test_a_folder_that_a_running_server_does_not_know_is_made_known_if_that_is_wanted(
    desk: Desk, tmp_path: Path
) -> None:
    desk.set_up()
    desk.start_up()
    other = tmp_path / "other"
    other.mkdir()
    (other / "README.md").write_text("# Other\n")
    words = ("run", "Do it.", "--workspace", str(other))

    unasked = desk.run(*words)
    with Terminal(*words, cwd=desk.workspace, env=desk.environment) as terminal:
        terminal.expect("is not set up yet")
        terminal.type("n\n", after_seconds=0.1)
        assert terminal.wait() == 2
    done = desk.run(*words, "--yes")
    again = desk.run(*words)

    assert unasked.returncode == 2
    assert f"`handrail init {other}` sets it up, and so does --yes here" in unasked.stderr
    for ended in (done, again):
        assert (ended.returncode, ended.stdout) == (0, "It is called Example.\nThat is all.\n")
        assert "  · read_file README.md  completed  LOW" in ended.stderr


def test_where_no_client_is_connected_one_runs_for_as_long_as_it_takes(desk: Desk) -> None:
    desk.set_up()
    desk.start("serve", "--port", "0", until="Connect this machine")
    ended = desk.run("run", "Do it.")

    assert (ended.returncode, ended.stdout) == (0, "It is called Example.\nThat is all.\n")


def test_what_a_model_says_cannot_play_with_the_terminal(desk: Desk) -> None:
    desk.script(r"""steps = [{ text = "\u001b[2Jgone \u202e[bold]x" }]""")
    ended = desk.run_task()

    assert ended.stdout == "\\x1b[2Jgone \\u{202e}[bold]x\n"


def test_what_cannot_be_reached_is_told_while_it_is_waited_for(desk: Desk) -> None:
    words = ("run", "Do it.", "--provider", "openai", "--model", "m", "--json")
    desk.environment["HANDRAIL_BASE_URL"] = "http://127.0.0.1:9/v1"
    process, said = desk.start(*words, until="asking again in")
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)

    (notice,) = json.loads(said[-1])["parts"]
    assert notice["type"] == "notice"
    assert notice["text"].startswith("openai cannot be reached at http://127.0.0.1:9/v1")
    assert notice["text"].endswith(" s, up to 5 times")


def test_a_key_for_another_address_is_not_sent_and_the_run_says_so(desk: Desk) -> None:
    desk.home.mkdir()
    file = desk.home / "provider-keys.json"
    file.write_text('{"keys": {"openai": "sk-a-long-secret"}}')
    with serving(read_script(LOOK), key="k-wanted") as server:
        ended = desk.run(
            *("run", "Do it.", "--provider", "openai", "--model", "any"),
            HANDRAIL_BASE_URL=f"{server.url}/v1",
        )
        requests = server.requests

    assert ended.returncode == 1
    note, *_ = ended.stderr.splitlines()
    assert note.startswith(f"no key was given for {server.url}/v1, and the one for https://api.")
    assert "requires a key, and none is set for that address" in ended.stderr
    assert requests
    assert "sk-a-long-secret" not in repr(requests)


def test_the_real_sdk_speaks_with_a_server_of_models(desk: Desk) -> None:
    with serving(read_script(LOOK)) as server:
        ended = desk.run(
            *("run", "Do it.", "--provider", "openai", "--model", "any"),
            HANDRAIL_BASE_URL=f"{server.url}/v1",
        )

    assert (ended.returncode, ended.stdout) == (0, "It is called Example.\nThat is all.\n")
