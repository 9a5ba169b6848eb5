"""git at work in tests: by a shell, as its user does, and by the executor, after an approval."""

import os
import subprocess
from pathlib import Path

from handrail.core.outcome import CommandOutcome
from handrail.executors.commands.executor import CommandExecutor
from handrail.policy.rulebook.book import Rulebook, operator_rules
from handrail.policy.validators.commands import CommandValidator

# git with no settings but those of a repository.
PLAIN = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "HOME": "/nowhere",
    "LC_ALL": "C.UTF-8",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_TERMINAL_PROMPT": "0",
    **{f"GIT_{who}_NAME": "a" for who in ("AUTHOR", "COMMITTER")},
    **{f"GIT_{who}_EMAIL": "a@b.c" for who in ("AUTHOR", "COMMITTER")},
}


def sh(folder: Path, lines: str) -> str:
    """Run lines of a shell, with no settings but those of the folder's repository."""
    words = ["sh", "-ec", lines]
    done = subprocess.run(words, cwd=folder, env=PLAIN, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


async def run_approved(executor: CommandExecutor, line: str) -> CommandOutcome:
    """Run a command bound to what a look at it has seen."""
    command, *args = line.split()
    stages = [CommandValidator(executor.root).stage_of(command, args)]
    sight = await executor.look(stages)
    return await executor.run(stages, timeout_seconds=50, expected=sight.facts)


def trust_host(executor: CommandExecutor, place: str) -> None:
    """Let git reach a host on this machine, as an operator's policy file does."""
    text = f'[[network]]\nname = "git"\nhosts = ["{place}"]'
    executor.adopt(Rulebook(operator_rules(text, "policy.toml")).rules_for(""))
