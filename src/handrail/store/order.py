"""Changes that wait to be written, and what became of them."""

import asyncio
from typing import NamedTuple

from handrail.core.change import Change
from handrail.core.errors import HandrailError
from handrail.core.event import Event


class Order(NamedTuple):
    """A change, and who waits for it."""

    change: Change
    done: asyncio.Future[None]


class Outcome(NamedTuple):
    """What became of an order: the events it was given, or why it was refused."""

    change: Change
    done: asyncio.Future[None]
    events: list[Event]
    refused: HandrailError | None


def conclude(done: asyncio.Future[None], error: Exception | None) -> None:
    """Let a submitter go on, or tell it what went wrong."""
    if done.done():
        return  # Its submitter was cancelled; what is stored is stored.
    if error is None:
        done.set_result(None)
    else:
        done.set_exception(error)
