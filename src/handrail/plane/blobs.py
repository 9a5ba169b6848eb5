"""BlobKeeper: takes large payloads in, hands them out, and removes those that nobody holds."""

import asyncio
import hashlib
from collections import Counter, defaultdict
from collections.abc import AsyncGenerator, AsyncIterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from typing import NamedTuple

from handrail.core.access import Principal, Role
from handrail.core.blob import INLINE_BYTES, Blob, BlobHold, Purpose, find_blobs
from handrail.core.change import Change, KeepBlob, LetBlobGo, UseBlob
from handrail.core.errors import BadInput, Conflict, NotFound, TooLarge
from handrail.core.execution import ToolExecution
from handrail.core.ids import ProjectId
from handrail.core.ports import Clock, Store
from handrail.core.tool import JsonObject, ToolCall
from handrail.policy.validators.sizes import SizeLimiter

UPLOADS_KEPT = timedelta(hours=1)
MOST_UPLOADED_BYTES = 1_000_000_000
MOST_RESULT_BYTES = 10_000_000_000
MOST_AT_ONCE = 4

_THOROUGH_PAUSE = timedelta(minutes=1)
_MOST_LET_GO = 1_000


class OpenBlob(NamedTuple):
    blob: Blob
    pieces: AsyncGenerator[bytes]


class BlobKeeper:
    """A blob lies there before the row that names it, and goes when no row holds it any more."""

    def __init__(self, store: Store, clock: Clock):
        self._store = store
        self._clock = clock
        self._coming_in: Counter[tuple[ProjectId, str]] = Counter()
        self._senders: Counter[str] = Counter()
        self._removing = asyncio.Lock()
        self._thorough_at: datetime = clock.now()

    async def put(
        self, project_id: ProjectId, sha256: str, pieces: AsyncIterable[bytes], sender: Principal
    ) -> Blob:
        """Take a blob in, to be named by a call or a result within the hour.

        Raises:
            BadInput: Its content has another hash, or is so little that it needs no blob.
            TooLarge: It is more than we take, alone or with what was sent before.
            Conflict: Too much is being sent by the same sender.
        """
        waiting = await self._store.weigh_uploads(project_id, sender.subject)
        if waiting > MOST_UPLOADED_BYTES:
            raise TooLarge(f"{waiting:,} bytes were uploaded already and are not used by any call")
        if self._senders[sender.subject] >= MOST_AT_ONCE:
            raise Conflict(f"{MOST_AT_ONCE} uploads are running already; wait for one to end")
        async with self._sending(sender):
            return await self._take_in(project_id, sha256, pieces, sender)

    async def _take_in(
        self, project_id: ProjectId, sha256: str, pieces: AsyncIterable[bytes], sender: Principal
    ) -> Blob:
        async with self._undisturbed(project_id, sha256):
            most = SizeLimiter().max_blob_bytes
            blob = await self._store.shelf.put(project_id, sha256, pieces, max_bytes=most)
            now = self._clock.now()
            hold = BlobHold(project_id, *blob, sender.subject, Purpose.UPLOAD, now)
            await self._store.submit(Change(project_id, now, (KeepBlob(hold),)))
        return blob

    async def open(self, project_id: ProjectId, sha256: str, reader: Principal) -> OpenBlob:
        """A blob of the project; an agent gets what it uploaded and what its calls gave back.

        Raises:
            NotFound: There is none, or it is not theirs.
        """
        own = _agent_id(reader)
        blob = await self._store.find_blob(project_id, sha256, agent_id=own)
        if blob is None:
            raise NotFound(f"there is no blob {sha256!r}")
        return OpenBlob(blob, self._store.shelf.pieces(project_id, sha256))

    async def put_away(self, call: ToolCall, name: str, asker: Principal) -> ToolCall:
        """The call with this parameter as a blob, where it is a text too long for a row."""
        content = call.tool_params.get(name)
        # A character is at most four bytes.
        if not isinstance(content, str) or len(content) * 4 <= INLINE_BYTES:
            return call
        data = content.encode(errors="surrogatepass")
        if len(data) <= INLINE_BYTES:
            return call
        sha256 = await asyncio.to_thread(lambda: hashlib.sha256(data).hexdigest())
        blob = await self._take_in(call.project_id, sha256, _whole(data), asker)
        return replace(call, tool_params={**call.tool_params, name: blob.as_json()})

    def use_in_params(
        self, execution: ToolExecution, params: JsonObject, asker: Principal
    ) -> tuple[UseBlob, ...]:
        """What must be stored along with a call that names blobs."""
        holds = _holds(execution, params, Purpose.PARAMS, execution.created_at)
        return tuple(UseBlob(hold, _agent_id(asker)) for hold in holds)

    async def use_in_result(
        self, execution: ToolExecution, result: JsonObject | None
    ) -> tuple[UseBlob, ...]:
        """What must be stored along with a result that names blobs.

        Raises:
            BadInput: One of them is not there.
        """
        holds = _holds(execution, result, Purpose.RESULT, self._clock.now())
        await self._check(execution.project_id, [hold.blob for hold in holds], None)
        return tuple(UseBlob(hold) for hold in holds)

    async def check_params(self, call: ToolCall, asker: Principal) -> None:
        """Why a call that names blobs may not be stored.

        Raises:
            BadInput: One of them is not there, or not the asker's.
        """
        blobs = list(find_blobs(call.tool_params))
        await self._check(call.project_id, blobs, _agent_id(asker))

    async def tidy_up(self) -> None:
        """Let go of what no call needs any more, and remove what nobody holds."""
        now = self._clock.now()
        await self._let_go(await self._store.list_idle_holds(now - UPLOADS_KEPT))
        if now < self._thorough_at:
            return
        self._thorough_at = now + _THOROUGH_PAUSE
        for project_id, weight in await self._store.list_heavy_projects(MOST_RESULT_BYTES):
            await self._let_go(await self._oldest(project_id, weight - MOST_RESULT_BYTES))
        # A crash can leave what was put here and never held, or let go and not removed.
        await self._store.shelf.clear_drafts()
        for project_id, sha256 in await self._store.shelf.list_all():
            await self._remove_if_free(project_id, sha256)

    async def _let_go(self, holds: Sequence[BlobHold]) -> None:
        by_project: dict[ProjectId, list[BlobHold]] = defaultdict(list)
        for hold in holds:
            by_project[hold.project_id].append(hold)
        for project_id, own in by_project.items():
            steps = tuple(map(LetBlobGo, own))
            await self._store.submit(Change(project_id, self._clock.now(), steps))
            for hold in own:
                await self._remove_if_free(project_id, hold.sha256)

    async def _oldest(self, project_id: ProjectId, excess: int) -> list[BlobHold]:
        """The oldest results that must go: no agent fills a disk by reading."""
        going: list[BlobHold] = []
        for hold in await self._store.list_oldest_results(project_id, limit=_MOST_LET_GO):
            if excess <= 0:
                break
            going.append(hold)
            excess -= hold.size
        return going

    async def _check(self, project_id: ProjectId, blobs: list[Blob], agent_id: str | None) -> None:
        for blob in blobs:
            found = await self._store.find_blob(project_id, blob.sha256, agent_id=agent_id)
            if found is None:
                raise BadInput(f"blob {blob.sha256} is not here; upload it first, then ask again")
            if found != blob:
                raise BadInput(f"blob {blob.sha256} has {found.size:,} bytes, not {blob.size:,}")

    async def _remove_if_free(self, project_id: ProjectId, sha256: str) -> None:
        async with self._removing:
            if self._coming_in[project_id, sha256]:
                return
            if await self._store.find_blob(project_id, sha256, agent_id=None) is None:
                await self._store.shelf.remove(project_id, sha256)

    @asynccontextmanager
    async def _sending(self, sender: Principal) -> AsyncGenerator[None]:
        self._senders[sender.subject] += 1
        try:
            yield
        finally:
            self._senders[sender.subject] -= 1
            self._senders += Counter()  # Only what is above zero stays.

    @asynccontextmanager
    async def _undisturbed(self, project_id: ProjectId, sha256: str) -> AsyncGenerator[None]:
        """What comes in is not tidied away before somebody holds it."""
        self._coming_in[project_id, sha256] += 1
        try:
            async with self._removing:
                pass  # Whoever is at it has not seen us coming.
            yield
        finally:
            self._coming_in[project_id, sha256] -= 1
            self._coming_in += Counter()  # Only what is above zero stays.


def _agent_id(principal: Principal) -> str | None:
    """Whose blobs these must be; the people of a project may use all of it."""
    return principal.subject if principal.role is Role.AGENT else None


def _holds(
    execution: ToolExecution, values: JsonObject | None, purpose: Purpose, at: datetime
) -> list[BlobHold]:
    return [
        BlobHold(execution.project_id, *blob, execution.id, purpose, at)
        for blob in find_blobs(values)
    ]


async def _whole(data: bytes) -> AsyncGenerator[bytes]:
    yield data
