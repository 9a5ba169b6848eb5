"""Lines of bash as words.

A plain line is judged step by step and runs as its argv lists, without a shell. Any other line runs
as bash in a box; its words are searched for refused commands, and that is no boundary.
"""

import os.path
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from handrail.core.grant import CallClass
from handrail.core.risk import Finding, RiskLevel, forbidden, worst
from handrail.core.stage import Join, Stage
from handrail.policy.rulebook.rules import Rules, default_rules
from handrail.policy.rulebook.spelling import SHELL_WORDS
from handrail.policy.shell.lowering import lower
from handrail.policy.shell.script import NotPlain, Script, Step
from handrail.policy.validators.commands import MAX_ARG_BYTES, CommandValidator
from handrail.policy.validators.paths import PathValidator
from handrail.policy.validators.unread import (
    can_rehearse,
    judge_unread,
    refusals,
    unread_stage,
)

_CD = "cd"
_ONLY_A_SHELL = "it changes the folder other than as `cd FOLDER && …`"
_PIPED_CODE = Finding("bash.piped-code", "the output of the pipe is run as code", RiskLevel.HIGH)
_GIVEN_CODE = Finding("bash.given-code", "the text that it reads is run as code", RiskLevel.HIGH)


class _NotPlaced(Exception):
    """The folder of a step cannot be told from the words."""


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
        if why := _what_is_wrong_with(text):
            return [forbidden("bash.spelling", why)]
        steps = _read(self, text)
        if isinstance(steps, NotPlain):
            return list(dict.fromkeys(judge_unread(self._in(self._start), text, steps)))
        return list(dict.fromkeys(one for placed in steps for one in self._judge(placed)))

    def rehearses(self, text: str) -> bool:
        """Whether the line can be tried first where it has no effect."""
        steps = _read(self, text)
        if isinstance(steps, NotPlain):
            return can_rehearse(self._in(self._start), text)
        return all(self._in(placed.folder).rehearses(*placed.step.argv) for placed in steps)

    def stages_of(self, text: str) -> tuple[Stage, ...]:
        """What runs once nobody objects."""
        steps = _read(self, text)
        if isinstance(steps, NotPlain):
            return (unread_stage(self._in(self._start), text),)
        return tuple(map(self._stage, steps))

    def class_of(self, text: str) -> CallClass | None:
        """The class of the one that does more than look; None where it takes more to say.

        Where that class is one of exact words, nothing else may stand on the line, nor a pattern.
        """
        steps = _read(self, text)
        if isinstance(steps, NotPlain):
            return None
        kinds: set[CallClass | None] = set()
        for placed in steps:
            risk = worst(self._judge(placed))
            if risk >= RiskLevel.HIGH:
                return None
            if risk is not RiskLevel.LOW:
                has_text = placed.step.stdin is not None
                kinds.add(None if has_text else self._class_of_step(placed))
        kind = kinds.pop() if len(kinds) == 1 else None
        has_patterns = any(word.is_pattern for placed in steps for word in placed.step.words)
        if kind is None or not kind.is_exact:
            return kind
        return kind if len(steps) == 1 and not has_patterns else None

    def _class_of_step(self, placed: _Placed) -> CallClass | None:
        """The same whether its patterns stand for names or for what they come to: paths."""
        validator, (command, args) = self._in(placed.folder), placed.step.argv
        patterns = placed.step.patterns
        paths = [os.path.join(".", arg) if arg in patterns else arg for arg in args]
        own = validator.class_of(command, args)
        return own if own == validator.class_of(command, paths) else None

    def read(self, text: str) -> tuple[_Placed, ...] | NotPlain:
        """The steps of a line, or why it is not plain.

        A line is plain only if each step is a program, and each `cd` is sure to happen.
        """
        script = lower(text)
        if isinstance(script, NotPlain):
            return script
        validator = self._in(self._start)
        for step in script.steps:
            name, args = step.argv
            if name in SHELL_WORDS and name != _CD and refusals(validator, name, args):
                return NotPlain(f"{name} is a shell builtin")
        try:
            return tuple(self._placed(script))
        except _NotPlaced:
            return NotPlain(_ONLY_A_SHELL)

    def _judge(self, placed: _Placed) -> list[Finding]:
        validator, (command, args) = self._in(placed.folder), placed.step.argv
        findings = validator.validate_command(command, args)
        reads = placed.step.stdin is not None or placed.step.join is Join.PIPE
        if reads and validator.listens(command, args):
            findings.append(_PIPED_CODE if placed.step.stdin is None else _GIVEN_CODE)
        return findings

    def _placed(self, script: Script) -> list[_Placed]:
        """Each step with its folder; changes of folder are no steps of their own."""
        found: list[_Placed] = []
        folder, after_cd = self._start, None
        for step, following in zip(script.steps, (*script.steps[1:], None), strict=True):
            if step.words[0].text == _CD:
                folder = self._move(folder, step, after_cd, following)
                after_cd = step.join if after_cd is None else after_cd
            else:
                join = step.join if after_cd is None else after_cd
                placed = step if join is step.join else step._replace(join=join)
                found.append(_Placed(placed, folder))
                after_cd = None
        return found

    def _move(self, folder: str, step: Step, after_cd: Join | None, following: Step | None) -> str:
        """Where a change of folder leads, if it is sure to be made before what follows.

        Raises:
            _NotPlaced: Only a shell could tell, or it leads out of the workspace.
        """
        is_sure = step.join in (Join.FIRST, Join.THEN) or after_cd is not None
        goes_on = following is not None and following.join in (Join.AND, Join.THEN)
        if len(step.words) != 2 or not (is_sure and goes_on):
            raise _NotPlaced
        path = step.words[1].text
        # A dash begins a flag, or is the folder before this one.
        if step.words[1].is_pattern or path.startswith("-"):
            raise _NotPlaced
        path = path if path.startswith("/") or folder == "." else f"{folder}/{path}"
        if self._paths.validate_path(path):
            raise _NotPlaced
        return self._paths.resolve_path(path)

    @property
    def _paths(self) -> PathValidator:
        return PathValidator(self.root, self.rules)

    @property
    def _start(self) -> str:
        return self._paths.resolve_path(self.folder)

    def _stage(self, placed: _Placed) -> Stage:
        step, folder = placed
        stage = self._in(folder).stage_of(*step.argv)
        return stage._replace(
            join=step.join,
            stdout=step.stdout,
            stderr=step.stderr,
            stdin=step.stdin,
            patterns=_patterns(step, stage.argv),
        )

    def _in(self, folder: str) -> CommandValidator:
        return CommandValidator(self.root, self.rules, folder)


@lru_cache(maxsize=1)  # A line is judged, planned and classed in a row.
def _read(validator: ScriptValidator, text: str) -> tuple[_Placed, ...] | NotPlain:
    return validator.read(text)


def _what_is_wrong_with(text: str) -> str | None:
    """Why no shell could be handed this line, or would find nothing to do in it."""
    try:
        size = len(text.encode(errors="surrogateescape"))
    except UnicodeEncodeError:
        return "the line contains characters that an argument cannot contain"
    if "\0" in text:
        return "the line contains a zero byte, which an argument cannot contain"
    if size > MAX_ARG_BYTES:
        return f"a line of {size:,} bytes is more than the {MAX_ARG_BYTES:,} allowed"
    if all(line.startswith("#") for line in map(str.strip, text.split("\n")) if line):
        return "there is no command in it"
    return None


def _patterns(step: Step, argv: tuple[str, ...]) -> tuple[int, ...]:
    """Where the patterns are among words to which some of our own were added.

    It is read from the end, since `git -C FOLDER` runs without these two words.
    """
    places: list[int] = []
    place = len(argv)
    for text, is_pattern in reversed(step.words):
        found = next((at for at in range(place - 1, -1, -1) if argv[at] == text), None)
        if found is None:
            continue
        place = found
        if is_pattern and not text.startswith("-"):
            places.append(place)
    return tuple(reversed(places))
