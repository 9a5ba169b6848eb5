"""Where a passage stands: hidden, quoted, after a forged heading, in talk of attacks."""

import re
from bisect import bisect_left
from collections.abc import Iterator
from functools import cached_property

from handrail.policy.injection.normalise import Folded

UNSEEN = frozenset({"encoded", "smuggled", "disguised"})
_SHOWN = ("quoted", "fenced", "listed")
_MARKS = ("mark", "heading")

_LEAD = 300
_FAR = 4_000
_BLOCK = 3_000
_DEEPEST_FENCE = 8

# Words of the trade: who uses some of them talks about attacks, or tests what stops them.
_TALK = (
    *("injection", "jailbreak", "adversarial", "red team", "red-team", "owasp", "payload"),
    *("malicious", "untrusted", "guardrail", "classifier", "sanitiz", "sanitis", "exfiltrat"),
    *("benign", "corpus", "def test_", "attacker", "hidden instruction", "prompt leak"),
    *("einschleusung", "angreifer", "angriff", "attaqu", "atacante", "ataque", "attacc", "aanval"),
    *("атак", "злоумышленник", "внедрени", "инъекци", "攻击", "攻擊", "注入", "攻撃"),
    *("インジェクション", "공격", "인젝션", "주입"),
)
# Words that such texts use, and others too.
_RELATED = (
    *("mitigat", "threat", "blocked", "flagged", "dataset", "detector", "vulnerab", "cve-"),
    *("filtered", "rejected", "assert", "expect(", "describe(", "attack", "research", "phishing"),
    *("scam", "exploit", "test case", "expected:", "refused", "quarantin", "suspicious", "trick"),
)
_HIDING = re.compile(
    r"display\s{0,2}:\s{0,2}none|font-size\s{0,2}:\s{0,2}[01](?:px|pt|em|%|;|\")|visibility\s{0,2}:"
    r"\s{0,2}hidden|opacity\s{0,2}:\s{0,2}0(?![.\d])|(?<!-)color\s{0,2}:\s{0,2}(?:white|#fff)"
    r"|aria-hidden|\shidden[\s>]|left\s{0,2}:\s{0,2}-\d{3}|\b(?:alt|title|content|aria-label)="
)
_URL = re.compile(r"https?://|\bwww\.|\w\.(?:example|com|net|org|io|test)\b")
_ADDRESS = re.compile(r"[\w.+-]{1,60}@[\w-]{1,60}\.")
_PATH = re.compile(r"~/|/etc/|\.env\b|\.ssh|\brm -|\bcurl |\bwget |`")
_FORGED = (
    *("system", "tool_result", "assistant", "user", "instruction", "document", "context"),
    *("important", "function_result", "admin"),
)
_MARK = re.compile(
    r"<\|[a-z_]{3,20}\|>|\[/?inst\]|<</?sys>>"
    rf"|</?(?:{'|'.join(_FORGED)})s?\b[^<>\n]{{0,60}}>"
)
_HEADING = re.compile(
    r"(?:^|[\n>\]\"'*#\-(\[]|\d\]?)[ \t]{0,3}[\"*#\[(<]{0,4}"
    r"(?:system|assistant|developer|admin|operator|root|human)"
    r"[ _a-z]{0,18}[\])*>]{0,3}\s{0,2}(?:\(to \w{1,20}\))?[:\]>]"
)
_PATTERNS = {"url": _URL, "address": _ADDRESS, "path": _PATH, "mark": _MARK, "heading": _HEADING}
# Each pattern holds one of these, which are looked for much faster.
_PARTS = {
    "url": ("://", "www.", ".example", ".com", ".net", ".org", ".io", ".test"),
    "address": ("@",),
    "path": ("~/", "/etc/", ".env", ".ssh", "rm -", "curl ", "wget ", "`"),
    "mark": ("<", "[inst", "[/inst"),
    "heading": ("system", "assistant", "developer", "admin", "operator", "root", "human"),
}
# Those of them that may make a passage heavier.
_HEAVIER = ("url", "mark", "heading")
_REMARK = re.compile(r"[ \t]{0,20}(?:#|//|/?\*|--|;|<!--|%|\"\"\")")
_QUOTE = re.compile(r"(?:^|[\s(\[=,:])'[^']*$")


class Surroundings:
    """The text around passages, in its one form."""

    def __init__(self, folded: Folded, *, encoded: bool = False):
        self._text = folded.text
        self._disguised = folded.disguised
        self._always = [
            *(["encoded"] if encoded else []),
            *(["smuggled"] if folded.smuggled else []),
        ]
        self._talk: dict[int, tuple[int, int]] = {}

    def signs(self, start: int, end: int) -> list[str]:
        """The names of what is to be said of where a passage stands."""
        return [*self.inside(start, end), *self.outside(start, end)]

    def possible(self, start: int, end: int) -> list[str]:
        """Which signs passages of a stretch may have that make them heavier; often none."""
        near = self._text[max(start - _LEAD, 0) : end + _LEAD]
        found = [name for name in _HEAVIER if any(part in near for part in _PARTS[name])]
        found += ["comment"] if "<!--" in self._text[max(start - _FAR, 0) : end] else []
        found += ["hiding"] if "<" in near else []
        found += [*UNSEEN] if self.hides else []
        return [*found, *_SHOWN, "remark"]

    def inside(self, start: int, end: int) -> Iterator[str]:
        """What a passage holds, and what is written right before it."""
        inside = self._text[start : end + 40]
        around = self._text[max(start - 60, 0) : end + 30]
        for name, pattern in _PATTERNS.items():
            seen = around if name in _MARKS else inside
            if any(part in seen for part in _PARTS[name]) and pattern.search(seen):
                yield name

    def outside(self, start: int, end: int) -> Iterator[str]:
        """How a passage is hidden, and what the text around it is about."""
        yield from self._always
        yield from self._hidden(start, end)
        yield from self._example(start)

    @property
    def hides(self) -> bool:
        """Whether any passage of the text may be one that somebody wrote so that it is not seen."""
        return bool(self._always or self._disguised)

    def _hidden(self, start: int, end: int) -> Iterator[str]:
        """In disguise, in a comment of HTML, in an attribute, in an element that is not shown."""
        first = bisect_left(self._disguised, start)
        if first < len(self._disguised) and self._disguised[first] < end:
            yield "disguised"
        opened = self._text.rfind("<!--", max(end - _FAR, 0), end)
        if opened >= 0 and self._text.find("-->", opened, start) < 0:
            yield "comment"
        near = self._text[max(start - 300, 0) : end]
        if "<" in near and _HIDING.search(near[near.find("<") :]):
            yield "hiding"

    def _example(self, start: int) -> Iterator[str]:
        """Quoted, fenced or listed, and whether the text talks about attacks."""
        shown = self.shown(start)
        yield from shown
        talk, related = self._words_of_the_trade(start)
        for least in (1, 2, 4):
            if talk >= least:
                yield f"talk-{least}"
            if talk + related >= least:
                yield f"related-{least}"
                if shown and least < 4:
                    yield f"example-{least}"
        if _REMARK.match(self._before(start, "\n") + self._text[start : start + 30]):
            yield "remark"

    def shown(self, start: int) -> list[str]:
        """Whether what begins here is quoted, fenced or listed."""
        line, paragraph = self._before(start, "\n"), self._before(start, "\n\n")
        rest = self._text[start : start + 400].partition("\n\n")[0]
        return [
            *(["quoted"] if _is_quoted(line, paragraph, rest) else []),
            *(["fenced"] if bisect_left(self._fences, start) % 2 else []),
            *(["listed"] if line.lstrip().startswith((">", "|")) else []),
        ]

    def _before(self, start: int, mark: str) -> str:
        return self._text[max(start - _FAR, 0) : start].rpartition(mark)[2]

    @cached_property
    def _fences(self) -> list[int]:
        """Where lines begin or end a fence."""
        found = [*_places(self._text, "```"), *_places(self._text, "~~~")]
        return sorted(at for at in found if not self._line_before(at).strip())

    def _line_before(self, at: int) -> str:
        return self._text[max(at - _DEEPEST_FENCE, 0) : at].rpartition("\n")[2]

    def _words_of_the_trade(self, start: int) -> tuple[int, int]:
        """How many different ones are used not far away, and how many that are related."""
        block = start // _BLOCK
        if block not in self._talk:
            near = self._text[max(block - 1, 0) * _BLOCK : (block + 2) * _BLOCK]
            self._talk[block] = (
                sum(word in near for word in _TALK),
                sum(word in near for word in _RELATED),
            )
        return self._talk[block]


def _places(text: str, mark: str) -> Iterator[int]:
    at = text.find(mark)
    while at >= 0:
        yield at
        at = text.find(mark, at + len(mark))


def _is_quoted(line: str, paragraph: str, rest: str) -> bool:
    if any(paragraph.count(mark) % 2 and mark in rest for mark in ('"', "`")):
        return True
    return "'" in rest and _QUOTE.search(line) is not None
