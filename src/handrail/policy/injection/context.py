"""Who says it to whom: an order weighs more than a report of one, and a hidden one most."""

import re
from bisect import bisect_left
from functools import cached_property

HIDDEN = 1.5
REPORTED = 0.4
EXAMPLE = 0.25

_BEFORE = 90
_FAR = 4000
_BLOCK = 3000

_NEGATED = re.compile(
    r"\b(?:do not|don't|never|cannot|can't|should not|shouldn't|must not|mustn't|not to|won't"
    r"|will not|didn't|did not|doesn't|does not|refuses? to|instead of|rather than)"
    r"\s+(?:\w+\s+){0,1}$"
)
# An order although it follows a word that mostly reports.
_ADDRESSED = re.compile(
    r"(?:\b(?:i|we|hereby|must|please|need|are|you|you're|is to|it is)\s+(?:\w+\s+){0,2}"
    r"(?:instruct|order|command|direct|want|need|ask|tell|requir|urge|authoriz|authoris|expect"
    r"|request|program|allow|free)(?:s|ed|ing|e)?\s+(?:you\s+|the\s+\w+\s+)?(?:now\s+)?to"
    r"|\byou\s+(?:\w+\s+){0,2}(?:need|have|are|ought|are going|want)\s+to"
    r"|\b(?:task|job|goal|duty|objective|mission|order|instruction)s?\s+(?:is|are)\s+(?:now\s+)?to"
    r"|\b(?:assistants?|ai|agents?|llms?|bots?)\s+(?:must|shall|should|has to|have to|needs? to)"
    r"|\byou\s+(?:must|should|shall|will|can|may|could)"
    r")\s+(?:\w+ly\s+|now\s+|first\s+)?$"
)
_TOLD_OF = re.compile(
    r"(?:\b(?:to|can|could|may|might|would|will|who|which|they|it|we|i|he|she|attackers?|users?"
    r"|adversar\w+|prompts?|models?|payloads?|texts?|messages?|an?|the|this|classic|famous|typical"
    r"|infamous|simple|usual|of|or|if you|with)\s*[\"'`(]*\s*"
    r"|\b(?:called|named|titled|phrases?|strings?|words|says?|said|saying|contain\w*|includ\w*|like"
    r"|as|e\.g\.|i\.e\.)\s*:?\s*[\"'`(]*\s*)$"
)
_TOLD_AFTER = re.compile(
    r"[\"'`\u201d)]*\s*[-,]?\s*(?:attacks?|style|payloads?|tricks?|phrases?|strings?|variants?"
    r"|patterns?|injections?|attempts?|jailbreaks?|is (?:a|the|one|an)\b|are (?:the|a|common)\b"
    r"|and (?:similar|the like|variants)|was (?:a|the|found|detected|blocked)|etc\b"
    r"|(?:above |here |below )?(?:if|unless|when) you"
    r" (?:use|run|have|want|already|do not|don't|are (?:on|not|using)|only)\b"
    r"|(?:[-:=]+>?|→)\s*(?:blocked|flagged|rejected|detected|refused|high|critical|injection))"
)
# Words of the trade: who uses two of them talks about attacks, or tests what stops them.
_TALK = (
    *(
        "injection",
        "jailbreak",
        "adversarial",
        "red team",
        "red-team",
        "owasp",
        "payload",
        "attack",
    ),
    *("malicious", "untrusted", "guardrail", "detector", "classifier", "sanitiz", "sanitis"),
    *("mitigat", "threat model", "exfiltrat", "blocked", "flagged", "benign", "corpus", "dataset"),
    *("vulnerab", "cve-", "filtered", "rejected", "def test_", "assert", "expect(", "describe("),
    *("einschleusung", "angreifer", "angriff", "attaqu", "atacante", "ataque", "attacc"),
    *("атак", "злоумышленник", "внедрени", "инъекци", "攻击", "注入", "攻撃", "インジェクション"),
    *("공격", "인젝션", "주입"),
)
_EXAMPLE_LEAD = re.compile(
    r"(?:for example|for instance|such as|e\.g\.|examples?(?: \w+)?:|example of|sample"
    r"|something like|phrases like|texts? like|strings? like|known as|zum beispiel|etwa|beispiel"
    r"|par exemple|por ejemplo|por exemplo|per esempio|например|例如|比如|例えば|예를 들어)"
    r"[^.!?]{0,60}$"
)
_HIDING = re.compile(
    r"display\s{0,2}:\s{0,2}none|font-size\s{0,2}:\s{0,2}[01](?:px|pt|em|%|;|\")|visibility\s{0,2}:"
    r"\s{0,2}hidden|opacity\s{0,2}:\s{0,2}0(?![.\d])|(?<!-)color\s{0,2}:\s{0,2}(?:white|#fff)"
    r"|aria-hidden|\shidden[\s>]|left\s{0,2}:\s{0,2}-\d{3}|\b(?:alt|title|content|aria-label)="
)


class Context:
    """The text around a find, in its one form; whether it is an example is asked only at will."""

    def __init__(self, text: str, *, weighs_examples: bool):
        self.text = text
        self._weighs_examples = weighs_examples
        self._blocks: dict[int, bool] = {}

    def weigh(self, start: int, end: int, *, imperative: bool) -> float:
        """By how much a find counts for more or less than its rule says; 0 if not at all."""
        before = self.text[max(start - _BEFORE, 0) : start]
        if self._weighs_examples and self._is_example(start, end):
            return EXAMPLE
        if imperative:
            if _NEGATED.search(before):
                return 0
            if self._is_reported(before, end):
                return REPORTED
        return HIDDEN if self._is_hidden(start) else 1

    def _is_reported(self, before: str, end: int) -> bool:
        if _TOLD_AFTER.match(self.text, end):
            return True
        return _TOLD_OF.search(before) is not None and _ADDRESSED.search(before) is None

    def _is_example(self, start: int, end: int) -> bool:
        """Quoted, fenced or listed, in a text that talks about attacks."""
        if not self._talks_of_attacks(start):
            return False
        far = self.text[max(start - _FAR, 0) : start]
        line, paragraph = far.rpartition("\n")[2], far.rpartition("\n\n")[2]
        rest = self.text[end : end + 400].partition("\n\n")[0]
        if line.lstrip().startswith((">", "|")):
            return True
        if any(paragraph.count(mark) % 2 and mark in rest for mark in ('"', "`")):
            return True
        if re.search(r"(?:^|[\s(\[=,:])'[^']*$", line) and "'" in rest:
            return True
        if _EXAMPLE_LEAD.search(self.text[max(start - 160, 0) : start]):
            return True
        return self._is_fenced(start)

    def _is_fenced(self, start: int) -> bool:
        return bisect_left(self._fences, start) % 2 == 1

    def _is_hidden(self, start: int) -> bool:
        """In a comment of HTML, in an attribute, or in an element that is not shown."""
        opened = self.text.rfind("<!--", max(start - _FAR, 0), start)
        if opened >= 0 and self.text.find("-->", opened, start) < 0:
            return True
        near = self.text[max(start - 300, 0) : start]
        return "<" in near and _HIDING.search(near[near.find("<") :]) is not None

    @cached_property
    def _fences(self) -> list[int]:
        return [match.start() for match in re.finditer(r"^[ \t]{0,6}(?:```|~~~)", self.text, re.M)]

    def _talks_of_attacks(self, start: int) -> bool:
        """Whether two different words of the trade are used not far away."""
        block = start // _BLOCK
        if block not in self._blocks:
            near = self.text[max(block - 1, 0) * _BLOCK : (block + 2) * _BLOCK]
            self._blocks[block] = sum(word in near for word in _TALK) > 1
        return self._blocks[block]
