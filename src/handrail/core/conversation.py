"""What a person, a model and its tools say to each other. Any model's words fit in here."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from handrail.core.tool import JsonObject


class Speaker(StrEnum):
    """Who says a message; what tools answer is said on the person's side."""

    USER = "user"
    ASSISTANT = "assistant"


@dataclass(frozen=True, slots=True)
class Text:
    text: str


@dataclass(frozen=True, slots=True)
class ToolUse:
    """The model wants a tool; `id` is unique within the conversation."""

    id: str
    name: str
    input: JsonObject


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """What became of a tool use, in words for the model."""

    tool_use_id: str
    output: str
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class Opaque:
    """A block that only the provider it came from understands, such as its signed thoughts.

    It is handed back to that provider as it is, and to no other.
    """

    provider: str
    block: JsonObject


@dataclass(frozen=True, slots=True)
class Summary:
    """Stands, for the model, in the place of everything up to the message with that number."""

    text: str
    through: int


@dataclass(frozen=True, slots=True)
class Notice:
    """Handrail tells the person something; the model does not hear it."""

    text: str


Part = Text | ToolUse | ToolAnswer | Opaque | Summary | Notice


@dataclass(frozen=True, slots=True)
class Utterance:
    """One turn of one side."""

    speaker: Speaker
    parts: tuple[Part, ...]

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.parts if isinstance(part, Text))

    @property
    def tool_uses(self) -> Sequence[ToolUse]:
        return [part for part in self.parts if isinstance(part, ToolUse)]

    @property
    def answers(self) -> Sequence[ToolAnswer]:
        return [part for part in self.parts if isinstance(part, ToolAnswer)]
