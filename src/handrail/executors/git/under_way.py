"""Work of git that is under way: what it has written down to do next must be its own.

A rebase keeps a plan in files, and goes on by them. A line of a plan can name any program, and so
can some of the options that are kept beside it; what a bisection takes for the name of the branch
that it began on can be a flag. Whoever has planted a repository can have written them.
"""

import os
import re
import shlex
import stat
from collections.abc import Callable, Iterator

from handrail.core.errors import CommandExecutionError
from handrail.core.visible import cut, visible
from handrail.executors.repository.line import action_in
from handrail.executors.repository.places import GIT, folders_of, place_of
from handrail.executors.repository.settings import entries_of

_GOING_ON = frozenset({"am", "cherry-pick", "pull", "rebase", "revert", ""})
_SEEKING = frozenset({"bisect", ""})
_ENDING = frozenset({"--abort", "--quit"})
_MOST_BYTES = 1 << 20
_MOST_CHARS = 80
_END_OF_WORD = re.compile(r"[ \t\r]")
_STEPS = frozenset(
    [
        *("pick", "p", "revert", "edit", "e", "reword", "r", "fixup", "f", "squash", "s"),
        *("label", "l", "reset", "t", "merge", "m", "update-ref", "u"),
        *("noop", "drop", "d", "break", "b"),
    ]
)
# Others are programs that git looks for by such a name.
_STRATEGIES = frozenset({"ort", "recursive", "resolve", "octopus", "ours", "subtree"})
_STRATEGY = "options.strategy"
_PLAIN_NAME = re.compile(r"(?:[\w.@/+=#,][^\s~^:?*\[\\]*)?")
_APPLYING = re.compile(
    r"-[Cp][0-9]*|[0-9]+|--(?:whitespace|directory|exclude|include)=.*|--reject"
    r"|--ignore-(?:space-change|whitespace)",
    re.DOTALL,
)


def refuse_foreign_plans(root: str, folder: str, words: tuple[str, ...] | None) -> None:
    """Refuse to go on with what would run programs, or whose plan could be exchanged on the way.

    `words` are what git is told; where nobody can tell, it may be to go on.

    Raises:
        CommandExecutionError: It is so.
    """
    action = "" if words is None else action_in(words)
    behind = () if words is None or not action else words[words.index(action) + 1 :]
    is_end = len(behind) == 1 and behind[0] in _ENDING
    kept = _KEPT if action in _GOING_ON and not is_end else {}
    if action in _SEEKING:
        kept = {**kept, **_KEPT_BY_BISECT}
    inside = next(folders_of(f"{place_of(root, folder)}/{GIT}"), None) if kept else None
    for name, foreign in kept.items() if inside is not None else ():
        path = f"{inside}/{name}"
        text = _text(path)
        for number, line in foreign(text) if text is not None else ():
            told = cut(visible(line.strip()), _MOST_CHARS)
            if name in _KEPT_BY_BISECT:
                raise _not_a_name(path, f"line {number} ({told}) is not a plain name")
            raise _refused(path, f"line {number} ({told}) could make git run any program")


def _foreign_steps(text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.split("\n"), start=1):
        # Where comments have another sign, git refuses these lines; it takes them for no step.
        step = line.lstrip(" \t")
        if step and step[0] not in "#\r" and _END_OF_WORD.split(step, 1)[0] not in _STEPS:
            yield number, line


def _foreign_strategies(text: str) -> Iterator[tuple[int, str]]:
    if text.strip() not in _STRATEGIES:
        yield 1, text


def _foreign_options(text: str) -> Iterator[tuple[int, str]]:
    try:
        found = [value or "" for name, value in entries_of(text) if name == _STRATEGY]
    except ValueError:
        found = [text]
    yield from ((1, value) for value in found if value not in _STRATEGIES)


def _foreign_words(text: str) -> Iterator[tuple[int, str]]:
    try:
        words = shlex.split(text)
    except ValueError:
        words = [text]
    yield from ((1, word) for word in words if not _APPLYING.fullmatch(word))


def _foreign_names(text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.rstrip().split("\n"), start=1):
        if not _PLAIN_NAME.fullmatch(line):
            yield number, line


_KEPT: dict[str, Callable[[str], Iterator[tuple[int, str]]]] = {
    "rebase-merge/git-rebase-todo": _foreign_steps,
    "rebase-merge/strategy": _foreign_strategies,
    "rebase-apply/apply-opt": _foreign_words,
    "sequencer/todo": _foreign_steps,
    "sequencer/opts": _foreign_options,
}
_KEPT_BY_BISECT = {"BISECT_START": _foreign_names, "BISECT_TERMS": _foreign_names}


def _text(path: str) -> str | None:
    """What a file holds; None if there is none.

    Raises:
        CommandExecutionError: It is no plain file, or is reached by a link.
    """
    folder = os.path.dirname(path)
    try:
        if os.path.islink(folder):
            raise _refused(path, "that is reached by a link")
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _refused(path, f"that cannot be read: {error.strerror}") from None
    with open(fd, "rb") as file:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise _refused(path, "that is not a file")
        content = file.read(_MOST_BYTES + 1)
    if len(content) > _MOST_BYTES or b"\0" in content:
        raise _refused(path, "that is too large, or contains a zero byte")
    return content.decode(errors="surrogateescape")


def _refused(path: str, why: str) -> CommandExecutionError:
    name = visible(path[path.rfind(f"/{GIT}/") + 1 :])
    return CommandExecutionError(
        f"git would continue from {name}, and {why}; end it with --abort (`git rebase --abort`), "
        f"or check that file and continue yourself"
    )


def _not_a_name(path: str, why: str) -> CommandExecutionError:
    name = visible(path[path.rfind(f"/{GIT}/") + 1 :])
    return CommandExecutionError(
        f"git would continue from {name}, and {why}; check that file, and end this bisection "
        f"yourself"
    )
