"""DraftKeeper: tells the server which drafts are here, and has them expire that no one uses.

The disk is the truth about drafts. The server keeps what it is told while this client is connected.
"""

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Protocol

import structlog

from handrail.client.api import ApiError, HandrailApi, ServerUnreachable
from handrail.core.draft import DraftExpired, DraftSummary

_LOOKS_EVERY_SECONDS = 1.0
_EXPIRES_EVERY_SECONDS = 600.0
# How much later a draft must have been used to be told about again.
_STEP = timedelta(minutes=10)
# The server does not count us as connected, though our stream may be open by now.
_NOT_CONNECTED = 409

log = structlog.get_logger(__name__)


class LocalDrafts(Protocol):
    """The drafts of this machine, as whoever has built this client keeps them."""

    def list_all(self) -> list[DraftSummary]: ...

    async def expire(self) -> None:
        """Export and remove those that were not used for too long."""
        ...

    def expired(self) -> list[DraftExpired]:
        """Those of which the server does not know that they have expired."""
        ...

    def forget_expired(self, expired: Sequence[DraftExpired]) -> None: ...


class DraftKeeper:
    def __init__(self, api: HandrailApi, drafts: LocalDrafts):
        self._api = api
        self._drafts = drafts
        self._told: list[DraftSummary] | None = None
        self._is_connected = False
        # Counts the times that the line has come and gone.
        self._connection = 0
        self._wake = asyncio.Event()

    async def run(self) -> None:
        """Follow the drafts until cancelled."""
        now = asyncio.get_running_loop().time
        due = now()
        while True:
            try:
                if now() >= due:
                    due = now() + _EXPIRES_EVERY_SECONDS
                    await self._drafts.expire()
                if self._is_connected:
                    await self._tell_what_is_new()
            except Exception as error:
                # Whatever is wrong with a draft, the client goes on.
                log.exception("drafts.broke", error=str(error))
            await self._pause()

    def on_line(self, connected: bool) -> None:
        """The line is up or down: a server that was away has forgotten what we said."""
        self._is_connected = connected
        self._connection += 1
        self._told = None
        self._wake.set()

    async def _tell_what_is_new(self) -> None:
        drafts = await asyncio.to_thread(self._drafts.list_all)
        expired = await asyncio.to_thread(self._drafts.expired)
        is_known = self._told is not None and _essence(drafts) == _essence(self._told)
        if is_known and not expired:
            return
        body = {
            "drafts": [one._asdict() for one in drafts],
            "expired": [one._asdict() for one in expired],
        }
        connection = self._connection
        try:
            await self._api.put("/drafts", body)
        except ServerUnreachable:
            return  # We look again in a moment.
        except ApiError as error:
            if error.status == _NOT_CONNECTED:
                return
            log.warning("drafts.not_taken", why=error.message)
        else:
            self._drafts.forget_expired(expired)
        if self._connection == connection:
            self._told = drafts

    async def _pause(self) -> None:
        try:
            async with asyncio.timeout(_LOOKS_EVERY_SECONDS):
                await self._wake.wait()
        except TimeoutError:
            return
        self._wake.clear()


def _essence(drafts: Sequence[DraftSummary]) -> list[DraftSummary]:
    """The drafts, with times so coarse that not each call is news."""
    return [
        one._replace(last_at=_coarse(one.last_at), expires_at=_coarse(one.expires_at))
        for one in drafts
    ]


def _coarse(at: datetime) -> datetime:
    return at - timedelta(seconds=at.timestamp() % _STEP.total_seconds())
