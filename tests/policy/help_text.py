"""What a program's own help says of its options: their names, and whether they take a value."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

from handrail.executors.command import SEARCH_PATH

NONE, OPTIONAL, VALUE = "none", "optional", "value"

# ripgrep comes with Handrail's own packages.
_FOLDERS = ":".join([*SEARCH_PATH, str(Path(sys.executable).parent)])
_OPTION = re.compile(
    r"(?P<name>--?[A-Za-z0-9.][\w-]*)(?P<takes>\[[^\]]*\](?:\.\.\.)?|=\S+|<[^>]*>\S*)?(?P<rest>.*)"
)
# The value of a short flag may stand beside it: `-e PATTERN, --regexp=PATTERN`.
_BESIDE = re.compile(
    r" (?:<[^>]+>|\[?\([^)]+\)\S*|[A-Z]+|[a-z]+\|[a-z]+|script(?:-file)?|#)(?=,|\s|$)"
)
_NEXT = re.compile(r"(?:, *| {1,2}(?=--))")
# `find` and `jq` say what follows in words of their own.
_IN_FIND = re.compile(
    r"(?<![\w-])(-{1,2}[a-zA-Z][\w-]*)( (?:(?!EXPR)[A-Z]+\b|\[[-/a-zA-Z]+\]|debugopts)\S*)?"
)
# Where a range or a number is meant, and no option.
_NO_OPTION = {("cut", "-M"), ("find", "-N")}
_DEEPEST_INDENT = 10


def help_of(command: str) -> str | None:
    """What `--help` prints, or `-h` for a part of git; None where the program is not installed."""
    name, *sub = command.split()
    program = shutil.which(name, path=_FOLDERS)
    if program is None:
        return None
    ended = subprocess.run(
        [program, *sub, "-h" if sub else "--help"],
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
        env={"LC_ALL": "C"},
    )
    return ended.stdout or ended.stderr


def version_of(command: str) -> str:
    """The first number that the program tells of itself."""
    name = command.split()[0]
    program = shutil.which(name, path=_FOLDERS) or name
    ended = subprocess.run(
        [program, "--version"], capture_output=True, text=True, timeout=20, check=False
    )
    match = re.search(r"\d+(?:\.\d+)+", ended.stdout)
    return match[0] if match else ""


def options_in(command: str, text: str) -> dict[str, set[str]]:
    """Every option that the help lists, and what it says of its value; often several things."""
    found: dict[str, set[str]] = {}
    if command == "find":
        for name, value in _IN_FIND.findall(text.partition("Valid arguments")[0]):
            found.setdefault(name, set()).add(VALUE if value else NONE)
    for line in text.splitlines() if command != "find" else ():
        rest = line.lstrip()
        if rest == line or len(line) - len(rest) > _DEEPEST_INDENT:
            continue
        while match := _OPTION.match(rest):
            takes, rest = match["takes"], match["rest"]
            kind = NONE if takes is None else OPTIONAL if takes[0] == "[" else VALUE
            if beside := _BESIDE.match(rest):
                kind, rest = VALUE, rest[beside.end() :]
            found.setdefault(match["name"], set()).add(kind)
            if not (between := _NEXT.match(rest)):
                break
            rest = rest[between.end() :]
    return {name: kinds for name, kinds in found.items() if (command, name) not in _NO_OPTION}
