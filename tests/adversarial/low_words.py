"""Readers of the command table with random words: flags of their own help, and nasty ones."""

import random
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from handrail import judge
from handrail.core.risk import RiskLevel
from handrail.core.verdict import Ruling
from handrail.policy.rulebook.rules import default_rules

Case = list[str]

_FLAG = re.compile(r"(?<![\w-])--?[A-Za-z][\w-]*")
_SECONDS = 10
_VALUES = (
    *("f.txt", "out", "./s.sh", "1", "a", "HEAD", "HEAD:f.txt", "list", "{}", ";", "+", "never"),
    *("refs/heads/x", "A=./s.sh", "core.pager", "http://x.example"),
)
# Scripts that write or run, in the languages of sed, awk, jq and find.
_SCRIPTS = (
    *("1w out", "s/a/b/w out", "1e ./s.sh", "{w out", "$!N;w out", "b;w out", "a\\\nw out"),
    *("i\\\nx\nw out", "#n\nw out", "b a\nw out", "s\na\nb\nw out", "r f\nw o", "s/a/b/e"),
    *('BEGIN{system("./s.sh")}', '{print > "out"}', '{print | "./s.sh"}', '@load "x"'),
    *('BEGIN{"./s.sh"|getline}', 'import "x" as x; .', 'include\n"x";.', "$ENV", "@sh", "input"),
    *("-exec", "-execdir", "-delete", "-fprint", "-fls", "-ok"),
)
_AWAY = ("../outside/secret", "sub/../../outside/secret", "../outside", "{}/outside/secret")
_AWAY_HIDDEN = ("HEAD:../outside/secret", "@../outside/secret", "a=../outside/secret")
_WORDS = (*_VALUES, *_SCRIPTS, *_AWAY, *_AWAY_HIDDEN, "--", "-", "--out", ".", "sub")
_OPERANDS = ("f.txt", "b.txt", ".", "sub", "out", "big.txt", "HEAD", "main", "--", "-", "list")


def low_commands(seed: int, count: int, place: str) -> list[Case]:
    """So many commands that pass unasked in a workspace, as they would really run."""
    chance = random.Random(seed)
    known = [*_readers()]
    found: list[Case] = []
    while len(found) < count:
        name = chance.choice(known)
        words = [word.format(Path(place).parent) if word == _AWAY[-1] else word
                 for word in _words(flags_of(name), chance)]  # fmt: skip
        argv = [*name, *words]
        verdict = judge("execute_command", {"command": argv[0], "args": argv[1:]}, workspace=place)
        if verdict.ruling is Ruling.ALLOW:
            found += [[*planned] for planned in verdict.plan.argv]
    return found


def _readers() -> Iterator[tuple[str, ...]]:
    """Every LOW row whose program is here, with its subcommand."""
    for rule in default_rules().commands:
        if rule.risk is RiskLevel.LOW:
            for name in sorted(rule.names):
                words = tuple(name.split())
                if _path_of(words[0]) is not None:
                    yield words


def _path_of(name: str) -> str | None:
    beside_python = shutil.which(name, path=str(Path(sys.executable).parent))
    return shutil.which(name) or beside_python


@cache
def flags_of(name: tuple[str, ...]) -> tuple[str, ...]:
    """The flags that a program names in its own help."""
    path = _path_of(name[0])
    assert path is not None
    asking = [path, *name[1:2], "-h"] if name[0] == "git" else [path, "--help"]
    try:
        told = subprocess.run(
            asking,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=_SECONDS,
            check=False,
        ).stdout
    except subprocess.TimeoutExpired:
        return ()
    return tuple(sorted({*_FLAG.findall(told.decode(errors="replace"))}))


def _words(flags: tuple[str, ...], chance: random.Random) -> Case:
    words = [word for _ in range(chance.randrange(4)) for word in _flag(flags, chance)]
    for _ in range(chance.randrange(4)):
        pool = _OPERANDS if chance.random() < 0.7 else _WORDS
        words.insert(chance.randint(0, len(words)), chance.choice(pool))
    return words


def _flag(flags: tuple[str, ...], chance: random.Random) -> Case:
    """One flag in some spelling: whole, cut short, with a value, or among others."""
    if not flags:
        return []
    flag, value = chance.choice(flags), chance.choice(_WORDS)
    letters = [one[1] for one in flags if len(one) == 2]
    cut = flag[: chance.randint(3, max(3, len(flag)))] if flag.startswith("--") else flag
    cluster = "-" + "".join(chance.choices(letters, k=chance.randint(1, 3))) if letters else flag
    spellings = [[flag], [flag, value], [f"{flag}={value}"], [cut], [f"{cut}={value}"]]
    spellings += [[f"{flag}{value}"], [cluster], [f"{cluster}{value}"]]
    return chance.choice(spellings)
