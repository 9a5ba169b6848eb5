"""Changes that wait to be written, and what became of them."""

import asyncio
from typing import NamedTuple

from handrail.core.change import Change
from handrail.core.errors import ChangeRefused, HandrailError, StoreUnavailable
from handrail.core.event import Event
from handrail.store.sqlite_file import ConstraintError


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


def refusal_of(error: BaseException) -> HandrailError:
    """What the submitter of a change is told when the change was not stored."""
    match error:
        case ChangeRefused():
            return error
        case ConstraintError():
            return ChangeRefused(str(error))
        case StoreUnavailable():
            # Each submitter gets its own: what one adds to it is not for the others.
            return type(error)(error.message)
        case _:
            return HandrailError(f"the database could not be written: {error}")
