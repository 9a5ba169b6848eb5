"""Lines of bash that are not plain: the commands that can be seen in them, and how they run."""

import os.path
from collections.abc import Iterator, Sequence

from handrail.core.box import Profile
from handrail.core.risk import Finding, RiskLevel
from handrail.core.stage import NamedFile, Stage
from handrail.core.visible import visible
from handrail.policy.rulebook.reading import shown
from handrail.policy.rulebook.spelling import SHELL_WORDS
from handrail.policy.shell.recursion import find_fork_bomb
from handrail.policy.shell.script import NotPlain
from handrail.policy.shell.sight import look_through
from handrail.policy.validators.commands import CommandValidator
from handrail.policy.validators.heard import files_read_by, files_read_in
from handrail.policy.validators.redirections import refused_targets

_BASH = ("bash", "--noprofile", "--norc", "-c")
_GIT = "git"
_MOST_SCRIPTS = 100
_READING_IN = (".", "source")
_WITHOUT_GIT = Finding(
    "bash.git",
    "git does not work in such a line, since its settings are kept from it; ask for git by itself",
    RiskLevel.HIGH,
)
_REFUSALS = {"command.forbidden", "command.unlisted"}
_NO_NETWORK = "needs the network, which such a line does not get; ask for it by itself"


def judge_unread(validator: CommandValidator, text: str, why: NotPlain) -> Iterator[Finding]:
    """HIGH in any case, with the commands and files in it that are refused in any line."""
    reason = f"{why.reason}, so it runs in bash and cannot be checked part by part"
    yield Finding("bash.not-plain", reason, RiskLevel.HIGH)
    if (name := find_fork_bomb(text)) is not None:
        reason = f"Command not allowed: {visible(name)} starts itself over and over, a fork bomb"
        yield Finding("bash.fork-bomb", reason, RiskLevel.FORBIDDEN)
    seen = look_through(text)
    for command, *args in seen.commands:
        if command not in SHELL_WORDS:
            yield from refusals(validator, command, args)
    if any(command[0] == _GIT for command in seen.commands):
        yield _WITHOUT_GIT
    for command, *args in seen.commands:
        if command != _GIT and validator.stage_of(command, args).networks:
            yield Finding("bash.network", f"{shown(command)} {_NO_NETWORK}", RiskLevel.HIGH)
    yield from refused_targets(seen, validator)


def refusals(validator: CommandValidator, command: str, args: Sequence[str]) -> list[Finding]:
    """Why this command is refused whatever it is told."""
    return [
        finding
        for finding in validator.validate_command(command, args)
        if finding.rule in _REFUSALS and finding.risk is RiskLevel.FORBIDDEN
    ]


def can_rehearse(validator: CommandValidator, text: str) -> bool:
    """Whether every command that can be seen in the line may be tried first without effect."""
    return all(
        command != _GIT and validator.rehearses(command, args)
        for command, *args in look_through(text).commands
        if command not in SHELL_WORDS
    )


def unread_stage(validator: CommandValidator, text: str) -> Stage:
    """What runs as bash, bound to the scripts that can be seen in it."""
    seen = look_through(text)
    files: list[NamedFile] = []
    for command, *args in seen.commands:
        if command in _READING_IN and args:
            # What a shell reads in is run as any script is.
            command, args = os.path.join(".", args[0]), []
        files += validator.stage_of(command, args).scripts
    if any(validator.listens(command, args) for command, *args in seen.commands):
        files += files_read_in(validator, seen)
        for command, *args in seen.commands:
            files += files_read_by(validator, command, args)
    scripts = tuple(dict.fromkeys(files))[:_MOST_SCRIPTS]
    return Stage(
        (*_BASH, text), Profile.WRITE, folder=validator.folder, scripts=scripts, loads=True
    )
