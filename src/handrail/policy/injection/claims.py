"""What sentences claim: that what their reader goes by is to be set aside, or no longer holds."""

from collections.abc import Iterator, Sequence, Set
from typing import NamedTuple

from handrail.policy.injection.concepts import Lexicon, as_bits
from handrail.policy.injection.sentences import Token

# Who says one of the first of one of the second claims something.
ENDS = ("drop", "void")
BONDS = ("order", "task", "limits", "told", "consent", "user")
# What makes a claim stronger when it stands beside it, and what does so anywhere in a passage.
BESIDE = ("prior", "you")
ALONG = (
    *("ai", "role", "you", "now", "silent", "secret", "authority", "mode", "persona"),
    *("send", "run", "destroy", "say", "obey"),
)
DENIED = "denied"
# A sentence that begins so: ignore the previous instructions.
COMMAND = "command"
# What a command weighs less where it is shown: quoted, fenced or listed.
SHOWN_COMMAND = "shown"
# What a claim weighs more for being written so that it is not seen.
UNSEEN_CLAIM = "unseen"
# These are not left to what is learned: they are what the scan is there for.
FIRM = {COMMAND: 600, SHOWN_COMMAND: -350, UNSEEN_CLAIM: 350}
_REACH = 7
_BESIDE = 3
_DENIES = 2


class _Near(NamedTuple):
    low: int
    high: int
    name: str


class Claims:
    """Knows the concepts that claims are made of by their numbers."""

    def __init__(self, lexicon: Lexicon):
        numbers = {concept.name: number for number, concept in enumerate(lexicon.concepts)}
        self._ends = {numbers[name]: name for name in ENDS if name in numbers}
        self._bonds = {numbers[name]: name for name in BONDS if name in numbers}
        self._beside = {numbers[name]: name for name in BESIDE if name in numbers}
        self._along = [(1 << numbers[name], name) for name in ALONG if name in numbers]
        self._any_end = as_bits(tuple(self._ends))
        self._drop, self._neg = numbers.get("drop", -1), numbers.get("neg", -1)

    def of_sentence(self, tokens: Sequence[Token]) -> frozenset[str]:
        """Such as `drop-order` and `drop-order-prior`; `denied` if it is forbidden to drop."""
        claimed: set[str] = set()
        for token in tokens:
            if not token.said & self._any_end:
                continue
            for end in self._ends.keys() & token.concepts:
                if end == self._drop and self._is_denied(tokens, token):
                    claimed.add(DENIED)
                    continue
                for near in self._near(tokens, token, self._ends[end]):
                    claimed.add(near.name)
                    beside = {*self._stand_beside(tokens, near)}
                    claimed |= {f"{near.name}-{name}" for name in beside}
                    commands = token.begins and near.low == token.number
                    if commands and near.name == "drop-order" and "prior" in beside:
                        claimed.add(COMMAND)
        return frozenset(claimed)

    def of_passage(self, claimed: Set[str], said: int) -> Iterator[str]:
        """What is weighed of the claims of some sentences; `said` are their concepts as bits."""
        yield from claimed
        pairs = sum(name.count("-") == 1 for name in claimed)
        if pairs:
            yield "any"
            yield from (f"any+{name}" for bit, name in self._along if said & bit)
        if pairs > 1:
            yield "several"

    def _is_denied(self, tokens: Sequence[Token], end: Token) -> bool:
        return any(
            0 < end.number - token.number <= _DENIES and self._neg in token.concepts
            for token in tokens
        )

    def _near(self, tokens: Sequence[Token], end: Token, name: str) -> Iterator[_Near]:
        for token in tokens:
            if token is not end and abs(token.number - end.number) <= _REACH:
                low, high = sorted((token.number, end.number))
                for bond in self._bonds.keys() & token.concepts:
                    yield _Near(low, high, f"{name}-{self._bonds[bond]}")

    def _stand_beside(self, tokens: Sequence[Token], near: _Near) -> Iterator[str]:
        for token in tokens:
            if near.low - _BESIDE <= token.number <= near.high + _BESIDE:
                yield from (self._beside[one] for one in self._beside.keys() & token.concepts)
