"""How far a run may go by itself."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from handrail.agent.history import calls_of_run, tokens_of_run, turns_of_run
from handrail.core.run import Message, Run


@dataclass(frozen=True, slots=True)
class Limits:
    """`seconds` are those in one go: a run that is resumed has them anew.

    `tokens` are looked at before the model is asked, so that its last reply may go beyond them.
    """

    turns: int = 50
    calls: int = 200
    seconds: int = 3_600
    compact_at_tokens: int = 120_000
    reply_tokens: int = 8_192
    tokens: int | None = None

    def beyond(self, messages: Sequence[Message], reply: Message) -> set[str]:
        """The tool uses of a reply that are too many for its run; the same after a restart."""
        before = [one for one in messages if one.seq < reply.seq]
        left = max(self.calls - calls_of_run(before, reply.run_id), 0)
        return {use.id for use in reply.utterance.tool_uses[left:]}

    def why_over(self, run: Run, messages: Sequence[Message], driven: timedelta) -> str | None:
        """Why a run may not go on, in words for the person; None while it may."""
        if turns_of_run(messages, run.id) >= self.turns:
            return f"the agent has taken {self.turns} turns without finishing; {_GO_ON}"
        if calls_of_run(messages, run.id) >= self.calls:
            return f"the agent has asked for {self.calls} calls in this run; {_GO_ON}"
        if driven.total_seconds() >= self.seconds:
            return f"the agent has worked for {self.seconds:,} seconds; {_GO_ON}"
        if self.tokens is not None and tokens_of_run(messages, run.id) >= self.tokens:
            return f"the agent has used the {self.tokens:,} tokens allowed per run; {_GO_ON}"
        return None


_GO_ON = "tell it how to continue"
