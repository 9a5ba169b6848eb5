"""Commands as words: may this program be started with these arguments, and how risky is it?

Only the words are judged, without a look at the disk. Which file a name means, and what a link
leads to, is the executor's matter, at the moment of use.
"""

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from handrail.core.risk import Finding, RiskLevel, forbidden, worst
from handrail.policy.rulebook.command_line import FileWord, read_line, shown
from handrail.policy.rulebook.rules import Rules, default_rules
from handrail.policy.validators.paths import PathValidator

MAX_ARGS = 1_000
MAX_ARG_BYTES = 100_000
_UNSEEN = {"Cc", "Cf", "Zl", "Zp"}
_LAYOUT = {"\n", "\t"}

UNBOXED = Finding(
    "command.unboxed", "no box is proven on this machine, so every command asks", RiskLevel.HIGH
)


@dataclass(frozen=True, slots=True)
class CommandValidator:
    """Judges commands that would run in one workspace."""

    root: str
    rules: Rules = field(default_factory=default_rules)

    def validate_command(self, command: str, args: Sequence[str] = ()) -> list[Finding]:
        """Every concern about a command; an empty list means that it can only look."""
        if findings := _check_spelling(command, args):
            return findings
        reading = read_line(self.rules.commands, [command, *args])
        findings = [*reading.findings]
        for file in reading.files:
            findings += self._check_file(file)
        return list(dict.fromkeys(findings))

    def kind_of(self, command: str, args: Sequence[str] = ()) -> tuple[str, ...] | None:
        """The command and its subcommand; None where they say too little of what would happen."""
        if worst(self.validate_command(command, args)) >= RiskLevel.HIGH:
            return None
        return read_line(self.rules.commands, [command, *args]).kind

    def _check_file(self, file: FileWord) -> list[Finding]:
        paths = PathValidator(self.root, self.rules)
        return [
            finding
            for path in _paths_in(file.word)
            if not file.written or _looks_like_a_path(path)
            for finding in paths.validate_path(path, writing=file.written)
        ]


def _paths_in(word: str) -> Iterator[str]:
    """A word, and the paths that programs find in one: `--to=x`, `key=x`, `@x`, `HEAD:x`."""
    if not word.startswith("-"):
        yield word
    elif "/" in word:
        yield f"./{word}"
    hidden = [word.partition(mark)[2] for mark in ("=", ":")]
    if word.startswith("@"):
        hidden.append(word[1:])
    if word.startswith("-") and not word.startswith("--"):
        hidden.append(word[2:])
    # Behind the colon of an address stands no path of this machine.
    yield from (path for path in hidden if path and not path.startswith("//"))


def _looks_like_a_path(word: str) -> bool:
    """Many words of commands that do more than look are prose; those are left alone."""
    leads_out = word.startswith(("/", "~")) or ".." in word.split("/")
    return leads_out or (word.isprintable() and "\\" not in word and word != "")


def _check_spelling(command: str, args: Sequence[str]) -> list[Finding]:
    rule = "command.spelling"
    if not command.strip():
        return [forbidden(rule, "the command is empty")]
    if len(args) > MAX_ARGS:
        return [forbidden(rule, f"{len(args):,} arguments are more than the {MAX_ARGS:,} allowed")]
    for word in (command, *args):
        if why := _what_is_wrong_with(word):
            return [forbidden(rule, why)]
    return []


def _what_is_wrong_with(word: str) -> str | None:
    try:
        size = len(word.encode(errors="surrogateescape"))
    except UnicodeEncodeError:
        return f"{shown(word)} holds characters that no argument can hold"
    if size > MAX_ARG_BYTES:
        return f"an argument of {size:,} bytes is more than the {MAX_ARG_BYTES:,} allowed"
    if not word.isprintable() and any(
        unicodedata.category(char) in _UNSEEN and char not in _LAYOUT for char in word
    ):
        return f"{shown(word)} holds control or invisible characters"
    return None
