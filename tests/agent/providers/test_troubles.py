"""Whatever a model's server does, there is a reply, or a sentence that says what to do."""

import asyncio

import pytest

from handrail.agent.providers.choice import make_provider
from handrail.agent.providers.party import Party
from handrail.agent.providers.troubles import refused, wait_from
from handrail.core.model import ProviderError, Reply
from tests.agent.providers.conftest import KEY, Dial, a_prompt

BOTH = pytest.mark.parametrize("name", ["anthropic", "openai"])
WAYS = pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
WORDS = "one two three"


def failing(*failures: str) -> str:
    return f'[[steps]]\ntext = "{WORDS}"\nfailures = [{", ".join(failures)}]'


class Asking:
    """Asks once, and keeps what it has heard."""

    def __init__(self, dial: Dial, name: str, *failures: str, **settings: object):
        self.line = dial(name, failing(*failures), **settings)
        self.heard: list[str] = []

    async def ask(self, *, streamed: bool = False) -> Reply:
        return await self.line.provider.reply(a_prompt(), self.heard.append if streamed else None)

    async def fail(self, *, streamed: bool = False) -> ProviderError:
        with pytest.raises(ProviderError) as caught:
            await self.ask(streamed=streamed)
        assert KEY not in str(caught.value)
        return caught.value


@BOTH
@WAYS
@pytest.mark.parametrize(
    ("status", "words", "wait"),
    [
        (400, "{name} refused the request (status 400): too odd", None),
        (
            401,
            "{name} does not accept the key: too odd; `handrail init` asks for one and stores it, "
            "or set {variable}",
            None,
        ),
        (402, "{name} requires payment first: too odd", None),
        (403, "{name} does not allow this key to use 'scripted-1': too odd", None),
        (404, "there is no model 'scripted-1' at {url}: too odd", None),
        (413, "the conversation is too large for {name}: too odd", None),
        (422, "{name} refused the request (status 422): too odd", None),
        (429, "{name} has received too many requests: too odd", 7.0),
        (500, "{name} failed (status 500): too odd", 7.0),
        (502, "{name} failed (status 502): too odd", 7.0),
        (503, "{name} is overloaded: too odd", 7.0),
        (529, "{name} is overloaded: too odd", 7.0),
    ],
)
async def test_a_status_is_said_in_words(
    dial: Dial, name: str, streamed: bool, status: int, words: str, wait: float | None
) -> None:
    answer = f'{{ status = {status}, message = "too odd", retry_after = "7" }}'
    asking = Asking(dial, name, answer)

    error = await asking.fail(streamed=streamed)

    url = asking.line.server.url + ("/v1" if name == "openai" else "")
    variable = f"{name.upper()}_API_KEY"
    assert str(error) == words.format(name=name, url=url, variable=variable)
    assert error.retry_after_seconds == wait


@BOTH
async def test_the_sdk_itself_asks_only_once_and_the_next_asking_succeeds(
    dial: Dial, name: str
) -> None:
    asking = Asking(dial, name, "{ status = 429 }", "{ status = 500 }")

    assert (await asking.fail()).retry_after_seconds == 1.0
    assert (await asking.fail(streamed=True)).retry_after_seconds == 1.0
    assert (await asking.ask()).utterance.text == WORDS
    assert [request.attempt for request in asking.line.server.requests] == [0, 1, 2]


@BOTH
async def test_a_wrong_key_is_told_and_not_repeated(dial: Dial, name: str) -> None:
    asking = Asking(dial, name, key="k-other")

    error = await asking.fail()

    assert str(error).startswith(f"{name} does not accept the key: invalid api key; ")
    assert error.retry_after_seconds is None


@BOTH
async def test_a_server_that_repeats_the_key_is_not_repeated(dial: Dial, name: str) -> None:
    asking = Asking(dial, name, f'{{ status = 400, message = "{KEY} is bad\\u0007" }}')
    assert str(await asking.fail()).endswith(": … is bad\\x07")


@BOTH
@pytest.mark.parametrize(
    "failure", ["{ cut = 3 }", "{ cut = 0 }", "{ end = 3 }", "{ end = 0 }", "{ drop = true }"]
)
async def test_a_reply_that_breaks_off_is_no_reply(dial: Dial, name: str, failure: str) -> None:
    asking = Asking(dial, name, failure)

    error = await asking.fail(streamed=True)

    assert "broke off" in str(error) or "cannot be reached" in str(error)
    assert error.retry_after_seconds == 1.0
    assert WORDS not in "".join(asking.heard)
    assert (await asking.ask(streamed=True)).utterance.text == WORDS


@BOTH
async def test_what_was_heard_before_the_line_broke_was_told(dial: Dial, name: str) -> None:
    asking = Asking(dial, name, f"{{ cut = {5 if name == 'anthropic' else 3} }}")
    await asking.fail(streamed=True)
    assert "".join(asking.heard) == "one two "


@BOTH
@pytest.mark.parametrize(
    ("kind", "wait"), [("overloaded_error", 1.0), ("new_error", 1.0), ("permission_error", None)]
)
async def test_an_error_in_the_middle_of_a_stream_is_one(
    dial: Dial, name: str, kind: str, wait: float | None
) -> None:
    asking = Asking(dial, name, f'{{ kind = "{kind}", message = "too odd" }}')

    error = await asking.fail(streamed=True)

    assert "too odd" in str(error)
    assert error.retry_after_seconds == wait


@BOTH
@WAYS
@pytest.mark.parametrize(
    "raw", ["", "no JSON", "{}", "[]", "null", '{"choices": 3}', "data: {\n\n"]
)
async def test_an_answer_of_another_form_is_no_reply(
    dial: Dial, name: str, streamed: bool, raw: str
) -> None:
    error = await Asking(dial, name, f"{{ raw = '''{raw}''' }}").fail(streamed=streamed)
    assert error.retry_after_seconds == 1.0


@BOTH
@WAYS
async def test_a_silent_server_is_given_up(dial: Dial, name: str, streamed: bool) -> None:
    asking = Asking(dial, name, "{ seconds = 60 }", patience=0.2)

    error = await asking.fail(streamed=streamed)

    assert str(error).endswith(" did not answer in time")
    assert error.retry_after_seconds == 1.0


@BOTH
@WAYS
async def test_whoever_asks_may_stop_waiting(dial: Dial, name: str, streamed: bool) -> None:
    asking = Asking(dial, name, "{ seconds = 60 }")
    task = asyncio.create_task(asking.ask(streamed=streamed))
    while not asking.line.server.requests:
        await asyncio.sleep(0.01)

    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task


@BOTH
async def test_a_server_that_is_not_there_is_named(name: str) -> None:
    provider = make_provider(name, "m", None, "http://127.0.0.1:9/v1")

    with pytest.raises(ProviderError, match=r"cannot be reached at http://127\.0\.0\.1:9/v1") as it:
        await provider.reply(a_prompt())
    assert it.value.retry_after_seconds == 1.0


@BOTH
async def test_nobody_is_followed_elsewhere(dial: Dial, name: str) -> None:
    asking = Asking(dial, name, '{ status = 307, location = "/v1/messages/count_tokens" }')

    error = await asking.fail()

    assert "status 307" in str(error)
    assert error.retry_after_seconds is None
    assert len(asking.line.server.requests) == 1


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, 1.0),
        ({"retry-after": "12"}, 12.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "-3"}, 1.0),
        ({"retry-after": "nan"}, 1.0),
        ({"retry-after": "inf"}, 1.0),
        ({"retry-after": "soon"}, 1.0),
        ({"retry-after": "999999"}, 3600.0),
        ({"retry-after": "Thu, 01 Jan 2026 00:00:30 GMT"}, 1.0),
        (
            {
                "retry-after": "Thu, 01 Jan 2026 00:00:30 GMT",
                "date": "Thu, 01 Jan 2026 00:00:10 GMT",
            },
            20.0,
        ),
        (
            {
                "retry-after": "Thu, 01 Jan 2026 00:00:30 -0000",
                "date": "Thu, 01 Jan 2026 00:00:10 GMT",
            },
            1.0,
        ),
    ],
)
def test_a_server_says_how_long_to_wait(headers: dict[str, str], seconds: float) -> None:
    assert wait_from(headers) == seconds


def test_where_no_credit_is_left_waiting_does_not_help() -> None:
    party = Party("openai", "m", "http://127.0.0.1/v1")
    body = {"message": "You have none.", "code": "insufficient_quota"}

    assert refused(party, 429, body, {}).retry_after_seconds is None
    assert refused(party, 429, {**body, "code": None}, {}).retry_after_seconds == 1.0


@pytest.mark.parametrize("body", [None, "", [], {}, {"error": None}, {"error": {"message": 3}}])
def test_a_server_without_words_is_still_told_of(body: object) -> None:
    party = Party("openai", "m", "http://127.0.0.1/v1")
    assert str(refused(party, 500, body, {})) == "openai failed (status 500)"


def test_a_long_speech_of_a_server_is_cut() -> None:
    party = Party("openai", "m", "http://127.0.0.1/v1")
    error = refused(party, 400, "x" * 10_000, {})
    assert str(error).endswith("x… [9,500 more characters]")
