"""A conversation as the wires want it: both sides in turn, and nothing empty."""

from collections.abc import Sequence
from itertools import groupby

from handrail.core.conversation import (
    Notice,
    Opaque,
    Part,
    Speaker,
    Summary,
    Text,
    ToolAnswer,
    Utterance,
)
from handrail.core.model import Prompt

NO_OUTPUT = "(no output)"


def turns_of(prompt: Prompt, provider: str) -> list[Utterance]:
    """What one side says in a row is one turn of it; what its tools answer comes first in it.

    Blank texts, and blocks of other providers, are left out: no server takes them.
    """
    turns: list[Utterance] = []
    for speaker, said in groupby(prompt.utterances, key=lambda utterance: utterance.speaker):
        parts = [part for one in said for part in one.parts if _is_wanted(part, provider)]
        if speaker is Speaker.USER:
            parts.sort(key=lambda part: not isinstance(part, ToolAnswer))
        if parts:
            turns.append(Utterance(speaker, tuple(parts)))
    return turns


def replies_in(utterances: Sequence[Utterance]) -> int:
    """How often the model has spoken."""
    return sum(utterance.speaker is Speaker.ASSISTANT for utterance in utterances)


def _is_wanted(part: Part, provider: str) -> bool:
    match part:
        case Text(text):
            return bool(text.strip())
        case Opaque(origin):
            return origin == provider
        case Summary() | Notice():
            return False
        case _:
            return True
