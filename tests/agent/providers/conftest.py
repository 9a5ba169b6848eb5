"""Providers that talk to a scripted server over real sockets."""

from collections.abc import Callable, Generator
from contextlib import ExitStack
from dataclasses import dataclass

import pytest

from handrail.agent.providers.choice import make_provider
from handrail.agent.providers.connection import Patience
from handrail.agent.providers.script import read_script
from handrail.core.conversation import Speaker, Text, Utterance
from handrail.core.model import Prompt, Provider
from handrail.core.tool import ToolSpec
from tests.model_server.server import ModelServer, serving

KEY = "k-secret-1"
TOOLS = tuple(
    ToolSpec(name, f"To {name}.", {"type": "object", "properties": {}}) for name in ("read", "git")
)


@dataclass(frozen=True)
class Line:
    """A provider, and the server at the other end."""

    provider: Provider
    server: ModelServer


Dial = Callable[..., Line]


def say(words: str, speaker: Speaker = Speaker.USER) -> Utterance:
    return Utterance(speaker, (Text(words),))


def a_prompt(*utterances: Utterance, system: str = "Be careful.") -> Prompt:
    return Prompt(system, utterances or (say("Fix it."),), TOOLS)


@pytest.fixture
def dial() -> Generator[Dial]:
    """Connects a provider of that name with a server that plays a script."""
    with ExitStack() as stack:

        def connect(name: str, script: str, key: str = KEY, patience: float = 20) -> Line:
            server = stack.enter_context(serving(read_script(script), key=KEY))
            base_url = server.url if name == "anthropic" else f"{server.url}/v1"
            waits = Patience(patience, patience)
            made = make_provider(name, "scripted-1", key, base_url, patience=waits)
            return Line(made, server)

        yield connect
