"""No secret is a word of a command line or a line of a log, whichever command is run.

Every command is started, those that stay as well as those that end, with a screen, a browser that
records its arguments, and without a terminal. A new command needs an entry in a table below.
"""

import asyncio
import json
import re
import signal
import stat
import sys
import threading
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from typer.core import TyperGroup

from handrail.app.home import Home
from handrail.cli.main import COMMANDS, build_command
from handrail.client.api import HandrailApi
from tests.cli.conftest import Shell
from tests.forge import Forged
from tests.terminal import Terminal

# The first test to run starts all of them.
pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

SECRET = re.compile(r"hr_(?:user|client|agent|approver|link)_[\w-]{20,}")
HERE = Path(__file__).parent

# Commands that stay until they are told to stop: arguments, and the words that say it has begun.
STAYING = {
    "up": ("--port 0 --verbose", "Stop with Ctrl+C"),
    "serve": ("--port 0 --verbose", "Decide in the browser"),
    "connect": ("--verbose", "connected"),
}
# With its exit code, which is not 0 where the command has nothing to work on here. What stands in
# braces are ids.
ENDING = {
    "init": ("--yes", 0),
    "run": ("hello", 2),
    "chat": ("", 0),
    "chat show": ("none", 1),
    "tour": ("--auto", 0),
    "console": ("", 0),
    "approvals": ("", 0),
    "approvals watch": ("", 1),
    "approvals show": ("{first}", 0),
    "approvals approve": ("{second} --yes", 0),
    "approvals reject": ("{third}", 0),
    "approvals edit": ("none --content -", 1),
    "grants": ("", 0),
    "grants revoke": ("none", 1),
    "explain": ("read_file path=README.md", 0),
    "autonomy": ("full", 0),
    "draft": ("--allow nowhere -- true", 1),
    "drafts": ("", 0),
    "drafts show": ("none", 1),
    "drafts apply": ("none", 1),
    "drafts discard": ("none --yes", 1),
    "drafts export": ("none none.patch", 1),
    "drafts open": ("none none", 1),
    "folders": ("", 0),
    "folders add": ("/nonexistent", 1),
    "folders remove": ("/nonexistent", 1),
    "policy show": ("", 0),
    "policy check": ("", 0),
    "policy test": ("ls", 0),
    "executions": ("", 0),
    "executions show": ("{call}", 0),
    "executions cancel": ("{call}", 0),
    "executions stop": ("s", 0),
    "trust": ("", 0),
    "tools": ("", 0),
    "memory": ("", 0),
    "memory list": ("", 0),
    "memory forget": ("none", 1),
    "memory export": ("", 0),
    "skills": ("", 0),
    "config": ("", 0),
    "config list": ("", 0),
    "config get": ("agent.provider", 0),
    "config set": ("agent.provider anthropic", 0),
    "config unset": ("agent.provider", 0),
    "config set-key": ("anthropic --stdin", 1),
    "config forget-key": ("anthropic", 1),
    "budget": ("", 0),
    "toolchains": ("", 0),
    "toolchains allow": ("/nonexistent", 1),
    "toolchains deny": ("/nonexistent", 0),
    "audit show": ("", 0),
    "audit verify": ("", 0),
    "audit export": ("", 0),
    "audit key": ("", 0),
    "data export": ("", 0),
    "data delete": ("--all --yes", 1),
    "prune": ("--dry-run", 0),
    "backup": ("", 0),
    "restore": ("none.tar --yes", 1),
    "token list": ("", 0),
    "token create": ("--role agent --name extra", 0),
    "token rotate": ("{token}", 0),
    "token revoke": ("none", 1),
    "doctor": ("", 0),
    "undo": ("", 0),
    "uninstall": ("--dry-run", 0),
    "version": ("", 0),
}
# Also with these options, where they lead elsewhere.
MORE = {
    "console --json": 0,
    "console --no-open": 0,
    "token create --role approver --name Bea": 0,
    "token create --role client --name other --machine far --root /srv/work": 0,
}
# Only what a person asks for in so many words is printed, and on standard output alone.
PRINTS_A_SECRET = {
    "token create": "to make a token and print it is all it does",
    "token rotate": "likewise",
    "console --json": "a program that asks for the link gets it",
    "console --no-open": "prints the link for another browser than this machine's",
}


def commands(group: TyperGroup, way: tuple[str, ...] = ()) -> Generator[str]:
    """Every command that can be run, groups that do something by themselves included.

    A hidden one is another name of its group.
    """
    for name, command in group.commands.items():
        if command.hidden:
            continue
        here = (*way, name)
        if not isinstance(command, TyperGroup) or command.invoke_without_command:
            yield " ".join(here)
        if isinstance(command, TyperGroup):
            yield from commands(command, here)


def every_command() -> set[str]:
    loaded = (set(commands(build_command(name))) for name in COMMANDS)
    return {
        command
        for name, found in zip(COMMANDS, loaded, strict=True)
        for command in found
        if command.split()[0] == name
    }


class Watch:
    """The command lines of all processes that descend from this one, looked at again and again."""

    def __init__(self) -> None:
        self.seen: set[str] = set()
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def end(self) -> None:
        self._is_over.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._is_over.wait(0.02):
            self._look("self")

    def _look(self, pid: str) -> None:
        try:
            tasks = list(Path("/proc", pid, "task").iterdir())
            for child in {pid for task in tasks for pid in (task / "children").read_text().split()}:
                line = Path("/proc", child, "cmdline").read_bytes()
                self.seen.add(line.decode(errors="replace").replace("\0", " "))
                self._look(child)
        except OSError:
            return  # It has ended meanwhile.


@dataclass
class Trial:
    """What all commands have printed, started and left behind."""

    home: Path
    printed: dict[str, tuple[int, str, str]] = field(default_factory=dict[str, Any])
    started: str = ""
    opened: str = ""
    seen: set[str] = field(default_factory=set[str])
    files: dict[str, tuple[int, str]] = field(default_factory=dict[str, Any])


class Stage:
    def __init__(self, shell: Shell, trial: Trial):
        self.shell, self.trial = shell, trial
        folder = shell.home.parent
        self.environment = shell.environment | {
            "DISPLAY": ":0",
            "BROWSER": f"{sys.executable} {HERE / 'browser.py'} {folder / 'opened'} %s",
            "STARTED": str(folder / "started"),
        }
        self.ids: dict[str, str] = {}

    def begin(self, command: str) -> Forged:
        arguments, until = STAYING[command]
        process = self._forge(f"{command} {arguments}")
        said: list[str] = []
        for line in process.stdout:
            said.append(line)
            if until in line:
                break
        else:
            raise AssertionError(f"{command} ended by itself: {process.communicate()}")
        self.trial.printed[command] = (0, "".join(said), "")
        return process

    def end(self, command: str, process: Forged) -> None:
        process.send_signal(signal.SIGINT)
        said, complained = process.communicate(timeout=30)
        before = self.trial.printed[command][1]
        self.trial.printed[command] = (process.wait(), before + said, complained)

    def run(self, line: str, name: str) -> None:
        process = self._forge(line.format(**self.ids))
        said, complained = process.communicate(timeout=50)
        self.trial.printed[name] = (process.wait(), said, complained)

    def _forge(self, line: str) -> Forged:
        return Forged(
            *line.split(), environment=self.environment, folder=self.shell.workspace,
            program=HERE / "recorded.py", apart=True,
        )  # fmt: skip

    async def ask(self) -> None:
        """Leave questions for a person, and note the ids that commands are given."""
        known = Home(self.shell.home).find_credentials(self.shell.workspace.resolve())
        assert known is not None
        async with (
            HandrailApi(known.server, known.project_id, known.agent_token) as agent,
            HandrailApi(known.server, known.project_id, known.user_token) as person,
            asyncio.timeout(20),
        ):
            for path in ("a.txt", "b.txt", "c.txt"):
                await agent.execute(
                    "write_file", {"path": path, "content": "x\n"}, session_id="s", call_id=path
                )
            while len(cards := await person.pending_approvals()) < 3:
                await asyncio.sleep(0.05)
        waiting = [card.approval_id for card in cards]
        self.ids |= dict(zip(("first", "second", "third"), waiting, strict=True))
        self.ids["call"] = cards[0].tool_id

    def note_token(self) -> None:
        (_, said, _) = self.trial.printed["token list --json"]
        tokens = json.loads(said)["tokens"]
        self.ids["token"] = next(one["token_id"] for one in tokens if one["role"] == "agent")


@pytest.fixture(scope="module")
def trial(tmp_path_factory: pytest.TempPathFactory) -> Trial:
    """Every command, once; made once, because each is a process."""
    shell = Shell(tmp_path_factory.mktemp("secrets"))
    (shell.workspace / "README.md").write_text("# Hello\n")
    made, watch = Trial(shell.home), Watch()
    stage = Stage(shell, made)
    up = stage.begin("up")
    try:
        stage.run("token list --json", "token list --json")
        stage.note_token()
        asyncio.run(stage.ask())
        last = ("executions cancel", "executions stop", "token rotate", "data delete")
        first = [name for name in ENDING if name not in last]
        lines = [(f"{name} {ENDING[name][0]}", name) for name in first]
        lines += [(line, line) for line in MORE]
        with ThreadPoolExecutor(3) as pool:
            list(pool.map(lambda one: stage.run(*one), lines))
        for name in last:
            stage.run(f"{name} {ENDING[name][0]}", name)
        stage.end("up", up)
        serve = stage.begin("serve")
        stage.end("connect", stage.begin("connect"))
        stage.end("serve", serve)
    finally:
        up.kill()
        watch.end()
    made.seen = watch.seen
    made.started = (shell.home.parent / "started").read_text()
    made.opened = (shell.home.parent / "opened").read_text()
    for place in (shell.home, *shell.home.rglob("*")):
        text = "" if place.is_dir() else place.read_bytes().decode(errors="replace")
        made.files[str(place.relative_to(shell.home))] = (place.lstat().st_mode, text)
    return made


def test_every_command_is_in_a_table() -> None:
    assert every_command() == {*STAYING, *ENDING}


def test_every_command_does_its_work_here(trial: Trial) -> None:
    wanted = {**dict.fromkeys(STAYING, 0), **{name: code for name, (_, code) in ENDING.items()}}
    codes = {name: trial.printed[name][0] for name in (*wanted, *MORE)}

    differ = [name for name in codes if codes[name] != (wanted | MORE)[name]]
    assert {name: trial.printed[name] for name in differ} == {}


def test_no_secret_is_a_word_of_a_command_line(trial: Trial) -> None:
    assert "browser.py" in trial.opened
    assert "webbrowser.open" in trial.started
    assert any("browser.py" in line for line in trial.seen)

    assert SECRET.findall(trial.opened) == []
    assert SECRET.findall(trial.started) == []
    assert SECRET.findall(" ".join(trial.seen)) == []


def test_no_secret_is_printed_but_by_commands_that_are_there_to_print_it(trial: Trial) -> None:
    printing = {name for name, (_, said, _) in trial.printed.items() if SECRET.search(said)}

    assert {name.partition(" --role")[0] for name in printing} == set(PRINTS_A_SECRET)
    assert [name for name, (_, _, told) in trial.printed.items() if SECRET.search(told)] == []


def test_no_secret_is_in_a_file_but_in_the_credentials(trial: Trial) -> None:
    holding = {Path(name).parent for name, (_, text) in trial.files.items() if SECRET.search(text)}

    assert holding == {Path("credentials")}


def test_no_file_of_the_home_is_open_to_other_users(trial: Trial) -> None:
    names = {Path(name).parts[0] for name in trial.files if name != "."}
    assert {"journal", "server.lock", "token.lock", "config.lock", "audit"} <= names

    modes = {name: stat.S_IMODE(mode) for name, (mode, _) in trial.files.items()}
    folders = {name for name, (mode, _) in trial.files.items() if stat.S_ISDIR(mode)}
    assert {
        name: oct(mode)
        for name, mode in modes.items()
        if mode != (0o700 if name in folders else 0o600)
    } == {}


def test_the_log_beside_a_terminal_has_no_secret(shell: Shell) -> None:
    """At a terminal the link is shown, and what is logged goes into a file."""
    with Terminal("up", "--port", "0", cwd=shell.workspace, env=shell.environment) as terminal:
        terminal.expect("Stop with Ctrl+C")
        address, link = re.findall(r"(http://[\d.:]+)/#(hr_user_[\w-]+)", terminal.shown)[0]
        for _ in range(2):
            sign_in(address, link)
        terminal.interrupt()

    logged = (shell.home / "handrail.log").read_text()
    assert "console.link_used_twice" in logged
    assert SECRET.search(logged) is None


def sign_in(address: str, link: str) -> None:
    body = json.dumps({"link": link}).encode()
    request = Request(f"{address}/console/session", body, {"content-type": "application/json"})
    with suppress(HTTPError):
        urlopen(request, timeout=20).close()
