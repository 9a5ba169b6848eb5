"""A reply, made of what a model has said: each tool use with an id of its own, and a clear end."""

import re
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from contextlib import aclosing
from dataclasses import replace

from handrail.agent.providers.arguments import is_sound, mark_unreadable, sound, with_sound_name
from handrail.agent.providers.turns import replies_in
from handrail.core.conversation import Opaque, Part, Speaker, ToolUse, Utterance
from handrail.core.model import Prompt, Reply, StopReason, Usage

# What every provider takes back.
_SOUND_ID = re.compile(r"[A-Za-z0-9_-]{1,40}")
MOST_REPLY_CHARS = 2_000_000
_MOST_TOKENS = 10_000_000
_MOST_MODEL_CHARS = 200
_CUT_SHORT = "the reply reached its length limit before these arguments were complete"


class Length:
    """How long a reply has become: one that has no end must not fill the memory."""

    def __init__(self) -> None:
        self._chars = 0

    def grow(self, piece: str) -> None:
        """Count a piece.

        Raises:
            ValueError: It is longer than any reply may be.
        """
        self._chars += len(piece)
        if self._chars > MOST_REPLY_CHARS:
            raise ValueError(f"it is longer than {MOST_REPLY_CHARS:,} characters")


async def hear(spoken: AsyncGenerator[str | Reply], on_text: Callable[[str], None] | None) -> Reply:
    """Tell each piece of text, and give back the reply that comes last.

    What `on_text` raises is not taken for a trouble of the provider.
    """
    async with aclosing(spoken):
        async for said in spoken:
            if isinstance(said, Reply):
                return said
            if said and on_text is not None:
                on_text(said)
    raise AssertionError("a provider gives a reply or raises")


def make_reply(
    prompt: Prompt, parts: Sequence[Part], stop: StopReason | None, usage: Usage, model: str
) -> Reply:
    """The reply; `stop` is None where the provider's own reason is unknown here."""
    settled = list(_with_own_ids(parts, prompt))
    if stop is StopReason.MAX_TOKENS and settled and isinstance(last := settled[-1], ToolUse):
        # Half a text to write would look like the whole of it.
        settled[-1] = replace(last, input=mark_unreadable(_CUT_SHORT))
    utterance = Utterance(Speaker.ASSISTANT, tuple(settled))
    if stop is not StopReason.MAX_TOKENS and stop is not StopReason.REFUSAL:
        stop = StopReason.TOOL_USE if utterance.tool_uses else StopReason.END
    # What it says it has cost is counted, and must not undo what others have.
    cost = Usage(*(min(max(count, 0), _MOST_TOKENS) for count in usage))
    return Reply(utterance, stop, cost, sound(model[:_MOST_MODEL_CHARS]))


def _with_own_ids(parts: Iterable[Part], prompt: Prompt) -> Iterable[Part]:
    """Some servers give no ids, or the same ones in each reply; those are given new ones.

    Names are held to what a tool can be called, and a block that cannot be kept is left out.
    """
    taken = {use.id for utterance in prompt.utterances for use in utterance.tool_uses}
    turn = replies_in(prompt.utterances) + 1
    for number, part in enumerate(parts, 1):
        if isinstance(part, ToolUse):
            name = part.id
            if name in taken or not _SOUND_ID.fullmatch(name):
                name = f"call_{turn}_{number}"
            while name in taken:
                name += "_"
            taken.add(name)
            yield with_sound_name(replace(part, id=name))
        elif not isinstance(part, Opaque) or is_sound(part):
            yield part
