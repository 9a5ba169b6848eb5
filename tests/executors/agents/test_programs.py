"""Finding programs and what they need to see."""

from pathlib import Path

import pytest

from handrail.core.errors import CommandExecutionError
from handrail.executors.agents.programs import find_program


def test_a_program_of_an_environment_sees_the_environment(home: Path) -> None:
    program = _make_program(home / "tools")

    assert find_program("agent", str(program.parent), "/nowhere").shown == (str(home / "tools"),)


def test_no_program_sees_the_whole_home(home: Path) -> None:
    program = _make_program(home)

    with pytest.raises(CommandExecutionError, match="holds your whole home"):
        find_program("agent", str(program.parent), "/nowhere")


def _make_program(environment: Path) -> Path:
    program = environment / "bin/agent"
    program.parent.mkdir(parents=True)
    (environment / "pyvenv.cfg").write_text("")
    (program.parent / "python").symlink_to("/usr/bin/python3")
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    return program
