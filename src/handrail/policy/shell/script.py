"""A plain shell string as argv lists, and how each follows on the one before."""

from dataclasses import dataclass
from typing import NamedTuple

from handrail.core.stage import Join, Stream


# These are tuples because there are many of them, and a tuple is made in a third of the time.
class Word(NamedTuple):
    """One word as the program would be given it.

    `is_pattern` says that bash would first look for files of this pattern, all of whose special
    characters stand in `text` unquoted. Bash knows `**` only as `*`, and leaves a pattern that
    fits nothing as it is.
    """

    text: str
    is_pattern: bool = False


class Step(NamedTuple):
    """One program with its words; the first names it and is never a pattern.

    `stdin` is the text that it is given to read; None where it reads what comes through the pipe
    before it, or nothing.
    """

    words: tuple[Word, ...]
    join: Join
    stdout: Stream = Stream.OUT
    stderr: Stream = Stream.ERR
    stdin: str | None = None

    @property
    def argv(self) -> tuple[str, list[str]]:
        """The program's name, and its arguments."""
        texts = [word.text for word in self.words]
        return texts[0], texts[1:]

    @property
    def patterns(self) -> frozenset[str]:
        """Those of its words that stand for files."""
        return frozenset([word.text for word in self.words if word.is_pattern])


@dataclass(frozen=True, slots=True)
class Script:
    """What bash would run, without a shell; never empty."""

    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class NotPlain:
    """Why a string cannot be proven to be a plain script: words that follow `because`."""

    reason: str
