"""What a scripted model says, step by step: see `docs/howto/providers.md` for the form of a file.

The step that is played is the number of replies which the conversation holds already. A script
remembers nothing, so that conversations side by side, and resumed ones, are played right.
"""

import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from handrail.core.errors import NotFound, SetupError
from handrail.core.visible import cut


class _Entry(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ScriptedUse(_Entry):
    """A tool that is wanted; `arguments` are what a model writes that writes no JSON."""

    name: str
    input: dict[str, Any] = Field(default_factory=dict[str, Any])
    arguments: str | None = None
    id: str | None = None


class Counts(_Entry):
    """Tokens to tell of instead of an estimate; cached ones are part of the input."""

    input: int = Field(default=0, ge=0)
    output: int = Field(default=0, ge=0)
    cached: int = Field(default=0, ge=0)


class Failure(_Entry):
    """What happens instead of a step. Only a server plays it, the provider does not.

    A `status` is answered with its `message`, `retry_after` and `location`. `drop` closes the line
    without a word. The others begin as if all were well: `seconds` is silent for a while first;
    `cut` breaks the line after so many events, `end` ends the stream properly there, and `kind`
    tells of an error of that kind after the second one. `raw` is answered as it is.
    """

    status: int | None = Field(default=None, ge=300, le=599)
    message: str = "scripted"
    retry_after: str | None = None
    location: str | None = None
    drop: bool = False
    seconds: float = Field(default=0.0, ge=0, le=600)
    cut: int | None = Field(default=None, ge=0)
    end: int | None = Field(default=None, ge=0)
    kind: str | None = None
    raw: str | None = None


class Step(_Entry):
    """One reply. `stop` is the wire's own word for why it ends; without `counted`, no tokens are.

    The first askings of it meet its `failures`, one each.
    """

    text: str = ""
    thinking: str = ""
    tools: tuple[ScriptedUse, ...] = ()
    stop: str | None = None
    usage: Counts | None = None
    counted: bool = True
    failures: tuple[Failure, ...] = ()


class Conversation(_Entry):
    """The steps for conversations whose first message holds the words `when`."""

    when: str = ""
    steps: tuple[Step, ...] = Field(min_length=1)


class Script(_Entry):
    """All that a model says; `aside` is what it says where it is offered no tools.

    After its last step a conversation is over, or starts again where `repeat` is set.
    """

    conversations: tuple[Conversation, ...] = ()
    steps: tuple[Step, ...] = ()
    aside: str | None = None
    repeat: bool = False

    def step_for(self, first_words: str, number: int, *, has_tools: bool) -> Step:
        """The step with that number, from 0, of the conversation that begins with these words.

        Raises:
            NotFound: The script does not go that far.
        """
        if self.aside is not None and not has_tools:
            return Step(text=self.aside)
        steps = self._steps_for(first_words)
        if self.repeat and steps:
            number %= len(steps)
        if number >= len(steps):
            raise NotFound(
                f"the script has {len(steps)} steps for a conversation that begins with "
                f"{cut(first_words, 80)!r}, and this would be step {number + 1}"
            )
        return steps[number]

    def _steps_for(self, first_words: str) -> tuple[Step, ...]:
        fitting = (one.steps for one in self.conversations if one.when in first_words)
        return next(fitting, self.steps)


def read_script(text: str, name: str = "the script") -> Script:
    """A script as it is written in TOML.

    Raises:
        SetupError: It is none; the message names what is wrong in it.
    """
    try:
        return Script.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise SetupError(f"{name} is not valid TOML: {error}") from error
    except ValidationError as error:
        raise SetupError(f"{name}: {'; '.join(_in_words(error))}") from error


def load_script(path: Path) -> Script:
    """The script in a file.

    Raises:
        SetupError: There is none; the message says why.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        why = (error.strerror if isinstance(error, OSError) else None) or "it is not UTF-8 text"
        raise SetupError(f"cannot read the script {path}: {why}") from error
    return read_script(text, str(path))


def tokens_in(texts: Iterable[str]) -> int:
    """About as many as a real model would count: a quarter of the characters."""
    return -(-sum(map(len, texts)) // 4)


def _in_words(error: ValidationError) -> Iterable[str]:
    for problem in error.errors(include_url=False, include_input=False):
        field = ".".join(map(str, problem["loc"])) or "it"
        yield f"{field}: {problem['msg'][:1].lower()}{problem['msg'][1:]}"
