"""Is this string plain, and what does it come to?

Two readers have to agree. Tree-sitter says where tokens begin and end and what they are; then each
token is held against what bash itself would do with just these characters, and whatever stands
between two tokens has to be blank. What either of them does not know is not plain: a string is
taken for plain only by proof, never because nothing bad was found in it.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from tree_sitter import Node

from handrail.policy.shell.doubts import (
    BROKEN,
    MAX_STEPS,
    OTHER_STREAM,
    REDIRECTS,
    RESERVED,
    Doubt,
    check_characters,
    check_line,
)
from handrail.policy.shell.grammar import parse
from handrail.policy.shell.script import Join, NotPlain, Script, Step, Stream, Word
from handrail.policy.shell.texts import take_out_texts
from handrail.policy.shell.words import Part, double_quoted, read_word, single_quoted

_BLANKS = re.compile(rb"(?:[ \t\n](?:\\\n)*)*")
_NAME = re.compile(r"[A-Za-z0-9_./+-]+")
_JOINS = {"|": Join.PIPE, "|&": Join.PIPE, "&&": Join.AND, "||": Join.OR, ";": Join.THEN}
# fmt: off
_INNER = frozenset([
    "program", "list", "pipeline", "command", "command_name", "concatenation",
    "redirected_statement", "file_redirect",
])
# fmt: on
_LINE_ENDS = (b"", b"\n")
# Operators before which and behind which a blank may stand.
_TO_A_FILE = (">", "1>", "2>", "&>", ">>", "1>>", "2>>", "&>>")

_STATE = "it changes the state of the shell"
_WHY_NOT = {
    "variable_assignment": "it sets a variable",
    "variable_assignments": "it sets a variable",
    "brace_expression": "it has braces that bash expands (write the words out)",
    "test_command": "it has a test in brackets",
    "declaration_command": _STATE,
    "unset_command": _STATE,
    "&": "it runs a command in the background",
    ">|": REDIRECTS,
    ">&-": OTHER_STREAM,
}


def lower(text: str) -> Script | NotPlain:
    """The argv lists that bash would run for this string, or why that cannot be proven."""
    try:
        check_characters(text)
        taken = take_out_texts(text)
        check_line(taken.bash)
        if not taken.is_whole:
            raise Doubt("its here-documents cannot be told from the rest")
        return _Reading(taken.line.encode(), taken.texts).script()
    except Doubt as doubt:
        return NotPlain(doubt.reason)


def is_blank(between: bytes) -> bool:
    """Whether nothing but blanks stands between two tokens.

    A line that goes on behind a backslash is blank too, but only where a blank goes before it: bash
    drops the backslash and the end of the line, and `-ex` and `ec` around them are one word.
    """
    return _BLANKS.fullmatch(between) is not None


def _tokens(root: Node) -> Iterator[tuple[str, int, int]]:
    """The leaves in their order, a string with all that is in it as one."""
    todo = [root]
    while todo:
        node = todo.pop()
        kind = node.type
        if kind in _INNER:
            todo.extend(reversed(node.children))
        else:
            if kind == "string":
                _check_string(node)
            yield kind, node.start_byte, node.end_byte


def _check_string(node: Node) -> None:
    for child in node.children:
        if child.type not in ('"', "string_content", "$"):
            raise Doubt(_WHY_NOT.get(child.type, BROKEN))


class _Reading:
    """One string on its way to a script, token by token."""

    def __init__(self, source: bytes, texts: Mapping[str, str]):
        self._source = source
        self._texts = texts
        self._end = 0
        self._steps: list[Step] = []
        self._join = Join.FIRST
        self._is_awaited = False
        self._words: list[Word] = []
        self._stdout, self._stderr = Stream.OUT, Stream.ERR
        self._stdin: str | None = None
        self._parts: list[Part] = []
        self._redirection = ""

    def script(self) -> Script:
        root = parse(self._source)
        if root.has_error:
            raise Doubt(BROKEN)
        for kind, start, end in _tokens(root):
            self._pass_blanks(start)
            self._end = end
            self._take(kind, self._source[start:end].decode())
        self._pass_blanks(len(self._source))
        self._finish()
        return Script(tuple(self._steps))

    def _pass_blanks(self, start: int) -> None:
        between = self._source[self._end : start]
        if not between:
            return
        if between != b" " and not is_blank(between):
            raise Doubt("a line is broken inside a word")
        if self._redirection and not self._parts and self._redirection not in _TO_A_FILE:
            raise _redirecting(self._redirection)
        self._end_word()
        if b"\n" in between and b"\n" in between.replace(b"\\\n", b""):
            self._end_line()

    def _take(self, kind: str, text: str) -> None:
        match kind:
            case "word" | "number":
                self._take_bare(text)
            case "string":
                self._parts.append(double_quoted(text))
            case "raw_string":
                self._parts.append(single_quoted(text))
            case "|" | "|&" | "&&" | "||" | ";":
                self._take_operator(kind)
            case "file_descriptor" | ">" | ">>" | ">&" | "&>" | "&>>" | "<":
                self._take_redirection(text)
            case "comment":
                self._pass_comment(text)
            case _:
                raise Doubt(
                    _WHY_NOT.get(kind, f"it has syntax that is not known to be plain: {kind}")
                )

    def _take_bare(self, text: str) -> None:
        if self._parts and not self._parts[-1].is_quoted:
            text = self._parts.pop().text + text
        self._parts.append(Part(text, is_quoted=False))

    def _take_redirection(self, text: str) -> None:
        # Right behind a word it could be something else: a2>x, {a}>x, 2>x>y.
        if self._parts or not self._words:
            raise _redirecting(text)
        self._redirection += text

    def _take_operator(self, operator: str) -> None:
        self._end_word()
        if not self._words:
            raise Doubt(BROKEN)
        if operator == "|&":
            # Bash does this last, after all redirections of the command.
            self._stderr = self._stdout
        self._end_step()
        self._join = _JOINS[operator]
        self._is_awaited = self._join is not Join.THEN

    def _pass_comment(self, text: str) -> None:
        if self._parts or "\n" in text or self._source[self._end : self._end + 1] not in _LINE_ENDS:
            raise Doubt("it has a comment that cannot be told from the rest")

    def _end_word(self) -> None:
        if not self._parts:
            return
        parts, self._parts = self._parts, []
        if self._redirection:
            self._redirect(parts)
            return
        word = read_word(parts)
        if not self._words:
            _check_name(word)
        self._words.append(word)

    def _redirect(self, parts: Sequence[Part]) -> None:
        if len(parts) > 1 or parts[0].is_quoted:
            raise _redirecting(self._redirection)
        match self._redirection, parts[0].text:
            case ((">" | "1>" | ">>" | "1>>"), "/dev/null"):
                self._stdout = Stream.NULL
            case (("2>" | "2>>"), "/dev/null"):
                self._stderr = Stream.NULL
            case (("&>" | "&>>"), "/dev/null"):
                self._stdout = self._stderr = Stream.NULL
            case "2>&", "1":
                self._stderr = self._stdout
            case ((">&" | "1>&"), "2"):
                self._stdout = self._stderr
            case "<", name if name in self._texts:
                self._read_from(self._texts[name])
            case _:
                raise _redirecting(self._redirection)
        self._redirection = ""

    def _read_from(self, text: str) -> None:
        if self._stdin is not None:
            raise Doubt("it has two here-documents for one command")
        self._stdin = text

    def _end_line(self) -> None:
        if self._words:
            self._end_step()
            self._join = Join.THEN

    def _end_step(self) -> None:
        if self._redirection:
            raise _redirecting(self._redirection)
        if len(self._steps) == MAX_STEPS:
            raise Doubt(f"it has more than {MAX_STEPS} steps")
        self._steps.append(
            Step(tuple(self._words), self._join, self._stdout, self._stderr, self._stdin)
        )
        self._words = []
        self._stdout, self._stderr, self._stdin = Stream.OUT, Stream.ERR, None
        self._is_awaited = False

    def _finish(self) -> None:
        self._end_word()
        self._end_line()
        if self._is_awaited:
            raise Doubt(BROKEN)
        if not self._steps:
            raise Doubt("there is no command in it")


def _redirecting(operator: str) -> Doubt:
    if operator.startswith("<"):
        return Doubt("it has a here-document that no command before it reads")
    return Doubt(OTHER_STREAM if ">&" in operator else REDIRECTS)


def _check_name(word: Word) -> None:
    if word.is_pattern:
        raise Doubt("the name of a command is a pattern")
    if word.text in RESERVED:
        raise Doubt(f"it uses the shell keyword {word.text}")
    if "=" in word.text:
        raise Doubt("it sets a variable")
    if not _NAME.fullmatch(word.text):
        raise Doubt("the name of a command has unusual characters")
