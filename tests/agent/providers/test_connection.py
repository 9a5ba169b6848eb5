"""Nothing of the environment goes over the line, and nothing about this machine."""

import pytest

from handrail.agent.providers.choice import make_provider
from handrail.agent.providers.script import read_script
from handrail.version import __version__
from tests.agent.providers.conftest import KEY, Dial, a_prompt
from tests.model_server.server import serving

BOTH = pytest.mark.parametrize("name", ["anthropic", "openai"])
SCRIPT = 'steps = [{ text = "a" }]'
SENT = {
    "accept", "accept-encoding", "authorization", "connection", "content-length", "content-type",
    "host", "user-agent",
}  # fmt: skip
AMBIENT = {
    "ANTHROPIC_API_KEY": "k-ambient",
    "ANTHROPIC_AUTH_TOKEN": "k-ambient",
    "ANTHROPIC_BASE_URL": "http://127.0.0.1:9",
    "ANTHROPIC_CUSTOM_HEADERS": "X-Ambient: 1\nAuthorization: ambient\nx-api-key: ambient",
    "OPENAI_API_KEY": "k-ambient",
    "OPENAI_ADMIN_KEY": "k-ambient",
    "OPENAI_BASE_URL": "http://127.0.0.1:9",
    "OPENAI_CUSTOM_HEADERS": "X-Ambient: 1\nauthorization: Bearer k-ambient",
    "OPENAI_ORG_ID": "ambient",
    "OPENAI_PROJECT_ID": "ambient",
    "HTTP_PROXY": "http://127.0.0.1:9",
    "ALL_PROXY": "http://127.0.0.1:9",
    "http_proxy": "http://127.0.0.1:9",
    "SSL_CERT_FILE": "/nowhere",
}


@pytest.fixture
def ambient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    for name, value in AMBIENT.items():
        monkeypatch.setenv(name, value)


@BOTH
@pytest.mark.usefixtures("ambient")
async def test_only_what_is_needed_is_sent_whatever_the_environment_says(
    dial: Dial, name: str
) -> None:
    line = dial(name, SCRIPT)

    assert (await line.provider.reply(a_prompt())).utterance.text == "a"
    await line.provider.reply(a_prompt(), lambda _: None)

    for request in line.server.requests:
        headers = {key.lower(): value for key, value in request.headers.items()}
        own = {"anthropic-version"} if name == "anthropic" else set[str]()
        assert set(headers) == SENT | own
        assert headers["authorization"] == f"Bearer {KEY}"
        assert headers["user-agent"] == f"handrail/{__version__}"
        assert "ambient" not in str(request).lower()


@BOTH
@pytest.mark.usefixtures("ambient")
async def test_a_server_that_wants_no_key_is_sent_none(name: str) -> None:
    with serving(read_script(SCRIPT)) as server:
        base_url = server.url if name == "anthropic" else f"{server.url}/v1"
        provider = make_provider(name, "local", base_url=base_url)

        assert (await provider.reply(a_prompt())).utterance.text == "a"

    (request,) = server.requests
    assert "authorization" not in {key.lower() for key in request.headers}
