"""Which model to ask, from the words of a setting."""

from pathlib import Path

from handrail.agent.providers.anthropic import AnthropicProvider
from handrail.agent.providers.connection import Patience
from handrail.agent.providers.openai import OpenAIProvider
from handrail.agent.providers.party import ANTHROPIC, OPENAI, SCRIPTED, find_party
from handrail.agent.providers.script import load_script
from handrail.agent.providers.scripted import ScriptedProvider
from handrail.core.errors import SetupError
from handrail.core.model import Provider

PROVIDERS = (ANTHROPIC, OPENAI, SCRIPTED)


def make_provider(
    name: str,
    model: str | None = None,
    key: str | None = None,
    base_url: str | None = None,
    *,
    patience: Patience | None = None,
) -> Provider:
    """The model of that provider; of the scripted one, `model` is the file of its script.

    Nothing is read from the environment, and nothing is asked yet.

    Raises:
        SetupError: It cannot be asked like this; the message says what is missing.
    """
    match name:
        case "anthropic":
            return AnthropicProvider(find_party(name, model, key, base_url), patience)
        case "openai":
            return OpenAIProvider(find_party(name, model, key, base_url), patience)
        case "scripted":
            if not model:
                raise SetupError("the scripted provider plays a file; name it as its model")
            return ScriptedProvider(load_script(Path(model).expanduser()), Path(model).name)
        case _:
            raise SetupError(f"there is no provider {name!r}; there are {', '.join(PROVIDERS)}")
