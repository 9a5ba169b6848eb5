"""One way through a shell string, from command to command, whether or not it is well formed."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from handrail.policy.shell.tokens import IN_COMMAND, IN_QUOTES, decode_ansi
from handrail.policy.shell.wrappers import inner_commands, reads_script

# Where a word falls into several when bash expands it.
_SPLIT = "\x1f"
_BLANKS = re.compile(r"[ \t\n]+")
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)\+?=(.*)", re.DOTALL)
_MOST_FRAMES = 100
_SPEAKERS = ("echo", "printf")
# fmt: off
_KEYWORDS = frozenset([
    "if", "then", "else", "elif", "fi", "do", "done", "while", "until", "esac", "{", "}", "!",
])
# fmt: on
_MARKS_OF_TESTS = frozenset(["group", "close", "pipe", "operator", "redirect"])
# Ends a frame of quotes that no character ends: the body of a here-document.
_QUOTED = "quoted"


class Witness(Protocol):
    """Who is told what is seen."""

    def look(self, script: str, depth: int, *, is_quoted: bool = False) -> None: ...
    def add(self, words: Sequence[str], depth: int) -> None: ...
    def keep(self, name: str, value: str) -> None: ...
    def value(self, name: str) -> str: ...
    def note_target(self, path: str, *, is_written: bool) -> None: ...


class _Frame:
    """A string, a substitution or the whole script: what has been read of it, and what ends it."""

    def __init__(self, end: str = "", *, array: str | None = None, is_output: bool = False) -> None:
        self.end = end
        self.words: list[str] = []
        self.word: str | None = None
        self.is_bare = True
        self.is_whole = True
        self.array = array
        self.before: list[str] = []
        self.said: list[list[str]] = []
        self.line: list[list[str]] = []
        self.is_target = False
        self.writes_target = False
        self.is_here_string = False
        self.here_string = ""
        self.has_cases = False
        self.is_pattern = False
        self.is_output = is_output


@dataclass(frozen=True, slots=True)
class _HereDocument:
    delimiter: str
    is_quoted: bool
    is_indented: bool

    @classmethod
    def read(cls, written: str) -> "_HereDocument":
        word = written.removeprefix("-").strip(" \t")
        delimiter = word.strip("'\"").removeprefix("\\")
        return cls(delimiter, is_quoted=delimiter != word, is_indented=written.startswith("-"))

    def find_end(self, text: str, start: int) -> re.Match[str] | None:
        tabs = r"\t*" if self.is_indented else ""
        end = re.compile(rf"^{tabs}{re.escape(self.delimiter)}(?:\n|\Z)", re.MULTILINE)
        return end.search(text, start)


class Scan:
    """The scan of one script; what is nested stands in frames upon each other."""

    def __init__(self, witness: Witness, text: str, depth: int, *, is_quoted: bool = False):
        self._witness = witness
        self._text = text
        self._at = 0
        self._depth = depth
        self._frames = [_Frame()]
        self._here_documents: list[_HereDocument] = []
        if is_quoted:
            self._frames.append(_Frame(end=_QUOTED))
        self._takes: dict[str, Callable[[str], None]] = {
            "escaped": self._take_literal,
            "single": self._take_literal,
            "ansi": lambda text: self._take_literal(decode_ansi(text)),
            "bare": self._take_bare,
            "array": self._take_variable,
            "variable": self._take_variable,
            "quote": lambda _: self._push(_Frame(end='"')),
            "end": self._take_end,
            "tick": self._take_tick,
            "brace": lambda _: self._push(_Frame(end="}")),
            "open": self._take_open,
            "group": self._take_group,
            "close": self._take_close,
            "here": self._take_here,
            "here_string": self._take_here_string,
            "redirect": self._take_redirect,
            "newline": self._take_newline,
            "pipe": self._take_pipe,
            "operator": lambda _: self._end_command(),
            "cases": self._take_cases,
            "blank": lambda _: self._end_word(),
            "hash": self._take_hash,
        }

    def run(self) -> None:
        while match := self._tokens().match(self._text, self._at):
            self._at = match.end()
            kind = match.lastgroup or ""
            if kind in _MARKS_OF_TESTS and self._is_in_test():
                self._end_word()
            elif take := self._takes.get(kind):
                take(match[kind])
        while len(self._frames) > 1:
            self._close()
        self._take_newline("")

    @property
    def _frame(self) -> _Frame:
        return self._frames[-1]

    def _tokens(self) -> re.Pattern[str]:
        return IN_QUOTES if self._frame.end in ('"', _QUOTED) else IN_COMMAND

    def _is_in_test(self) -> bool:
        """Between `[[` and `]]`, where these marks neither begin nor end a command."""
        words = self._frame.words
        return words[:1] == ["[["] and "]]" not in (words[-1], self._frame.word)

    # Words

    def _take_literal(self, text: str) -> None:
        self._frame.word = (self._frame.word or "") + text
        self._frame.is_bare = False

    def _take_bare(self, text: str) -> None:
        frame = self._frame
        if frame.end == "}" and "}" in text:
            # The end of ${...}; what stands behind it goes on in the word around it.
            behind = text.partition("}")[2]
            self._at -= len(behind)
            self._close()
        else:
            frame.word = (frame.word or "") + text

    def _take_variable(self, name: str) -> None:
        self._take_literal(
            _SPLIT if name == "IFS" else _BLANKS.sub(_SPLIT, self._witness.value(name))
        )
        self._frame.is_whole = False

    def _take_hash(self, text: str) -> None:
        if self._frame.word is None:
            end = self._text.find("\n", self._at)
            self._at = len(self._text) if end < 0 else end
        else:
            self._take_bare(text)

    def _end_word(self) -> None:
        frame, word = self._frame, self._frame.word
        if word is None:
            return
        is_bare, frame.word, frame.is_bare = frame.is_bare, None, True
        is_whole, frame.is_whole = frame.is_whole, True
        if frame.is_target:
            frame.is_target = False
            if is_whole:
                self._witness.note_target(word, is_written=frame.writes_target)
        elif frame.is_here_string:
            frame.is_here_string, frame.here_string = False, word
        elif frame.words or frame.array is not None or not self._begins(word, is_bare=is_bare):
            frame.words += word.split(_SPLIT)
            self._heed_grammar(frame)

    def _begins(self, word: str, *, is_bare: bool) -> bool:
        """Whether this word only goes before a command."""
        if is_bare and word in _KEYWORDS:
            if word == "esac":
                self._frame.has_cases = self._frame.is_pattern = False
            return True
        if match := _ASSIGNMENT.fullmatch(word):
            self._witness.keep(match[1], match[2])
            if "@P" in self._text:
                self._witness.look(match[2], self._depth + 1)
            return True
        return False

    def _heed_grammar(self, frame: _Frame) -> None:
        match frame.words:
            case ["case", _, "in"]:
                frame.words = []
                frame.has_cases = frame.is_pattern = True
            case ["function", _]:
                frame.words = []
            case _:
                pass

    # Commands

    def _end_command(self) -> None:
        self._end_word()
        frame = self._frame
        if frame.array is not None:
            return
        words, frame.words = frame.words, []
        before, frame.before = frame.before, []
        if not words or frame.is_pattern or words[0] in ("for", "select"):
            return
        self._witness.add(words, self._depth)
        frame.said.append(words)
        frame.line.append(words)
        if _takes_script(words):
            self._witness.look(frame.here_string, self._depth + 1)
            if before and before[0] in _SPEAKERS:
                self._witness.look(" ".join(before[1:]), self._depth + 1)
        frame.here_string = ""

    def _take_pipe(self, _: str) -> None:
        self._end_word()
        words = self._frame.words
        self._end_command()
        self._frame.before = words

    def _take_cases(self, _: str) -> None:
        self._end_command()
        self._frame.is_pattern = self._frame.has_cases

    def _take_newline(self, _: str) -> None:
        self._end_command()
        here_documents, self._here_documents = self._here_documents, []
        is_script = any(_takes_script(words) for words in self._frame.line)
        for one in here_documents:
            self._read_here_document(one, is_script=is_script)
        self._frame.line = []

    # Redirections

    def _take_redirect(self, operator: str) -> None:
        frame = self._frame
        if frame.is_bare and frame.word is not None and frame.word.isdigit():
            frame.word = None
        self._end_word()
        frame.is_target, frame.writes_target = True, ">" in operator

    def _take_here_string(self, _: str) -> None:
        self._end_word()
        self._frame.is_here_string = True

    def _take_here(self, delimiter: str) -> None:
        self._end_word()
        self._here_documents.append(_HereDocument.read(delimiter))

    def _read_here_document(self, here: "_HereDocument", *, is_script: bool) -> None:
        end = here.find_end(self._text, self._at)
        body = self._text[self._at : end.start() if end else len(self._text)]
        self._at = end.end() if end else len(self._text)
        if is_script:
            self._witness.look(body, self._depth + 1)
        elif not here.is_quoted:
            self._witness.look(body, self._depth + 1, is_quoted=True)

    # Frames

    def _take_open(self, _: str) -> None:
        self._push(_Frame(end=")", is_output=True))

    def _take_group(self, _: str) -> None:
        frame = self._frame
        name = _ASSIGNMENT.fullmatch(frame.word or "")
        if name and not name[2]:
            frame.word = None
            self._push(_Frame(end=")", array=name[1]))
        elif not frame.is_pattern:
            self._end_word()
            self._push(_Frame(end=")"))

    def _take_close(self, _: str) -> None:
        frame = self._frame
        if frame.is_pattern:
            frame.word, frame.is_bare, frame.words, frame.is_pattern = None, True, [], False
        elif frame.end == ")":
            self._close()
        else:
            self._end_command()

    def _take_tick(self, _: str) -> None:
        if any(frame.end == "`" for frame in self._frames):
            while self._frame.end != "`":
                self._close()
            self._close()
        else:
            self._push(_Frame(end="`", is_output=True))

    def _take_end(self, text: str) -> None:
        if self._frame.end == '"':
            self._close()
        else:
            self._take_bare(text)

    def _push(self, frame: _Frame) -> None:
        if len(self._frames) < _MOST_FRAMES:
            self._frames.append(frame)
        else:
            self._end_command()

    def _close(self) -> None:
        """Leave a frame, and hand what is known of it to the one around it."""
        if self._frame.end not in ('"', "}", _QUOTED):
            self._end_command()
        inner = self._frames.pop()
        outer = self._frame
        if inner.end in ('"', _QUOTED):
            self._take_literal(inner.word or "")
            outer.is_whole = outer.is_whole and inner.is_whole
        elif inner.array is not None:
            self._witness.keep(inner.array, " ".join(inner.words))
        elif inner.is_output:
            self._take_literal(_output(inner.said))
            outer.is_whole = False
        elif inner.end == ")" and not inner.said:
            # A function, f(): its name is no command.
            outer.words = []
        elif inner.end == "}":
            self._take_literal("")
            outer.is_whole = False


def _output(said: Sequence[Sequence[str]]) -> str:
    """What `$(echo rm)` prints; of every other command that is unknown."""
    match said:
        case [[name, *words]] if name in _SPEAKERS:
            return _SPLIT.join(words)
        case _:
            return ""


def _takes_script(words: Sequence[str]) -> bool:
    return any(one and reads_script(one) for one in (words, *inner_commands(words)))
