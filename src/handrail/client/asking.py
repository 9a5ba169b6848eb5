"""Asking: puts open questions to the person at this machine, and carries their answer back."""

import asyncio
from collections import deque

import msgspec
import structlog

from handrail.client.api import ApiError, HandrailApi, ServerUnreachable
from handrail.client.listening import Pauses
from handrail.client.outcomes import outcome_in_words
from handrail.core.card import Card, Choice
from handrail.core.errors import HandrailError
from handrail.core.execution import FINAL
from handrail.core.ports import Channel

_REMEMBERED = 1_000

log = structlog.get_logger(__name__)

read_card = msgspec.json.Decoder(Card).decode


class Resolved(msgspec.Struct, frozen=True):
    """`approval.resolved`, as far as this machine needs it."""

    approval_id: str
    status: str
    decided_by: str | None = None
    channel: str | None = None


read_resolved = msgspec.json.Decoder(Resolved).decode


class StatusChange(msgspec.Struct, frozen=True):
    """`tool.status`, as far as a person's screen needs it."""

    tool_id: str
    status: str


read_status = msgspec.json.Decoder(StatusChange).decode


class Tainted(msgspec.Struct, frozen=True):
    """`session.tainted`, as far as this machine needs it."""

    session_id: str
    source: str


read_tainted = msgspec.json.Decoder(Tainted).decode


class Asking:
    """Without a channel nobody is asked here; others may answer elsewhere."""

    def __init__(self, api: HandrailApi, channel: Channel | None):
        self._api = api
        self._channel = channel
        self._asked: dict[str, asyncio.Task[None]] = {}
        # Word of an answer can overtake a list of what was open a moment ago.
        self._answered: deque[str] = deque(maxlen=_REMEMBERED)
        self.pending: dict[str, Card] = {}
        # The titles of the calls that were approved here and have not ended.
        self._approved: dict[str, str] = {}
        # As the server put them: the card that is shown may be the unmasked one.
        self._versions: dict[str, tuple[str, tuple[str, ...]]] = {}

    async def catch_up(self) -> None:
        """Take up what was asked before we listened; the stream tells only what is new."""
        known = set(self.pending)
        try:
            cards = await self._api.pending_approvals()
        except HandrailError as error:
            log.info("approvals.not_listed", why=error.message)
            return
        for answered in known - {card.approval_id for card in cards}:
            self.close(Resolved(answered, "answered"))
        async with asyncio.TaskGroup() as group:
            for card in cards:
                group.create_task(self.ask(card))
            for tool_id in self._approved:
                group.create_task(self.tell_outcome(tool_id))

    async def ask(self, card: Card) -> None:
        """Put a question to the person, unless it is no longer one or is being asked."""
        answered = card.status != "pending" or card.approval_id in self._answered
        version = (card.digest, card.notes)
        if answered or self._versions.get(card.approval_id) == version:
            return
        self._versions[card.approval_id] = version
        # A card whose facts have come takes the place of the one without them.
        if (task := self._asked.pop(card.approval_id, None)) is not None:
            task.cancel()
        self.pending[card.approval_id] = card
        if self._channel is None:
            return
        asked, card = card, await self._api.unmask(card)
        if self.pending.get(card.approval_id) is not asked:
            return
        self.pending[card.approval_id] = card
        choice = await self._show(self._channel, card)
        if choice is None:
            return
        if choice.approved:
            # Its end may be heard before the answer to the approval.
            self._approved[card.tool_id] = card.description
        try:
            await self.decide(card, choice)
        except ApiError as error:
            self._approved.pop(card.tool_id, None)
            self._channel.tell(f"Your answer had no effect: {error.message}.")

    async def decide(self, card: Card, choice: Choice) -> None:
        """Carry a choice to the server; it takes the same choice twice as one."""
        pauses = Pauses()
        channel = "client" if self._channel is None else self._channel.name
        while True:
            try:
                await self._api.decide(card, choice, channel=channel)
            except ServerUnreachable:
                await pauses.sleep()
            else:
                return

    def close(self, resolved: Resolved) -> None:
        """Take a question away that has been answered, here or elsewhere."""
        self._answered.append(resolved.approval_id)
        self._versions.pop(resolved.approval_id, None)
        card = self.pending.pop(resolved.approval_id, None)
        task = self._asked.pop(resolved.approval_id, None)
        if card is None or task is None or self._channel is None:
            return
        task.cancel()
        who = resolved.decided_by or "another person"
        where = "" if resolved.channel is None else f", from {resolved.channel}"
        self._channel.tell(f"{card.description}: {resolved.status} by {who}{where}.")

    def warn(self, tainted: Tainted) -> None:
        """Tell the person that a session is not trusted, since they alone can change that."""
        if self._channel is not None:
            self._channel.tell(
                f"Session {tainted.session_id} is not trusted: the result of {tainted.source} "
                "contains text that looks like instructions to the agent. "
                f"`handrail trust {tainted.session_id}` clears it."
            )

    async def tell_outcome(self, tool_id: str) -> None:
        """Tell the person how a call ended that they approved on this screen."""
        if tool_id not in self._approved or self._channel is None:
            return
        try:
            call = await self._api.get(f"/tools/{tool_id}")
        except HandrailError as error:
            log.info("outcome.not_found", execution=tool_id, why=error.message)
            return
        if call["status"] in FINAL and (title := self._approved.pop(tool_id, None)) is not None:
            self._channel.tell(f"{title}: {outcome_in_words(call)}.")

    def tell_undone(self, tool_id: str, what: str, why: str) -> None:
        """Tell the person that an approved call was not run, because the machine has changed.

        The end of a call that was approved on this screen is printed by `tell_outcome`.
        """
        if self._channel is not None and tool_id not in self._approved:
            self._channel.tell(f"{what} was approved, but not run: {why}.")

    def dispose(self) -> None:
        """Take away every card that is being shown."""
        for task in self._asked.values():
            task.cancel()

    async def _show(self, channel: Channel, card: Card) -> Choice | None:
        """The person's choice. While the card is shown, an answer from elsewhere takes it away."""
        task = asyncio.current_task()
        if task is not None:
            self._asked[card.approval_id] = task
        try:
            return await channel.ask(card)
        except Exception:
            # Whatever is wrong with this screen, the machine goes on and others may answer.
            log.exception("channel.broke", channel=channel.name)
            return None
        finally:
            if self._asked.get(card.approval_id) is task:
                del self._asked[card.approval_id]
