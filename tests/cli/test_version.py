"""`handrail version` says what is installed."""

import json
import platform

from handrail.version import __version__
from tests.cli.conftest import Shell, ended_well


def test_the_version_is_told_to_people_and_to_programs(shell: Shell) -> None:
    python = platform.python_version()

    option, people, program = map(
        ended_well, shell.run_all("--version", "version", "version --json")
    )

    assert option == f"handrail {__version__}\n"
    assert people == f"handrail {__version__} (Python {python})\n"
    assert json.loads(program) == {
        "handrail": __version__,
        "python": python,
    }
