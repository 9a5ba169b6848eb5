"""The socket for language models: a prompt goes in, a reply comes out."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, Protocol

from handrail.core.conversation import Utterance
from handrail.core.errors import HandrailError
from handrail.core.tool import ToolSpec


class Usage(NamedTuple):
    """Tokens, as the provider itself has counted them. Cached ones are part of `input_tokens`."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0

    @property
    def total(self) -> int:
        return self.input_tokens + self.output_tokens


class StopReason(StrEnum):
    END = "end"
    TOOL_USE = "tool_use"
    MAX_TOKENS = "max_tokens"
    REFUSAL = "refusal"


@dataclass(frozen=True, slots=True)
class Prompt:
    system: str
    utterances: tuple[Utterance, ...]
    tools: tuple[ToolSpec, ...] = ()
    max_tokens: int = 8_192


@dataclass(frozen=True, slots=True)
class Reply:
    utterance: Utterance
    stop_reason: StopReason
    usage: Usage
    model: str


class ProviderError(HandrailError):
    """The model could not be asked, or did not answer; the message says what to do.

    `retry_after_seconds` is None where asking again would not help.
    """

    def __init__(self, message: str, retry_after_seconds: float | None = None):
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds


class Provider(Protocol):
    """One model of one provider."""

    @property
    def name(self) -> str:
        """Whose it is: `anthropic`, `openai`, `scripted`."""
        ...

    @property
    def model(self) -> str: ...

    async def reply(self, prompt: Prompt, on_text: Callable[[str], None] | None = None) -> Reply:
        """Ask the model. With `on_text` the reply is streamed, and each new piece of text told.

        Raises:
            ProviderError: There is no reply.
        """
        ...
