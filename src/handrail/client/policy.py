"""PolicyKeeper: follows this machine's policy files, and tells the server what the project's says.

The rules here hold whether the server has heard of them or not: every call is judged again with
them. That the server knows them spares people questions about what would be refused anyway.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import Protocol

import structlog

from handrail.client.api import ApiError, HandrailApi, ServerUnreachable
from handrail.core.box import Wall
from handrail.policy.rulebook.rules import Rules

_LOOKS_EVERY_SECONDS = 1.0

log = structlog.get_logger(__name__)


class LocalPolicy(Protocol):
    """The files, as whoever has built this client reads them."""

    @property
    def text(self) -> str: ...

    @property
    def rules(self) -> Rules: ...

    def reload(self) -> bool:
        """Whether other rules are in force now."""
        ...


class PolicyKeeper:
    """`adopt` is called with the rules whenever they have changed.

    `walls` are what is proven to keep commands in here.
    """

    def __init__(
        self,
        api: HandrailApi,
        policy: LocalPolicy,
        adopt: Callable[[Rules], None],
        walls: Sequence[Wall] = (),
    ):
        self._api = api
        self._policy = policy
        self._adopt = adopt
        self._walls = walls
        self._told: str | None = None
        self._wake = asyncio.Event()

    async def run(self) -> None:
        """Follow the files until cancelled."""
        while True:
            try:
                if self._policy.reload():
                    self._adopt(self._policy.rules)
            except Exception as error:
                # Whatever is in a file, the rules before it stay and the client goes on.
                log.exception("policy.broke", error=str(error))
            if self._told != self._policy.text:
                await self._tell(self._policy.text)
            await self._pause()

    def tell_anew(self) -> None:
        """The line is up: this server may be another one, or have missed what we said."""
        self._told = None
        self._wake.set()

    async def _tell(self, text: str) -> None:
        try:
            await self._api.send_policy(text, self._walls)
        except ServerUnreachable:
            return  # We look again in a moment.
        except ApiError as error:
            log.warning(
                "policy.not_taken", why=error.message, then="it still applies on this machine"
            )
        self._told = text

    async def _pause(self) -> None:
        try:
            async with asyncio.timeout(_LOOKS_EVERY_SECONDS):
                await self._wake.wait()
        except TimeoutError:
            return
        self._wake.clear()
