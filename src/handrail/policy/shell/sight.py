"""The commands that can be seen in a line of bash that is not plain.

A detector and no boundary: it lets a refusal come early and clear. Words that a shell would expand
are taken as they stand, and the text of a here-document is no command.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from handrail.core.visible import visible

MAX_CHARS = 65_536
_MOST_NESTED = 8
SHELLS = frozenset(["sh", "bash", "dash", "zsh", "ksh"])
# fmt: off
# They stand in front of a command.
_LEADING = frozenset([
    "if", "then", "else", "elif", "while", "until", "do", "!", "{", "}", "command", "builtin",
    "exec", "coproc",
])
# fmt: on
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=.*", re.DOTALL)
_HERE_DOCUMENT = re.compile(r"<<-?[ \t]*['\"\\]?(\w+)['\"]?")
_TOKEN = re.compile(
    r"""
      \\\n
    | \\ (?P<escaped> . )
    | \$? ' (?P<single> [^']* ) '?
    | \$? " (?P<double> (?: [^"\\] | \\. )* ) "?
    | (?P<end> [\n;|&()`] | \$\( )
    | (?P<comment> (?<![^\s;|&]) \# [^\n]* )
    | <<-? [ \t]* ['"\\]? (?P<text> \w+ ) ['"]?
    | (?P<redirect> \d?[<>]+ &? [ \t]* )
    | (?P<blank> [ \t]+ )
    | (?P<bare> [^\s\\'"`$()<>|&;]+ | . )
    """,
    re.VERBOSE | re.DOTALL,
)
_SUBSTITUTED = re.compile(r"\$\(|`")
_STRINGS = re.compile(r"""\\.|'[^']*'|"(?:[^"\\]|\\.)*"|(?:(?<=[\s;|&])|\A)\#[^\n]*""", re.DOTALL)
_NAME = r"""[^\s;|&(){}<>'"$`\\]{1,100}"""
_FORK_BOMB = re.compile(
    rf"(?:function\s+(?P<f>{_NAME})|(?P<g>{_NAME})\s*\(\s*\))[\s()]*[{{(]"
    rf"[^}}]{{0,200}}?(?<![\w.-])(?:(?P=f)|(?P=g))\s*(?:\|(?!\|)|(?<!>)&(?!&))"
)

Command = tuple[str, ...]


@lru_cache(maxsize=1)  # A line is judged and planned in a row.
def look_through(text: str) -> tuple[Command, ...]:
    """Every simple command, with its words and the files that it is redirected to or from."""
    return tuple(dict.fromkeys(_commands(text[:MAX_CHARS], 0)))


def find_fork_bomb(text: str) -> str | None:
    """The name of a function that starts itself beside itself. The box limits processes anyway."""
    found = _FORK_BOMB.search(_STRINGS.sub(" ", _without_texts(text)))
    return None if found is None else visible(found["f"] or found["g"])


def _without_texts(text: str) -> str:
    """The text without its here-documents."""
    kept: list[str] = []
    ends: list[str] = []
    for line in text[:MAX_CHARS].split("\n"):
        if not ends:
            kept.append(_HERE_DOCUMENT.sub(" ", line))
            ends = _HERE_DOCUMENT.findall(line)
        elif line.strip() == ends[0]:
            ends.pop(0)
    return "\n".join(kept)


def _commands(text: str, depth: int) -> Iterator[Command]:
    if depth > _MOST_NESTED:
        return
    words, targets, ends = list[str](), list[str](), list[str]()
    into, word, at = words, None, 0
    while token := _TOKEN.match(text, at):
        at, kind = token.end(), token.lastgroup
        if kind in ("escaped", "single", "double", "bare"):
            word = (word or "") + token[kind]
            yield from _substituted(token["double"] or "", depth)
            continue
        if word is not None and kind is not None:
            into.append(word)
            into, word = words, None
        if kind == "redirect":
            into = targets
        elif kind == "text":
            ends.append(token["text"])
        elif kind == "end":
            yield from _told(words, targets, depth)
            words, targets = [], []
            into = words
            if token[0] == "\n":
                at, ends = _behind(text, at, ends), []
    yield from _told([*words, *filter(None, [word])], targets, depth)


def _behind(text: str, at: int, ends: Sequence[str]) -> int:
    """Where the here-documents end that begin here."""
    for end in ends:
        found = re.compile(rf"^[ \t]*{end}[ \t]*$", re.MULTILINE).search(text, at)
        at = len(text) if found is None else found.end()
    return at


def _substituted(quoted: str, depth: int) -> Iterator[Command]:
    _, *inner = _SUBSTITUTED.split(quoted, 1)
    for part in inner:
        yield from _commands(part, depth + 1)


def _told(words: Sequence[str], targets: Sequence[str], depth: int) -> Iterator[Command]:
    """A command without what stands in front of it, and the commands in a script among its words.

    The other commands that it starts, as `env` does, are known by the command table.
    """
    at = 0
    while at < len(words) and (words[at] in _LEADING or _ASSIGNMENT.fullmatch(words[at])):
        at += 1
    if words[at : at + 1] == ["function"]:
        at += 3
    command = tuple(words[at:])
    if not command or not command[0]:
        return
    yield (*command, *targets)
    name, args = command[0].rpartition("/")[2], command[1:]
    if name == "eval":
        yield from _commands(" ".join(args), depth + 1)
    for before, script in zip(command, args, strict=False):
        is_flag = before.startswith("-") and not before.startswith("--") and before.endswith("c")
        if is_flag and any(word.rpartition("/")[2] in SHELLS for word in command):
            yield from _commands(script, depth + 1)
