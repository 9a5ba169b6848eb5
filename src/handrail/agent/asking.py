"""Asking a model until it answers, or there is no more point in it."""

import asyncio
import math
import random
from collections.abc import Awaitable, Callable

import structlog

from handrail.core.model import Prompt, Provider, ProviderError, Reply

_MOST_ATTEMPTS = 6
MOST_REPLY_SECONDS = 1_200.0
_LONGEST_WAIT_SECONDS = 120.0

log = structlog.get_logger(__name__)

Sleep = Callable[[float], Awaitable[None]]
Tell = Callable[[str], Awaitable[None]]


async def ask(
    provider: Provider,
    prompt: Prompt,
    on_text: Callable[[str], None] | None = None,
    tell: Tell | None = None,
    sleep: Sleep = asyncio.sleep,
) -> Reply:
    """The reply; what passes by itself is waited for, longer each time.

    Somebody may be told of it, once: that it cannot be had yet, and how often it is asked for.

    Raises:
        ProviderError: There is none, however often it is asked.
    """
    for attempt in range(_MOST_ATTEMPTS):
        try:
            async with asyncio.timeout(MOST_REPLY_SECONDS):
                return await provider.reply(prompt, on_text)
        except TimeoutError as error:
            words = f"the model has not finished within {MOST_REPLY_SECONDS:,.0f} s"
            raise ProviderError(words) from error
        except ProviderError as error:
            wait = _wait_after(error, attempt)
            if wait is None:
                raise
            log.warning("model.asked_again", provider=provider.name, why=error.message, wait=wait)
            if tell is not None and attempt == 0:
                again = f"asking again in {math.ceil(wait)} s, up to {_MOST_ATTEMPTS - 1} times"
                await tell(f"{error.message}; {again}")
            await sleep(wait)
    raise AssertionError("the last attempt returns or raises")


def _wait_after(error: ProviderError, attempt: int) -> float | None:
    """How long to wait; None where there is no point in it."""
    asked = error.retry_after_seconds
    if asked is None or asked > _LONGEST_WAIT_SECONDS or attempt == _MOST_ATTEMPTS - 1:
        return None
    # Not all at the same moment, where many were turned away at the same moment.
    spread = 1 + random.random() / 4  # noqa: S311  nobody gains by guessing it
    return max(asked, 2.0**attempt) * spread
