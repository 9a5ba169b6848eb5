"""Help comes at once, is whole, and says the same as the commands themselves."""

import json
import subprocess
import sys
from importlib import import_module

import pytest
import typer
from typer.testing import CliRunner

from handrail.cli.main import COMMANDS, build_app, main
from tests.cli.conftest import Shell, ended_well


def own_words(name: str) -> str:
    """The first line a command, or a group of commands, says about itself."""
    app = typer.Typer()
    import_module(COMMANDS[name][0]).register(app)
    if app.registered_groups:
        (group,) = app.registered_groups
        assert (group.name, group.typer_instance is None) == (name, False)
        return str(group.typer_instance.info.help) if group.typer_instance else ""
    (command,) = app.registered_commands
    assert command.name == name
    assert command.callback is not None
    return (command.callback.__doc__ or "").splitlines()[0]


def test_help_lists_every_command_with_its_sentence(shell: Shell) -> None:
    said = ended_well(shell.run("--help"))

    listed = [line.strip("│ ").split(maxsplit=1) for line in said.splitlines()]
    for name, (_, sentence) in COMMANDS.items():
        assert [name, sentence] in listed


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_says_of_a_command_what_it_says_of_itself(name: str) -> None:
    assert own_words(name) == COMMANDS[name][1]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself(name: str) -> None:
    answer = CliRunner().invoke(build_app(name), [name, "--help"], env={"COLUMNS": "200"})

    assert answer.exit_code == 0
    assert COMMANDS[name][1] in answer.output


@pytest.mark.parametrize("name", COMMANDS)
def test_help_gives_no_flag_a_type(shell: Shell, name: str) -> None:
    said = ended_well(shell.run(name, "--help"))

    assert "--help" in said
    assert "bool" not in said


def loaded_by(shell: Shell, *commands: str) -> set[str]:
    """All the modules there are once each of these commands has run in one process."""
    program = (
        "import sys, json, contextlib, io\n"
        "from handrail.cli.main import main\n"
        f"for command in {commands}:\n"
        "    sys.argv = ['handrail', *command.split()]\n"
        "    with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()):\n"
        "        main()\n"
        "print(json.dumps(sorted(sys.modules)))"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program],
        env=shell.environment,
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )
    return set(json.loads(ended.stdout))


def test_help_loads_nothing_that_takes_long(shell: Shell) -> None:
    heavy = {
        "aiohttp", "alembic", "apsw", "fastapi", "pydantic", "sqlalchemy", "textual", "uvicorn",
    }  # fmt: skip
    loaded = loaded_by(shell, "--help")
    assert "handrail.cli.main" in loaded
    assert heavy & loaded == set()


def test_no_command_loads_the_screens_before_one_is_opened(shell: Shell) -> None:
    loaded = loaded_by(shell, "approvals watch --help", "connect --help", "up --help")
    assert "handrail.cli.screen" in loaded
    assert {"textual", "handrail.tui"} & loaded == set()


def test_a_client_loads_nothing_of_a_server(shell: Shell) -> None:
    loaded = loaded_by(shell, "connect --help")
    assert "handrail.client.streaming" in loaded
    assert {"alembic", "apsw", "cryptography", "fastapi", "sqlalchemy", "uvicorn"} & loaded == set()


def test_a_server_loads_nothing_of_a_client(shell: Shell) -> None:
    loaded = loaded_by(shell, "serve --help")
    assert "handrail.server.app" in loaded
    assert "aiohttp" not in loaded


def test_no_command_loads_a_model_or_a_keyring_before_it_needs_one(shell: Shell) -> None:
    loaded = loaded_by(shell, "--help", *(f"{name} --help" for name in COMMANDS), "config")

    assert "handrail.server.app" in loaded
    assert {"anthropic", "keyring", "openai"} & loaded == set()


def test_a_mistyped_command_is_told_without_a_traceback(shell: Shell) -> None:
    for ended in shell.run_all("bogus", "explain", "version --bogus"):
        assert ended.returncode == 2
        assert "Traceback" not in ended.stderr
        assert "--help" in ended.stderr


@pytest.mark.parametrize("command", ["up", "connect", "doctor", "init"])
def test_on_windows_people_are_told_where_to_go(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(sys, "argv", ["handrail", command])
    with pytest.raises(SystemExit) as ended:
        main()

    assert ended.value.code == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(
        "handrail: Handrail runs on Linux and macOS. On Windows, run it inside WSL"
    )


def test_its_version_it_tells_anywhere(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(sys, "argv", ["handrail", "--version"])
    with pytest.raises(SystemExit) as ended:
        main()

    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith("handrail ")
