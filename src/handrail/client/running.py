"""Running: one call in work on this machine."""

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

T = TypeVar("T")

_SECOND_OFFER_SECONDS = 2.0


class Running:
    """Under which epoch the call is ours, how far it has come, and the task that works on it."""

    def __init__(self, epoch: int):
        self.epoch = epoch
        self.claimed = False
        self.begun = False
        self._task = asyncio.current_task()
        self._may_be_disturbed = True
        self._cancelled = False
        self._offered_anew = asyncio.Event()

    def offer_anew(self, epoch: int) -> None:
        self.epoch = epoch
        self._offered_anew.set()

    async def wait_for_another_offer(self) -> bool:
        """Whether the call is offered anew within a moment."""
        try:
            async with asyncio.timeout(_SECOND_OFFER_SECONDS):
                await self._offered_anew.wait()
        except TimeoutError:
            return False
        self._offered_anew.clear()
        return True

    def cancel(self) -> None:
        """End the work, with every process it has started; what is done is done."""
        if self._cancelled:
            return
        self._cancelled = True
        if self._may_be_disturbed and self._task is not None:
            self._task.cancel()

    async def undisturbed(self, work: Awaitable[None]) -> None:
        """Wait for what must not be left half done; a cancel that came meanwhile counts after."""
        self._may_be_disturbed = False
        try:
            await work
        finally:
            self._may_be_disturbed = True
        if self._cancelled:
            raise asyncio.CancelledError

    async def to_the_end(self, work: Awaitable[T]) -> T:
        """Wait for what is done as a whole or not at all; a cancel that comes now is too late."""
        self._may_be_disturbed = False
        try:
            return await work
        finally:
            self._may_be_disturbed = True
            self._cancelled = False

    def take_cancellation(self) -> bool:
        """Whether it was by `cancel` that the work ended; then the task may go on and tell."""
        if self._cancelled and self._task is not None:
            self._task.uncancel()
        return self._cancelled

    def abandon(self) -> None:
        """End the work without a word: this machine is about to stop."""
        if self._task is not None:
            self._task.cancel()

    def close(self) -> None:
        """There is an outcome, and nothing left to cancel."""
        self._may_be_disturbed = False
