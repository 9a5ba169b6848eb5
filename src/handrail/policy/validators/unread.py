"""Lines of bash that are not plain: the commands that can be seen in them, and how they run."""

from collections.abc import Iterator, Sequence

from handrail.core.box import Profile
from handrail.core.risk import Finding, RiskLevel
from handrail.core.stage import Stage
from handrail.policy.rulebook.reading import shown
from handrail.policy.rulebook.spelling import SHELL_WORDS
from handrail.policy.shell.script import NotPlain
from handrail.policy.shell.sight import find_fork_bomb, look_through
from handrail.policy.validators.commands import CommandValidator

_BASH = ("bash", "--noprofile", "--norc", "-c")
_GIT = "git"
_MOST_NAMED = 100
_WITHOUT_GIT = Finding(
    "bash.git",
    "git does not work in such a line, because its settings are hidden from it; call git by itself",
    RiskLevel.HIGH,
)
_REFUSALS = {"command.forbidden", "command.unlisted"}
_NO_NETWORK = "needs the network, which such a line does not have; call it by itself"


def judge_unread(validator: CommandValidator, text: str, why: NotPlain) -> Iterator[Finding]:
    """HIGH in any case, with the commands in it that are refused in any line."""
    reason = f"{why.reason}, so it runs in bash and cannot be checked part by part"
    yield Finding("bash.not-plain", reason, RiskLevel.HIGH)
    if (name := find_fork_bomb(text)) is not None:
        reason = f"Command not allowed: {name} starts itself over and over, a fork bomb"
        yield Finding("bash.fork-bomb", reason, RiskLevel.FORBIDDEN)
    for command, *args in look_through(text):
        if command == _GIT:
            yield _WITHOUT_GIT
        if command in SHELL_WORDS:
            continue
        yield from refusals(validator, command, args)
        if command != _GIT and validator.stage_of(command, args).networks:
            yield Finding("bash.network", f"{shown(command)} {_NO_NETWORK}", RiskLevel.HIGH)


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
        validator.rehearses(command, args)
        for command, *args in look_through(text)
        if command not in SHELL_WORDS
    )


def unread_stage(validator: CommandValidator, text: str) -> Stage:
    """The line as bash runs it, bound to the files that its words name."""
    words = dict.fromkeys(word for command in look_through(text) for word in command)
    named = validator.paths_of([*words][:_MOST_NAMED])
    return Stage((*_BASH, text), Profile.WRITE, folder=validator.folder, named=named)


def is_unread(stage: Stage) -> bool:
    return stage.argv[: len(_BASH)] == _BASH
