"""Every code block in the documents runs, in the order in which a reader would run it."""

import os
import pty
import re
import shlex
import tomllib
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.forge import Forged, run_forged
from tests.ports import free_port
from tests.terminal import Terminal

ROOT = Path(__file__).parent.parent
DOCUMENTS = sorted(
    path
    for path in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    if "```" in path.read_text()
)
RUNNABLE = {"console", "python", "toml"}
SHOWN_ONLY = {"mermaid", ""}


@dataclass(frozen=True)
class Block:
    language: str
    text: str


def blocks_of(document: Path) -> list[Block]:
    found = re.findall(r"^```(\w*)\n(.*?)^```$", document.read_text(), re.M | re.S)
    return [Block(language, text) for language, text in found]


class Reader:
    """Somebody who types what a document says, in a folder and a home of their own."""

    def __init__(self, folder: Path):
        self.workspace = folder / "project"
        self.home = folder / "home"
        self.workspace.mkdir()
        (self.workspace / "README.md").write_text("# A project\n")
        (folder / "lib").mkdir()
        self.port = str(free_port())
        unwanted = ("HANDRAIL", "ANTHROPIC", "OPENAI", "DAILY_TOKEN", "PYTHONDONTWRITEBYTECODE")
        kept = {k: v for k, v in os.environ.items() if not k.startswith(unwanted)}
        self._environment = {
            **kept,
            "HANDRAIL_HOME": str(self.home),
            "HANDRAIL_PORT": self.port,
            "PYTHONUNBUFFERED": "1",
            # Nobody's own keyring is touched.
            "PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring",
            "COLUMNS": "200",
        }
        self._running: list[tuple[Forged, int]] = []

    def follow(self, block: Block) -> None:
        if block.language == "toml":
            self._save(block.text)
            return
        if block.language == "python":
            self._finish(program=self._note_down(block.text))
            return
        for command, shown in commands_of(block.text):
            self._assert_shown(shown, self._type(command))

    def leave(self) -> None:
        for process, reading in self._running:
            process.terminate()
            process.communicate(timeout=10)
            os.close(reading)

    def _save(self, text: str) -> None:
        """A file, or a part of one, is what its language says; a whole one begins with its name."""
        tomllib.loads(text)
        first = text.splitlines()[0]
        if not first.startswith("# "):
            return
        name = first.removeprefix("# ")
        own = name.startswith("~/.handrail/")
        path = self.home / Path(name).name if own else self.workspace / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)

    def _type(self, command: str) -> str:
        program, *arguments = shlex.split(command)
        if program == "make":
            return self._make(*arguments)
        assert program in {"handrail", ".venv/bin/handrail"}, f"who runs {program!r}?"
        if arguments[0] == "up":
            return self._start(arguments)
        if arguments == ["tour"]:
            return self._decide_on_the_tour()
        if arguments[:2] == ["approvals", "watch"]:
            return self._watch(arguments)
        return self._finish(*arguments)

    def _decide_on_the_tour(self) -> str:
        """The tour asks the reader twice: they approve the write and refuse the command."""
        with Terminal("tour", cwd=self.workspace, env=self._environment) as terminal:
            terminal.expect("Create handrail-tour/config.json (4 lines)")
            terminal.expect("decide")
            terminal.type("a")
            terminal.expect("type 'approve'")
            terminal.type("approve\n")
            terminal.expect("Run npm install express")
            terminal.expect("decide")
            terminal.type("r")
            terminal.expect("reason?")
            terminal.type("not today\n")
            assert terminal.wait() == 0
            return terminal.shown

    def _watch(self, arguments: list[str]) -> str:
        """Nothing comes, so the reader looks at the keys, and leaves."""
        env = self._environment
        with Terminal(*arguments, cwd=self.workspace, env=env, kind="xterm-256color") as terminal:
            if "--plain" in arguments:
                terminal.expect("Waiting for questions")
                terminal.interrupt()
                return terminal.shown
            terminal.expect("Nothing waits for you")
            terminal.type("?")
            terminal.expect("approve this call, once")
            terminal.type("\x1b")
            terminal.type("q")
            assert terminal.wait() == 0
            return terminal.shown

    def _make(self, target: str) -> str:
        recipe = re.search(rf"^{target}:.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(), re.M)
        assert recipe is not None, f"the Makefile has no {target!r}"
        # What sets up is tested by whoever runs these tests; what it then starts is tested here.
        if recipe[1].endswith("handrail up\n"):
            return self._start(["up"])
        return ""

    def _start(self, arguments: list[str]) -> str:
        """Printed to a terminal, where a reader is; but nobody is asked there."""
        reading, terminal = pty.openpty()
        process = Forged(
            *arguments,
            environment=self._environment | {"TERM": "dumb"},
            folder=self.workspace,
            output=terminal,
        )
        os.close(terminal)
        self._running.append((process, reading))
        seen = b""
        while b"Ctrl+C" not in seen:
            seen += os.read(reading, 65536)
        return seen.decode().replace("\r", "")

    def _note_down(self, program: str) -> Path:
        """Next to the workspace, where no command of the document sees it."""
        file = self.workspace.with_name("block.py")
        file.write_text(program)
        return file

    def _finish(self, *words: str, program: Path | None = None) -> str:
        done = run_forged(
            *words,
            environment=self._environment,
            folder=self.workspace,
            program=program,
            timeout=60,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def _assert_shown(self, shown: str, printed: str) -> None:
        """What a document shows is what is printed; `…` stands for anything."""
        wanted = re.escape(shown.strip().replace(":8000", f":{self.port}")).replace("…", ".*")
        assert re.search(wanted, printed, re.S), f"{printed!r} does not look like {shown!r}"


def commands_of(text: str) -> list[tuple[str, str]]:
    """The commands of a console block, each with what is shown below it."""
    parts = re.split(r"^\$ (.*)$", text, flags=re.M)
    return list(zip(parts[1::2], parts[2::2], strict=True))


@pytest.fixture
def reader(tmp_path: Path) -> Generator[Reader]:
    made = Reader(tmp_path)
    yield made
    made.leave()


@pytest.mark.timeout(180)  # A long document is many processes.
@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_reader_can_do_what_a_document_says(document: Path, reader: Reader) -> None:
    for block in blocks_of(document):
        assert block.language in RUNNABLE | SHOWN_ONLY, block.language
        if block.language in RUNNABLE:
            reader.follow(block)
