"""A call brought to a state over HTTP, where the test plays the machine that is to do it."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from handrail.core.access import Role
from tests.conftest import Household
from tests.server.conftest import Answer, Caller, a_result, approve, ask_to_write, base, send_facts

# What programs tell problems apart by.
BAD_INPUT = (400, "urn:handrail:bad-input")
UNAUTHENTICATED = (401, "urn:handrail:unauthenticated")
FORBIDDEN = (403, "urn:handrail:forbidden")
NOT_FOUND = (404, "urn:handrail:not-found")
CONFLICT = (409, "urn:handrail:conflict")
OTHER_WORDS = (409, "urn:handrail:conflicting-call")
TOO_LARGE = (413, "urn:handrail:too-large")

KEY = "key-of-this-life"


class Play:
    """One call of somebody's agent, and what their person and their machine say about it."""

    def __init__(self, caller: Caller, home: Household):
        self._caller = caller
        self._home = home
        self.call: dict[str, Any] = {}

    @property
    def tool_id(self) -> str:
        return self.call["tool_id"]

    @property
    def approval_id(self) -> str:
        return self.call["approval_id"]

    async def ask(self, who: Role | None, method: str, path: str, **options: Any) -> Answer:
        """Speak in a role, or as somebody without a token."""
        token = None if who is None else self._home.secrets[who]
        return await self._caller.ask(method, base(self._home) + path, token, **options)

    async def ask_as_stranger(
        self, stranger: Household, role: Role, method: str, path: str, **options: Any
    ) -> list[tuple[int, str]]:
        """Somebody else speaks, at the address of this project and of their own; the problems."""
        token = stranger.secrets[role]
        answers = [
            await self._caller.ask(method, base(place) + path, token, **options)
            for place in (self._home, stranger)
        ]
        return [answer.problem for answer in answers]

    @asynccontextmanager
    async def machine(self) -> AsyncGenerator[None]:
        """The machine is there, whatever it hears."""
        async with self._caller.listen(self._home, self._home.secrets[Role.CLIENT]):
            yield

    async def now(self) -> dict[str, Any]:
        """The call as its person sees it."""
        answer = await self.ask(Role.USER, "GET", f"/tools/{self.tool_id}")
        assert answer.status == 200
        return answer.body

    async def be_pending(self, call_id: str = "call-1", **fields: Any) -> None:
        """A write that the machine is to look at first. It has two seconds for that."""
        self.call = await ask_to_write(self._caller, self._home, call_id, **fields)

    async def be_awaiting_approval(self, call_id: str = "call-1", **fields: Any) -> None:
        await self.be_pending(call_id, **fields)
        seen = await send_facts(self._caller, self._home, self.approval_id, facts={})
        assert seen.body["status"] == "awaiting_approval"

    async def be_approved(self, call_id: str = "call-1", **fields: Any) -> None:
        """Approved, and offered to the machine."""
        await self.be_awaiting_approval(call_id, **fields)
        card = await self.ask(Role.USER, "GET", f"/approvals/{self.approval_id}/unmasked")
        digest = card.body["digest"]
        decided = await approve(self._caller, self._home, self.approval_id, digest=digest)
        assert decided.status == 200

    async def be_executing(self, call_id: str = "call-1", **fields: Any) -> None:
        await self.be_approved(call_id, **fields)
        claimed = await self.claim()
        assert claimed.status == 200

    async def be_completed(self, call_id: str = "call-1", **fields: Any) -> None:
        await self.be_executing(call_id, **fields)
        told = await self.report(a_result())
        assert told.status == 200

    async def claim(self, epoch: int = 1) -> Answer:
        body = {"epoch": epoch, "key": KEY}
        return await self.ask(Role.CLIENT, "POST", f"/tools/{self.tool_id}/claim", json=body)

    async def report(self, body: Any, who: Role | None = Role.CLIENT) -> Answer:
        return await self.ask(who, "POST", f"/tools/{self.tool_id}/result", json=body)
