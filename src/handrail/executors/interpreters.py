"""Who runs a script, and with which further files, as the first line of it says."""

import os.path
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

_LOOKING_UP = ("/usr/bin/env", "/bin/env")
_SPLITTING = re.compile(r"(?:-S|--split-string(?:=|\s))\s*(?P<rest>.*)", re.DOTALL)
# Nothing in it is a flag, an assignment, a quote or anything else that is read before it is run.
_PLAIN = re.compile(r"[A-Za-z0-9_./+][A-Za-z0-9_./+@,:%-]*")
# There is no room for the name of a file in them: what they take is the script itself.
_FLAG = re.compile(r"-(?:[A-Za-z]|[eux]{2,3}|nf)|--[a-z][a-z-]*")
# They run the script that they are handed, and look for no other file that says what to do.
_KNOWN = re.compile(
    r"(?:ba|da|z|k|mk|fi)?sh|(?:python|pypy|perl|ruby|php|lua|tclsh)[0-9.]*|node|nodejs"
    r"|[gmn]?awk|g?sed|Rscript"
)
_QUOTES = "'\""


class Interpreter(NamedTuple):
    """A program, by its path, or by a name that `is_looked_up`."""

    name: str
    is_looked_up: bool = False

    @property
    def is_known(self) -> bool:
        """Whether it is one that runs the script it is handed, and nothing else."""
        return _KNOWN.fullmatch(os.path.basename(self.name)) is not None


class FirstLine(NamedTuple):
    """What a first line says: `words` are those that may name files beside the interpreter.

    It `is_clear` where it is beyond doubt that none of them says what else is run.
    """

    interpreter: Interpreter | None
    words: tuple[str, ...] = ()
    is_clear: bool = False


def first_line(line: str) -> FirstLine:
    """What stands behind the `#!`. Linux takes all behind the first blank for one word.

    Other systems take it for several, and so does `env -S`.
    """
    path, _, rest = line.strip(" \t").replace("\t", " ").partition(" ")
    rest = rest.strip()
    is_readable = line.replace("\t", "").isprintable()
    if not path or not is_readable:
        return FirstLine(None, tuple(_files_in(line.replace("\0", " ").split())))
    if path not in _LOOKING_UP or not rest:
        words = dict.fromkeys(filter(None, [rest, *rest.split()]))
        is_clear = not rest or _FLAG.fullmatch(rest) is not None
        return FirstLine(Interpreter(path), tuple(_files_in([*words])), is_clear)
    split = _SPLITTING.match(rest)
    words = split["rest"].split() if split else rest.split()
    if not words or not _PLAIN.fullmatch(words[0]):
        return FirstLine(None, tuple(_files_in(words)))
    is_one = split is not None or words == [rest]
    is_clear = is_one and all(map(_FLAG.fullmatch, words[1:]))
    further = words[1:] if is_one else [rest, *words[1:]]
    return FirstLine(Interpreter(words[0], is_looked_up=True), tuple(_files_in(further)), is_clear)


def _files_in(words: Sequence[str]) -> Iterator[str]:
    """What may name a file: a word, what stands behind its `=`, or behind the letter of a flag."""
    for word in words:
        bare = word.strip(_QUOTES)
        behind = bare.partition("=")[2].strip(_QUOTES)
        attached = "" if bare.startswith("--") or _FLAG.fullmatch(bare) else bare[2:]
        own, attached = ("", attached) if bare.startswith("-") else (bare, "")
        yield from filter(None, (own, behind, attached))
