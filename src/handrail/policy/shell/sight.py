"""What can be seen in a shell string that is not plain: commands, and files of redirections."""

from collections.abc import Sequence
from itertools import dropwhile
from typing import NamedTuple

from handrail.policy.shell.scan import Scan
from handrail.policy.shell.wrappers import inner_commands, inner_scripts

MAX_CHARS = 65_536
_MOST_CHARS_IN_ALL = 4 * MAX_CHARS
_MOST_NESTED = 16
_MOST_WORDS = MAX_CHARS
_MOST_CHARS_OF_A_VALUE = 1_000

Command = tuple[str, ...]


class Seen(NamedTuple):
    """Each command as its literal words, and each file that is redirected to, or from.

    Of a file it is told whether it would be written; those that only a shell could name are none.
    """

    commands: tuple[Command, ...]
    targets: tuple[tuple[str, bool], ...]


def look_through(text: str) -> Seen:
    """Every simple command that stands somewhere in this string, and every redirection.

    Also those in substitutions, functions and loops, in scripts handed to another shell, behind
    `sudo` and the like, and those whose names are spliced of quotes. Parts of words that only a
    shell could know are left out. This is a detector, never the boundary: it makes refusals early
    and clear, and whoever wants to hide a command from it can. What is not plain runs in a box, or
    not at all. It never raises, and takes time in proportion to the string, of which it reads no
    more than `MAX_CHARS`.
    """
    sight = _Sight()
    sight.look(text[:MAX_CHARS], 0)
    return Seen(tuple(sight.found), tuple(sight.targets))


class _Sight:
    """What has been seen so far, and how much may still be looked at."""

    def __init__(self) -> None:
        self.found: dict[Command, None] = {}
        self.targets: dict[tuple[str, bool], None] = {}
        self._values: dict[str, str] = {}
        self._chars_left = _MOST_CHARS_IN_ALL
        self._words_left = _MOST_WORDS

    def look(self, script: str, depth: int, *, is_quoted: bool = False) -> None:
        if depth <= _MOST_NESTED and self._may_read(len(script)):
            Scan(self, script, depth, is_quoted=is_quoted).run()

    def add(self, words: Sequence[str], depth: int) -> None:
        """Take down a command, and what it is told to run."""
        # Where the name is unknown, the next word is the next best.
        command = tuple(dropwhile(lambda word: not word, words))
        if not command or command in self.found or depth > _MOST_NESTED:
            return
        self._words_left -= len(command)
        if self._words_left < 0:
            return
        self.found[command] = None
        for inner in inner_commands(command):
            self.add(inner, depth + 1)
        for script in inner_scripts(command):
            self.look(script, depth + 1)
        if "," in command[0]:
            # Braces in the place of a name: {rm,-rf,x}
            self.add([*command[0].strip("{}").split(","), *command[1:]], depth + 1)

    def note_target(self, path: str, *, is_written: bool) -> None:
        self.targets[path, is_written] = None

    def keep(self, name: str, value: str) -> None:
        self._values[name] = value[:_MOST_CHARS_OF_A_VALUE]

    def value(self, name: str) -> str:
        value = self._values.get(name, "")
        return value if self._may_read(len(value)) else ""

    def _may_read(self, chars: int) -> bool:
        self._chars_left -= chars
        return self._chars_left >= 0
