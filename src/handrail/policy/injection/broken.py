"""Commands whose words are broken up: `ign ore prev ious instruc tions`, over lines or letters."""

import re
from collections.abc import Iterator

from handrail.policy.injection.encoded import Piece
from handrail.policy.injection.normalise import Folded

# So many more parts than words: an apostrophe or a hyphen makes one more by itself.
_FEWEST_MORE = 2
_AFTER = 300
_LETTER = re.compile(r"[a-z]")
_DROP = "ignore|disregard|forget|override|overrule|bypass"
_WHICH = (
    "all|any|every|the|these|those|your|you|were|of|previous|prior|earlier|above|preceding|former|"
    "existing|other|original|initial|current|system|safety"
)
_ORDERS = (
    "instructions?|directions?|rules?|guidelines?|prompts?|orders?|directives?|messages?|policy|"
    "policies|constraints?|commands?|restrictions?|programming|training|context"
)
_COMMAND = re.compile(f"({_DROP})((?:{_WHICH}){{1,6}})({_ORDERS})")
_ONE_OF_THEM = re.compile(_WHICH)


def mended_pieces(folded: Folded) -> Iterator[Piece]:
    """Commands that are there only once the gaps in their words are taken out."""
    places = [match.start() for match in _LETTER.finditer(folded.text)]
    letters = "".join([folded.text[place] for place in places])
    for command in _COMMAND.finditer(letters):
        start, end = places[command.start()], places[command.end() - 1] + 1
        drop, which, orders = command.groups()
        words = [drop, *_ONE_OF_THEM.findall(which), orders]
        parts = [part for part in folded.words[start:end].split() if part.isalpha()]
        begins = not folded.words[max(start - 1, 0) : start].strip()
        if begins and len(parts) >= len(words) + _FEWEST_MORE:
            rest = folded.text[end : end + _AFTER]
            yield Piece(f"{' '.join(words)} {rest}", folded.origin(start))
