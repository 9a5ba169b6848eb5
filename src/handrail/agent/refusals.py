"""When a person has said no again and again, the agent stops and asks what they want."""

from collections.abc import Sequence

from handrail.agent.history import OURS, is_word
from handrail.core.conversation import Speaker, Text, ToolAnswer
from handrail.core.execution import Status, ToolExecution
from handrail.core.ports import Store
from handrail.core.run import Message, call_id_of

MOST_IN_A_ROW = 3
STOP_AND_ASK = (
    f"{OURS} The person has refused three calls in a row. Do not call any tool now: say in a few "
    "words what you wanted to do, and ask them how to go on."
)


async def are_too_many(
    store: Store,
    messages: Sequence[Message],
    message: Message,
    ended: Sequence[ToolExecution | ToolAnswer],
) -> bool:
    """Whether, with these calls of a message, three in a row were refused by a person."""
    if not any(_is_refused(one) for one in ended):
        return False
    row = await _refused_before(store, messages, message)
    for one in ended:
        row = row + 1 if _is_refused(one) else 0
        if row >= MOST_IN_A_ROW:
            return True
    return False


def is_told_to_ask(messages: Sequence[Message]) -> bool:
    """Whether the model was told last to ask, and the person has not said a word since."""
    for message in reversed(messages):
        if message.utterance.speaker is Speaker.ASSISTANT:
            return False
        if Text(STOP_AND_ASK) in message.utterance.parts:
            return True
        if is_word(message):
            return False
    return False


async def _refused_before(store: Store, messages: Sequence[Message], message: Message) -> int:
    """How many calls of the run were refused in a row right before those of a message."""
    row = 0
    for earlier in reversed([one for one in messages if one.seq < message.seq]):
        if earlier.run_id != message.run_id or Text(STOP_AND_ASK) in earlier.utterance.parts:
            return row
        for use in reversed(earlier.utterance.tool_uses):
            call_id = call_id_of(earlier.run_id, use.id)
            call = await store.find_call(message.project_id, message.session_id, call_id)
            if call is None or not _is_refused(call) or row >= MOST_IN_A_ROW:
                return row
            row += 1
    return row


def _is_refused(ended: ToolExecution | ToolAnswer) -> bool:
    return isinstance(ended, ToolExecution) and ended.status is Status.REJECTED
