"""Events as the bytes of a stream, and the log of frames that listeners share."""

from bisect import bisect_right
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

import msgspec
import structlog

from handrail.core.approval import Approval
from handrail.core.event import Event, EventKind
from handrail.core.execution import ToolExecution
from handrail.core.few import Few
from handrail.core.ids import ClientId, ExecutionId, MessageId, RunId, SessionId
from handrail.core.names import Names
from handrail.core.ports import Store, StreamItem
from handrail.core.project import Project
from handrail.plane.names import NameBook
from handrail.plane.undoing import MOST_CALLS
from handrail.plane.whispers import Told, Whisper
from handrail.wire.chat import CHAT_DELTA, ChatDelta
from handrail.wire.events import (
    ABOUT_APPROVALS,
    DRAFT_CHANGED,
    STREAM_RESET,
    DraftChanged,
    Payload,
)
from handrail.wire.rendering import (
    CANNOT_BE_TOLD,
    render,
    render_message,
    render_run_event,
    stream_reset,
)

PING = b": ping\n\n"
_MOST_FRAMES = 1_000
_MOST_BYTES = 1_000_000

_encode = msgspec.json.Encoder().encode
log = structlog.get_logger(__name__)


class Frame(NamedTuple):
    """`seq` is the number of the event, or of the event before a piece of chat text."""

    seq: int
    data: bytes


class Renderer:
    """Renders events for one audience: the people of a project, its approvers, or one client.

    Conversations are the owner's: approvers get no event about them.
    """

    def __init__(
        self,
        store: Store,
        names: NameBook,
        project: Project,
        client_id: ClientId | None,
        *,
        with_chat: bool = True,
    ):
        self._names = names
        self._store = store
        self._project = project
        self._client_id = client_id
        self._with_chat = with_chat
        # The last message of each conversation that was rendered.
        self._messages: Few[SessionId, int] = Few()

    async def render(self, items: Sequence[StreamItem], head: int) -> list[Frame]:
        """Frames without superseded signals; events up to `head` count as replayed."""
        return [
            Frame(item.event.seq, await self._render_safely(item, head))
            for item in items
            if not self._is_void(item)
        ]

    def render_whispers(self, told: Sequence[Told], seq: int, at: datetime) -> list[Frame]:
        """Frames without pieces of a message that was already sent whole."""
        heard = told if self._with_chat else ()
        return [Frame(seq, _whisper(one, at)) for one in heard if not self._is_old(one)]

    def _is_old(self, told: Told) -> bool:
        return isinstance(told, Whisper) and told.seq <= (self._messages.get(told.session_id) or 0)

    def _is_void(self, item: StreamItem) -> bool:
        """Whether an event is not for this audience, its call is gone, or was signalled again.

        Of a signal, only the latest epoch counts. That a report was turned away is told to its
        client alone: the call did not change.
        """
        event, execution, _ = item
        if execution is None and not event.kind.is_chat:
            return True
        if event.kind is EventKind.RESULT_REJECTED:
            return event.client_id != self._client_id
        if event.kind.is_chat and not self._with_chat:
            return True
        if execution is None or self._client_id is None:
            return False
        signal = event.kind is EventKind.EXECUTION_SIGNAL and event.client_id == self._client_id
        return signal and event.epoch < execution.epoch

    async def _render_safely(self, item: StreamItem, head: int) -> bytes:
        """An event that cannot be rendered becomes its number alone and ends no stream."""
        try:
            return await self._render(item, head)
        except CANNOT_BE_TOLD:
            log.exception("stream.passed_over", event_id=item.event.seq, kind=item.event.kind)
            return b"id: %d\n\n" % item.event.seq

    async def _render(self, item: StreamItem, head: int) -> bytes:
        approval: Approval | None = None
        names: Names = {}
        if item.execution is None:
            return await self._render_chat(item.event)
        if item.event.kind in ABOUT_APPROVALS and item.execution.approval_id is not None:
            approval = await self._store.find_approval(item.execution.approval_id)
        if approval is not None:
            ids = (approval.agent_id, approval.client_id)
            names = await self._names.of(self._project.id, ids)
        name, payload = render(
            item,
            listener=self._client_id,
            salt=self._project.digest_salt,
            replayed=item.event.seq <= head,
            names=names,
            approval=approval,
            to_undo=await self._to_undo(item.event, item.execution),
        )
        return _event(item.event.seq, name, payload)

    async def _to_undo(self, event: Event, call: ToolExecution) -> list[ExecutionId]:
        """The calls that a request to this client is about; of a session, all that were asked."""
        if event.kind is EventKind.UNDO_REQUEST:
            return [call.id]
        if event.kind is not EventKind.SESSION_UNDO_REQUEST or event.client_id != self._client_id:
            return []
        found = await self._store.list_undoable(self._project.id, call.session_id, limit=MOST_CALLS)
        return [one.id for one in found if one.undone_at is None and one.undone_by is not None]

    async def _render_chat(self, event: Event) -> bytes:
        """A message or a run; nothing if its conversation has been deleted."""
        if event.kind is EventKind.CHAT_RUN:
            run = await self._store.find_run(RunId(event.execution_id))
            if run is None:
                return b""
            return _event(event.seq, event.kind, render_run_event(event, run))
        message = await self._store.find_message(MessageId(event.execution_id))
        if message is None:
            return b""
        self._messages.keep(message.session_id, message.seq)
        return _event(event.seq, event.kind, render_message(message))


class Piece(NamedTuple):
    """Frames of a log from position `start` up to `end`, as one piece of bytes."""

    start: int
    end: int
    data: bytes
    events: int = 0


class FrameLog:
    """The newest frames of an audience.

    A listener keeps no frames of its own, only a position here. If it falls behind the oldest
    frame, it reads from the store again, so slow listeners need no memory.
    """

    def __init__(self, seq: int):
        self._frames: list[Frame] = []
        self._bytes = 0
        # The position of the oldest frame; positions never repeat.
        self._oldest = 0
        # The log has every event after `first`, up to and including `last`.
        self.first = self.last = seq
        self._piece = Piece(0, 0, b"")

    def extend(self, frames: Sequence[Frame], last: int) -> None:
        self._frames += frames
        self._bytes += sum(len(frame.data) for frame in frames)
        self.last = last
        if len(self._frames) > _MOST_FRAMES or self._bytes > _MOST_BYTES:
            self._trim()

    def restart(self, seq: int) -> None:
        """Drop everything, because events before `seq` are missing."""
        # One more than there were: a listener that was at the end must notice, too.
        self._oldest += len(self._frames) + 1
        self._frames.clear()
        self._bytes = 0
        self.first = self.last = seq

    def find(self, seq: int) -> int | None:
        """The position after an event; None if the log does not reach it."""
        if not self.first <= seq <= self.last:
            return None
        return self._oldest + bisect_right(self._frames, seq, key=lambda frame: frame.seq)

    def read(self, position: int) -> Piece | None:
        """All frames from a position on; None if some of them were dropped."""
        if position < self._oldest:
            return None
        end = self._oldest + len(self._frames)
        # Nearly all listeners stand at the same position, and share the same bytes.
        if (self._piece.start, self._piece.end) != (position, end):
            frames = self._frames[position - self._oldest :]
            self._piece = Piece(position, end, *join(frames))
        return self._piece

    def _trim(self) -> None:
        """Drop the older half, so that this happens seldom; the newest frame stays."""
        count, size = 0, self._bytes
        while count < len(self._frames) - 1 and (
            len(self._frames) - count > _MOST_FRAMES // 2 or size > _MOST_BYTES // 2
        ):
            size -= len(self._frames[count].data)
            count += 1
        if count:
            self.first = self._frames[count - 1].seq
            del self._frames[:count]
            self._oldest += count
            self._bytes = size


def join(frames: Sequence[Frame]) -> tuple[bytes, int]:
    """All frames as one, and how many of them are events."""
    data = [frame.data for frame in frames]
    return b"".join(data), sum(one.startswith(b"id: ") for one in data)


def reset_frame(head: int, at: datetime) -> bytes:
    return _event(head, STREAM_RESET, stream_reset(at))


def _whisper(told: Told, at: datetime) -> bytes:
    """Has no number, because it cannot be asked for again."""
    timestamp = at.isoformat().replace("+00:00", "Z")
    if isinstance(told, Whisper):
        delta: ChatDelta = {
            "session_id": told.session_id,
            "run_id": told.run_id,
            "seq": told.seq,
            "text": told.text,
            "timestamp": timestamp,
        }
        return b"event: %b\ndata: %b\n\n" % (CHAT_DELTA.encode(), _encode(delta))
    news: DraftChanged = {"session_id": told.session_id, "timestamp": timestamp}
    return b"event: %b\ndata: %b\n\n" % (DRAFT_CHANGED.encode(), _encode(news))


def _event(number: int, name: str, payload: Payload) -> bytes:
    return b"id: %d\nevent: %b\ndata: %b\n\n" % (number, name.encode(), _encode(payload))
