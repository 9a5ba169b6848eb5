"""Programs that are asked outside of any box and of any workspace, as the person would run them."""

import os
import subprocess
import tempfile
from collections.abc import Sequence

from handrail.core.errors import CommandExecutionError
from handrail.executors.processes.programs import ProgramFinder

_ASK_SECONDS = 10.0
_MOST_BYTES = 10_000
# So that a program writes nothing down, and asks no other machine for news.
_QUIET = {
    "npm_config_logs_max": "0",
    "npm_config_update_notifier": "false",
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    "GH_NO_UPDATE_NOTIFIER": "1",
    "GH_PROMPT_DISABLED": "1",
}


def ask_program(programs: ProgramFinder, argv: Sequence[str]) -> str | None:
    """What a program prints; None if it is not installed, or fails to run.

    It leaves no files behind, such as npm's logs.
    """
    try:
        with tempfile.TemporaryDirectory(prefix="handrail-asks-") as cache:
            # The person's own: settings may lie in it. Programs are sought where we know them.
            path = ":".join(programs.search_path)
            quiet = {**_QUIET, "npm_config_cache": cache}
            told = subprocess.run(
                [programs.find(argv[0]), *argv[1:]],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                cwd="/",
                env={**os.environ, **quiet, "PATH": path},
                timeout=_ASK_SECONDS,
                check=False,
            )
    except (CommandExecutionError, OSError, subprocess.SubprocessError):
        return None
    return told.stdout[:_MOST_BYTES].decode(errors="replace")
