"""What passes by itself is waited for; what does not is said at once."""

from collections.abc import Callable

import pytest

from handrail.agent.asking import ask
from handrail.core.model import Prompt, ProviderError, Reply, StopReason, Usage
from tests.agent.talks import agent

PROMPT = Prompt("", ())


class Troubled:
    """A model that fails with these before it answers."""

    name = model = "troubled"

    def __init__(self, *errors: ProviderError):
        self.errors = list(errors)

    async def reply(self, prompt: Prompt, on_text: Callable[[str], None] | None = None) -> Reply:
        if self.errors:
            raise self.errors.pop(0)
        return Reply(agent("at last"), StopReason.END, Usage(), self.model)


async def waits_for(*errors: ProviderError) -> list[float]:
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    assert (await ask(Troubled(*errors), PROMPT, sleep=sleep)).utterance.text == "at last"
    return waited


async def test_each_wait_is_longer_than_the_one_before() -> None:
    waited = await waits_for(*[ProviderError("busy", 1.0)] * 5)
    assert [int(seconds) for seconds in waited[:3]] == [1, 2, 4]
    assert waited == sorted(waited)


async def test_whoever_waits_is_told_once_why_and_for_how_long() -> None:
    told: list[str] = []

    async def tell(words: str) -> None:
        told.append(words)

    async def sleep(seconds: float) -> None:
        """Time flies here."""

    await ask(Troubled(*[ProviderError("busy", 9.9)] * 3), PROMPT, tell=tell, sleep=sleep)

    (words,) = told
    assert words.startswith("busy; asking again in 1")
    assert words.endswith(" s, up to 5 times")


async def test_the_server_is_given_the_time_it_asks_for() -> None:
    (waited,) = await waits_for(ProviderError("busy", 30.0))
    assert 30.0 <= waited <= 37.5


@pytest.mark.parametrize(
    "errors",
    [
        [ProviderError("no such model", None)],
        [ProviderError("come back tomorrow", 86_400.0)],
        [ProviderError("busy", 1.0)] * 6,
    ],
)
async def test_what_does_not_pass_is_said(errors: list[ProviderError]) -> None:
    async def sleep(seconds: float) -> None:
        """Time flies here."""

    with pytest.raises(ProviderError, match=str(errors[-1])):
        await ask(Troubled(*errors), PROMPT, sleep=sleep)
