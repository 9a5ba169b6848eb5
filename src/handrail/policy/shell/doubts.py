"""What keeps a string from being plain, as far as its characters tell.

This goes before the parser, which takes seconds to find its way in some kinds of nonsense. What is
left has few operators and nothing nested, and is read in no time.
"""

import re

from handrail.core.visible import is_misleading, visible

# Of a line, and of one together with the here-documents below it.
MAX_BYTES = 8_192
MAX_BYTES_WITH_TEXTS = 100_000
MAX_STEPS = 16
_MOST_MARKS = 128

# What means nothing to bash: escaped characters, strings without expansions, comments.
INERT = re.compile(
    r"""
      \\.
    | '[^']*'
    | "(?: [^"\\$`] | \\. | \$(?=["\\ |)./,:;]) )*"
    | (?: (?<=[\s;|&]) | \A ) \#[^\n]*
    """,
    re.VERBOSE | re.DOTALL,
)
_MARKS = re.compile(r"[^A-Za-z0-9_./:=,@%+\s\x80-\U0010ffff-]")
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
REDIRECTS = "it redirects output to a file"
OTHER_STREAM = "it redirects output other than with 2>&1 and >&2"
_OUTPUT = "it uses the output of a command as arguments"
_VARIABLE = "it uses a variable"
_WHY_NOT = {
    "$((": "it uses shell arithmetic",
    "$[": "it uses shell arithmetic",
    "$(": _OUTPUT,
    "`": _OUTPUT,
    "$": "it has a $ outside single quotes",
    "<(": "it uses process substitution",
    ">(": "it uses process substitution",
    "<<<": "it has a here-string",
    "<<": "it has a here-document in an unusual form (write it as: program <<'EOF')",
    "<": "it reads input from a file",
    "()": "it defines a function",
    "(": "it has a subshell, or an unquoted (",
    ")": "it has an unquoted )",
}


class Doubt(Exception):
    """Something that this package does not take for plain; `lower` makes a `NotPlain` of it."""

    def __init__(self, reason: str):
        super().__init__(reason)
        self.reason = reason


def check_characters(text: str) -> None:
    """What goes for the whole string, also for the texts in it that are no bash."""
    if len(text) > MAX_BYTES_WITH_TEXTS:
        raise _too_long(MAX_BYTES_WITH_TEXTS)
    if is_misleading(text, keep="\t\n"):
        raise Doubt("it has control or invisible characters")
    if len(text.encode()) > MAX_BYTES_WITH_TEXTS:
        raise _too_long(MAX_BYTES_WITH_TEXTS)


def check_line(text: str) -> None:
    """What goes for the bash in it, without the text of its here-documents."""
    if len(text) > MAX_BYTES or len(text.encode()) > MAX_BYTES:
        raise _too_long(MAX_BYTES)
    live = INERT.sub("", text)
    if visible(live, keep="\t\n") != live:
        raise Doubt("it has unusual spaces or private characters outside quotes")
    if found := _NEVER_PLAIN.search(live):
        raise Doubt(_reason(found[0], live[found.end() :]))
    if found := _RESERVED_FIRST.search(live):
        raise Doubt(f"it uses the shell keyword {found[1]}")
    if len(_MARKS.findall(live)) > _MOST_MARKS:
        raise Doubt(f"it has more than {_MOST_MARKS} operators and other marks")


def _too_long(most: int) -> Doubt:
    return Doubt(f"it is longer than {most:,} bytes")


def _reason(mark: str, behind: str) -> str:
    if mark == '"' and (inside := _IN_STRING.search(behind)):
        mark = inside[0]
    if mark in ("'", '"'):
        return BROKEN
    return _WHY_NOT.get(mark, _VARIABLE)
