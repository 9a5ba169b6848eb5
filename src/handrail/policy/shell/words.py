"""Words as bash reads them: quotes and backslashes taken away, and nothing left to expand."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from handrail.core.visible import visible
from handrail.policy.shell.doubts import Doubt
from handrail.policy.shell.script import Word

# Inside double quotes a backslash stands for itself unless one of these follows.
_ESCAPABLE = re.compile(r"\\([$`\"\\])")
# A dollar sign that begins no expansion, as at the end of a regular expression.
_DOUBLE = re.compile(r'"(?:[^"\\$`]|\\[^\n]|\$(?=["\\ |)./,:;]))*"')
_SINGLE = re.compile(r"'[^']*'")

# Letters and signs beyond ASCII mean nothing to bash.
_BEYOND = r"\x80-\U0010ffff"
# A tilde behind a letter names no home folder: HEAD~1.
_BARE = re.compile(
    rf"(?:[A-Za-z0-9_./:=,@%+^*?\[\]{_BEYOND}-]|\\[ !-/:-@\[-`{{-~]|(?<=[A-Za-z0-9~^@])~)*",
    re.ASCII,
)
# Bare words that mean themselves. In find's {} and git's @{u} bash finds nothing to expand.
_AS_IT_STANDS = re.compile(
    rf"[A-Za-z0-9_./:=,@%+^{_BEYOND}-]+|!|\{{\}}"
    r"|[A-Za-z0-9_./-]*@\{[A-Za-z0-9_-]+\}[A-Za-z0-9_./~^:@-]*"
)
_ESCAPED = re.compile(r"\\(.)")
_PATTERN = re.compile(r"[*?]|\[.*\]")
_SPECIAL_IN_PATTERNS = re.compile(r"[*?\[\]\\]")

_WHY_NOT = {
    "~": "it names a home folder with ~, which only a shell expands to a path",
    "{": "it has braces that bash may expand (write the words out, or quote them)",
    "}": "it has braces that bash may expand (write the words out, or quote them)",
    "!": "it has an unquoted !",
    "#": "it has an unquoted # inside a word",
    "\\": "it has a backslash before a letter, a digit, a tab or the end of a line",
}


class Part(NamedTuple):
    """A piece of a word: bare as it was written, or what its quotes hold."""

    text: str
    is_quoted: bool


def single_quoted(raw: str) -> Part:
    if not _SINGLE.fullmatch(raw):
        raise Doubt("its quotes cannot be read")
    return Part(raw[1:-1], is_quoted=True)


def double_quoted(raw: str) -> Part:
    if not _DOUBLE.fullmatch(raw):
        raise Doubt(
            "it has a $, a backquote or a broken line in double quotes (use single quotes"
            " if it is meant as it stands)"
        )
    return Part(_ESCAPABLE.sub(r"\1", raw[1:-1]), is_quoted=True)


def read_word(parts: Sequence[Part]) -> Word:
    """The word that these parts make when nothing stands between them."""
    if len(parts) == 1 and (parts[0].is_quoted or _AS_IT_STANDS.fullmatch(parts[0].text)):
        return Word(parts[0].text)
    for part in parts:
        if not part.is_quoted:
            _check_bare(part.text)
    text = "".join(
        part.text if part.is_quoted else _ESCAPED.sub(r"\1", part.text) for part in parts
    )
    return Word(text, _is_pattern(text, parts))


def _check_bare(raw: str) -> None:
    match = _BARE.match(raw)
    end = match.end() if match else 0
    if end == len(raw):
        return
    bad = raw[end]
    raise Doubt(_WHY_NOT.get(bad, f"it has an unquoted {visible(bad)}"))


def _is_pattern(text: str, parts: Sequence[Part]) -> bool:
    """Whether bash would look for files of this name.

    In a word that begins with a dash it would too, for files of such a name. Whoever types
    `--include=*.py` means the words as they stand, so here they are no pattern.
    """
    unquoted = "".join("" if part.is_quoted else _ESCAPED.sub("", part.text) for part in parts)
    if text.startswith("-") or not _PATTERN.search(unquoted):
        return False
    quoted = "".join(
        part.text if part.is_quoted else "".join(_ESCAPED.findall(part.text)) for part in parts
    )
    # The text alone could not say which characters are meant as they stand.
    if _SPECIAL_IN_PATTERNS.search(quoted) or (quoted and _has_brackets(unquoted)):
        raise Doubt("it has a pattern of which a part is quoted")
    return True


def _has_brackets(unquoted: str) -> bool:
    return "[" in unquoted or "]" in unquoted
