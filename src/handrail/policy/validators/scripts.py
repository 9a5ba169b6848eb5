"""Lines of bash as words: what is plain is judged step by step, and what is not asks a person.

A plain line runs as its argv lists, without a shell. Of another only what can be seen is judged,
and that is no boundary: it runs as bash in a box, after a person has said yes.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from handrail.core.box import Profile
from handrail.core.risk import Finding, RiskLevel, forbidden, worst
from handrail.core.stage import Join, Stage
from handrail.policy.rulebook.rules import Rules, default_rules
from handrail.policy.shell.lowering import lower
from handrail.policy.shell.script import NotPlain, Script, Step
from handrail.policy.shell.sight import visible_commands
from handrail.policy.validators.commands import CommandValidator
from handrail.policy.validators.paths import PathValidator

_BASH = ("bash", "--noprofile", "--norc", "-c")
_CD = "cd"
_NOT_ALONE = "cd is understood only as `cd FOLDER && …`; or say the folder with working_dir"
# Words of the shell itself, harmless in a shell that ends with its line.
_SHELL_WORDS = frozenset(
    [
        *(":", ".", "[", "alias", "break", "builtin", "cd", "command", "continue", "declare"),
        *("dirs", "exec", "exit", "export", "getopts", "hash", "let", "local", "mapfile", "popd"),
        *("printf", "pushd", "read", "readonly", "return", "set", "shift", "shopt", "source"),
        *("test", "trap", "true", "false", "type", "typeset", "ulimit", "umask", "unset", "wait"),
    ]
)
_REFUSALS = {"command.forbidden", "command.unlisted"}


class _Placed(NamedTuple):
    """A step and the folder it runs in."""

    step: Step
    folder: str


@dataclass(frozen=True, slots=True)
class ScriptValidator:
    """Judges lines of bash that would run in a folder of one workspace."""

    root: str
    rules: Rules = field(default_factory=default_rules)
    folder: str = "."

    def validate_script(self, text: str) -> list[Finding]:
        """Every concern about a line; an empty list means that it can only look."""
        if refusals := self._paths.validate_path(self.folder):
            return refusals
        findings: list[Finding] = []
        script = lower(text)
        if isinstance(script, NotPlain):
            return list(dict.fromkeys(self._judge_unread(text, script)))
        for placed in self._placed(script):
            match placed:
                case Finding():
                    findings.append(placed)
                case _Placed(step, folder):
                    findings += self._in(folder).validate_command(*_words(step))
        return list(dict.fromkeys(findings))

    def stages_of(self, text: str) -> tuple[Stage, ...]:
        """What runs once nobody objects."""
        script = lower(text)
        if isinstance(script, NotPlain):
            return (Stage((*_BASH, text), Profile.WRITE, folder=self._start),)
        return tuple(
            self._stage(placed) for placed in self._placed(script) if isinstance(placed, _Placed)
        )

    def kind_of(self, text: str) -> tuple[str, ...] | None:
        """The one kind of command among those that only look; None where it takes more to say."""
        script = lower(text)
        if isinstance(script, NotPlain):
            return None
        kinds: set[tuple[str, ...] | None] = set()
        for placed in self._placed(script):
            if isinstance(placed, Finding):
                return None
            validator, (command, args) = self._in(placed.folder), _words(placed.step)
            if worst(validator.validate_command(command, args)) is not RiskLevel.LOW:
                kinds.add(validator.kind_of(command, args))
        return kinds.pop() if len(kinds) == 1 else None

    def files_of(self, text: str) -> list[tuple[str, bool]]:
        """Paths that a plain line may open, as they lead from the root, and whether to change."""
        script = lower(text)
        if isinstance(script, NotPlain):
            return []
        return [
            file
            for placed in self._placed(script)
            if isinstance(placed, _Placed)
            for file in self._in(placed.folder).files_of(*_words(placed.step))
        ]

    def _judge_unread(self, text: str, why: NotPlain) -> Iterator[Finding]:
        reason = f"{why.reason}, so what it does cannot be told for certain; it would run as bash"
        yield Finding("bash.not-plain", reason, RiskLevel.HIGH)
        for command, *args in visible_commands(text):
            if command in _SHELL_WORDS:
                continue
            for finding in self._in(self._start).validate_command(command, args):
                if finding.rule in _REFUSALS and finding.risk is RiskLevel.FORBIDDEN:
                    yield finding

    def _placed(self, script: Script) -> Iterator[_Placed | Finding]:
        """Each step with its folder; changes of folder are no steps of their own."""
        folder, after_cd = self._start, None
        for step, following in zip(script.steps, (*script.steps[1:], None), strict=True):
            if step.words[0].text == _CD:
                moved = self._move(folder, step, after_cd, following)
                if isinstance(moved, Finding):
                    yield moved
                    return
                folder, after_cd = moved, after_cd or step.join
            else:
                join = step.join if after_cd is None else after_cd
                yield _Placed(replace(step, join=join), folder)
                after_cd = None

    def _move(
        self, folder: str, step: Step, after_cd: Join | None, following: Step | None
    ) -> str | Finding:
        """Where a change of folder leads, if it is sure to be made before what follows."""
        is_sure = step.join in (Join.FIRST, Join.THEN) or after_cd is not None
        goes_on = following is not None and following.join in (Join.AND, Join.THEN)
        if len(step.words) != 2 or step.words[1].is_pattern or not (is_sure and goes_on):
            return forbidden("bash.cd", _NOT_ALONE)
        path = step.words[1].text
        path = path if path.startswith("/") or folder == "." else f"{folder}/{path}"
        refusals = self._paths.validate_path(path)
        return refusals[0] if refusals else self._paths.resolve_path(path)

    @property
    def _paths(self) -> PathValidator:
        return PathValidator(self.root, self.rules)

    @property
    def _start(self) -> str:
        return self._paths.resolve_path(self.folder)

    def _stage(self, placed: _Placed) -> Stage:
        step, folder = placed
        command, args = _words(step)
        argv, profile = self._in(folder).plan_of(command, args)
        return Stage(
            argv, profile, step.join, step.stdout, step.stderr, _patterns(step, argv), folder
        )

    def _in(self, folder: str) -> CommandValidator:
        return CommandValidator(self.root, self.rules, folder)


def _words(step: Step) -> tuple[str, list[str]]:
    command, *args = (word.text for word in step.words)
    return command, args


def _patterns(step: Step, argv: tuple[str, ...]) -> tuple[int, ...]:
    """Where the patterns are among words to which some of our own were added."""
    places: list[int] = []
    place = 0
    for word in step.words:
        place = argv.index(word.text, place)
        if word.is_pattern and not word.text.startswith("-"):
            places.append(place)
        place += 1
    return tuple(places)
