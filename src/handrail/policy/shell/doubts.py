"""What keeps a string from being plain, as far as its characters tell.

This goes before the parser, which takes seconds to find its way in some kinds of nonsense. What is
left has few operators and nothing nested, and is read in no time.
"""

import re

from handrail.core.visible import visible

MAX_BYTES = 8_192
MAX_STEPS = 16
_MOST_MARKS = 128

# What means nothing to bash: escaped characters, strings without expansions, comments.
_INERT = re.compile(
    r"""
      \\.
    | '[^']*'
    | "(?: [^"\\$`] | \\. | \$(?=["\\ |)./,:;]) )*"
    | (?: (?<=[\s;|&]) | \A ) \#[^\n]*
    """,
    re.VERBOSE | re.DOTALL,
)
_MARKS = re.compile(r"[^A-Za-z0-9_./:=,@%+\s-]")
# fmt: off
RESERVED = frozenset([
    "if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac", "in",
    "function", "select", "time", "coproc", "{", "}", "!", "[[", "]]",
])
# fmt: on
_RESERVED_FIRST = re.compile(
    rf"(?:\A|[\n;|&])[ \t]*({'|'.join(map(re.escape, sorted(RESERVED)))})(?=[\s;|&]|\Z)"
)
_EXPANSION = r"\$\(\(|\$\(|\$\[|\$[A-Za-z0-9_{@*\#?$!-]|`"
_IN_STRING = re.compile(_EXPANSION)
_NEVER_PLAIN = re.compile(rf"""{_EXPANSION}|\$|[<>]\(|<<<|<<|<|\(\)|[()'"]""")

BROKEN = "it cannot be read as bash"
REDIRECTS = "it redirects other than to /dev/null or 2>&1"
_OUTPUT = "it puts the output of a command into another"
_VARIABLE = "it uses a variable"
_WHY_NOT = {
    "$((": "it calculates",
    "$[": "it calculates",
    "$(": _OUTPUT,
    "`": _OUTPUT,
    "$": "it has a $ outside single quotes",
    "<(": "it takes a command for a file",
    ">(": "it takes a command for a file",
    "<<<": "it has a here-string",
    "<<": "it has a here-document",
    "<": REDIRECTS,
    "()": "it defines a function",
    "(": "it has a subshell, or an unquoted (",
    ")": "it has an unquoted )",
}


class Doubt(Exception):
    """Something that this package does not take for plain; `lower` makes a `NotPlain` of it."""

    def __init__(self, reason: str):
        super().__init__(reason)
        self.reason = reason


def check_text(text: str) -> None:
    if len(text) > MAX_BYTES:
        raise Doubt(f"it is longer than {MAX_BYTES:,} bytes")
    if visible(text, keep="\t\n") != text:
        raise Doubt("it has control or invisible characters")
    if len(text.encode()) > MAX_BYTES:
        raise Doubt(f"it is longer than {MAX_BYTES:,} bytes")
    live = _INERT.sub("", text)
    if found := _NEVER_PLAIN.search(live):
        raise Doubt(_reason(found[0], live[found.end() :]))
    if found := _RESERVED_FIRST.search(live):
        raise Doubt(f"it has {found[1]}, a word of the shell itself")
    if len(_MARKS.findall(live)) > _MOST_MARKS:
        raise Doubt(f"it has more than {_MOST_MARKS} operators and other marks")


def _reason(mark: str, behind: str) -> str:
    if mark == '"' and (inside := _IN_STRING.search(behind)):
        mark = inside[0]
    if mark in ("'", '"'):
        return BROKEN
    return _WHY_NOT.get(mark, _VARIABLE)
