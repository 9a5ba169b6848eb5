"""A thread: one run's conversation, as the one who drives the run reads and writes it."""

from collections.abc import Sequence
from dataclasses import dataclass

from handrail.core.audit import AuditRecord
from handrail.core.change import Change, MoveRun, Say, Step
from handrail.core.conversation import Utterance
from handrail.core.errors import ChangeRefused
from handrail.core.event import NewEvent
from handrail.core.ids import MessageId, mint
from handrail.core.model import Usage
from handrail.core.ports import Clock, Store
from handrail.core.run import Message, Run, RunStatus

_PAGE = 500


class LetGo(Exception):
    """The run is over, in other hands, or we are about to end: there is nothing more to do here."""


@dataclass(frozen=True, slots=True)
class Said:
    """Something to be stored; what a model said comes with its name and its cost."""

    utterance: Utterance
    model: str | None = None
    usage: Usage | None = None


@dataclass(frozen=True, slots=True)
class End:
    """How a run ends, and who brings that about."""

    status: RunStatus
    error: str | None = None
    actor: str = "handrail"


class Thread:
    def __init__(self, run: Run, store: Store, clock: Clock):
        self.run = run
        self.messages: list[Message] = []
        self._store = store
        self._clock = clock

    @property
    def last_seq(self) -> int:
        return self.messages[-1].seq if self.messages else 0

    async def catch_up(self) -> list[Message]:
        """Read what was said since we looked last; all of it, so far."""
        while True:
            found = await self._store.list_messages(
                self.run.project_id, self.run.session_id, after=self.last_seq, limit=_PAGE
            )
            self.messages.extend(found)
            if len(found) < _PAGE:
                return self.messages

    async def say(self, *said: Said, steps: Sequence[Step] = (), end: End | None = None) -> None:
        """Store what was said, in one piece, behind whatever others have said meanwhile.

        Raises:
            LetGo: It is not ours to say any more.
        """
        while not await self.reply(*said, steps=steps, end=end):
            await self.catch_up()

    async def reply(self, *said: Said, steps: Sequence[Step] = (), end: End | None = None) -> bool:
        """Store it only if nobody has said anything meanwhile; False where somebody has.

        Raises:
            LetGo: It is not ours to say any more.
        """
        added = [self._message(seq, one) for seq, one in enumerate(said, self.last_seq + 1)]
        spoken = tuple(Say(message, self.run.epoch) for message in added)
        told = tuple(NewEvent.said(message.id) for message in added)
        change = self._change((*spoken, *steps), told, end, self.last_seq + len(added))
        try:
            await self._store.submit(change)
        except ChangeRefused:
            await self._check_hands()
            return False
        self.messages.extend(added)
        return True

    def _message(self, seq: int, said: Said) -> Message:
        at = self._clock.now()
        return Message(
            MessageId(mint("msg", at)),
            self.run.project_id,
            self.run.session_id,
            self.run.id,
            seq,
            at,
            said.utterance,
            said.model,
            said.usage,
        )

    def _change(
        self, steps: tuple[Step, ...], told: tuple[NewEvent, ...], end: End | None, last_seq: int
    ) -> Change:
        at, run = self._clock.now(), self.run
        if end is None:
            return Change(run.project_id, at, steps, told)
        over = MoveRun(run, run.end(end.status, at, end.error), last_seq)
        line = AuditRecord("run.ended", end.actor, run.id, {"status": end.status})
        news = NewEvent.of_run(run.id)
        return Change(run.project_id, at, (*steps, over), (*told, news), (line,))

    async def _check_hands(self) -> None:
        now = await self._store.find_run(self.run.id)
        if now is None or now.status is not RunStatus.RUNNING or now.epoch != self.run.epoch:
            raise LetGo
