"""A model's SDK takes seconds to load; only whoever asks a model pays for it."""

import subprocess
import sys

import pytest

SDKS = "{'anthropic', 'openai'}"


def loaded_after(code: str) -> str:
    """Which SDKs a fresh process has loaded after it has run some code."""
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys; print(sorted({SDKS} & set(sys.modules)))"],
        capture_output=True,
        text=True,
        check=True,
        timeout=50,
    )
    return done.stdout.splitlines()[-1]


@pytest.mark.parametrize(
    "code",
    [
        "import handrail.cli.main",
        "import handrail.agent.providers",
        "from handrail.agent.providers.choice import make_provider\n"
        "make_provider('anthropic', 'm', 'k'); make_provider('openai', 'm', 'k')",
        "from handrail.cli.main import COMMANDS, build_app\nfor name in COMMANDS: build_app(name)",
        "import sys; from handrail.cli.main import main; sys.argv = ['handrail', '--help']\n"
        "try: main()\n"
        "except SystemExit: pass",
    ],
    ids=["command", "providers", "a provider", "every command", "help"],
)
def test_no_sdk_is_loaded_before_a_model_is_asked(code: str) -> None:
    assert loaded_after(code) == "[]"


@pytest.mark.parametrize("name", ["anthropic", "openai"])
def test_whoever_asks_loads_only_the_sdk_of_the_model(name: str) -> None:
    code = f"""
import asyncio
from handrail.agent.providers.choice import make_provider
from handrail.core.conversation import Speaker, Text, Utterance
from handrail.core.model import Prompt, ProviderError
provider = make_provider({name!r}, 'm', 'k', 'http://127.0.0.1:9')
prompt = Prompt('', (Utterance(Speaker.USER, (Text('hi'),)),))
try: asyncio.run(provider.reply(prompt))
except ProviderError: pass
"""
    assert loaded_after(code) == f"['{name}']"
