"""Which words of a line are git's: behind those of the programs that only start it.

These are told apart by what each of their flags takes, and never by what a word looks like: an
assignment can end in `/git`. Where a word is none that is known here, nobody can tell.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from handrail.core.stage import Stage
from handrail.executors.processes.programs import SEARCH_PATH

GIT = "git"
_PROGRAMS = frozenset(f"{folder}/{GIT}" for folder in SEARCH_PATH)
# Programs that hand on words of their own making.
_FEEDERS = frozenset({"find", "xargs"})


class _Carrier(NamedTuple):
    """A program that runs another one behind its `operands`.

    Of its flags, `alone` fits those without a value, `glued` those with one in the same word, and
    `valued` those whose value is the next word.
    """

    alone: re.Pattern[str]
    glued: re.Pattern[str]
    valued: frozenset[str] = frozenset()
    operands: int = 0


_NONE = re.compile(r"(?!)")
_CARRIERS = {
    # Without assignments: a variable can have git run any program.
    "env": _Carrier(re.compile(r"-[0v]+|--null|--debug"), _NONE),
    "nice": _Carrier(
        re.compile(r"-[0-9]+"),
        re.compile(r"(?:-n|--adjustment=)[+-]?[0-9]+"),
        frozenset({"-n", "--adjustment"}),
    ),
    "timeout": _Carrier(
        re.compile(r"-[fpv]+|--foreground|--preserve-status|--verbose"),
        re.compile(r"(?:-[ks]|--(?:kill-after|signal)=).+"),
        frozenset({"-k", "-s", "--kill-after", "--signal"}),
        operands=1,
    ),
}


def runs_git(stage: Stage) -> bool:
    """Whether the system's own git is run, be it by another program."""
    return stage.argv[0] in _PROGRAMS or GIT in stage.programs


def may_see_its_own(stage: Stage) -> bool:
    """Whether git is run and nothing else that could make use of what only git may see."""
    known = {GIT, *_CARRIERS, *_FEEDERS}
    return stage.argv[0] in _PROGRAMS or (
        GIT in stage.programs and known.issuperset(stage.programs)
    )


def may_change_its_own(stage: Stage) -> bool:
    """Whether it is run only with words that we have seen; others could name a file of its own.

    What shows settings changes none, and gets to see them without the passwords in them.
    """
    words = words_of_git(stage)
    return may_see_its_own(stage) and words is not None and action_in(words) != "config"


def words_of_git(stage: Stage) -> tuple[str, ...] | None:
    """All that git is told; None where nobody can tell."""
    own = stage.programs[:1]
    # A person may have allowed a folder with an `env` of its own.
    first = own[0] if own and "/" not in own[0] else stage.argv[0]
    return _behind_git((first, *stage.argv[1:]))


def action_of(stage: Stage) -> str:
    """What git is to do; nothing where nobody can tell."""
    words = words_of_git(stage)
    return "" if words is None else action_in(words)


def action_in(words: Sequence[str]) -> str:
    """None of the flags that are let stand in front of it has a value."""
    return next((word for word in words if not word.startswith("-")), "")


def _behind_git(argv: Sequence[str]) -> tuple[str, ...] | None:
    rest = tuple(argv)
    while rest:
        name = _name(rest[0])
        if name == GIT:
            return rest[1:]
        if (carrier := _CARRIERS.get(name)) is None:
            return None
        rest = _run_by(carrier, rest[1:])
    return None


def _name(program: str) -> str:
    """What a program of the system is called; one of the workspace is no such program."""
    folder, _, name = program.rpartition("/")
    return name if not folder or folder in SEARCH_PATH else ""


def _run_by(carrier: _Carrier, words: Sequence[str]) -> tuple[str, ...]:
    """The command that it runs; nothing where nobody can tell which that is."""
    at = 0
    while at < len(words) and words[at].startswith("-"):
        word = words[at]
        at += 1
        if word == "--":
            break
        if word in carrier.valued:
            at += 1
        elif not (carrier.alone.fullmatch(word) or carrier.glued.fullmatch(word)):
            return ()
    return tuple(words[at + carrier.operands :])
