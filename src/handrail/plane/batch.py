"""Batches: several calls in one request, side by side or one after the other.

A batch is nothing of its own: its calls are calls like any other. Who repeats the request after
a crash, or to go on waiting, gets the same executions and takes the chain further.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple

from handrail.core.access import Principal
from handrail.core.errors import BadInput, Conflict
from handrail.core.execution import Status, ToolExecution
from handrail.core.ids import CallId
from handrail.core.tool import ToolCall
from handrail.plane.executor import ToolExecutor
from handrail.plane.references import fill_in, find_references

# Of one batch; what comes before a call is judged is done for so many without a pause.
_MOST_PROPOSED_AT_ONCE = 4

Check = Callable[[], Awaitable[None]]


async def _is_welcome() -> None:
    """For an asker whom nobody could turn away."""


class Part(NamedTuple):
    """What became of one call of a batch: an execution, or why there is none."""

    call_id: CallId
    execution: ToolExecution | None
    error: str | None = None

    @property
    def succeeded(self) -> bool:
        ended = self.execution
        if ended is None or ended.status is not Status.COMPLETED:
            return False
        return bool((ended.result or {}).get("success"))


class Batches:
    def __init__(self, executor: ToolExecutor):
        self._executor = executor

    async def run(
        self,
        calls: Sequence[ToolCall],
        asker: Principal,
        *,
        wait_seconds: float,
        check: Check = _is_welcome,
    ) -> list[Part]:
        """Run calls side by side; those that have not ended after the wait go on without us.

        `check` raises when the asker has lost the right to ask.
        """
        _check_names(calls)
        deadline = _now() + wait_seconds
        gate = asyncio.Semaphore(_MOST_PROPOSED_AT_ONCE)

        async def ask(call: ToolCall) -> Part:
            return await self._ask(call, asker, deadline, check, gate)

        return list(await asyncio.gather(*map(ask, calls)))

    async def run_chain(
        self,
        calls: Sequence[ToolCall],
        asker: Principal,
        *,
        wait_seconds: float,
        check: Check = _is_welcome,
    ) -> list[Part]:
        """Run one call after the other, each with what those before it gave back.

        A chain goes no further than the first call that does not succeed, or has not ended when
        the wait is over.
        """
        _check_names(calls)
        for number, call in enumerate(calls):
            find_references(call, at_most=number)
        deadline, gate = _now() + wait_seconds, asyncio.Semaphore(1)
        parts: list[Part] = []
        for call in calls:
            if parts and (reason := _why_not_on(parts[-1])) is not None:
                parts.append(Part(call.call_id, None, reason))
                continue
            try:
                filled = fill_in(call, [part.execution for part in parts])
            except BadInput as error:
                parts.append(Part(call.call_id, None, error.message))
            else:
                await check()
                parts.append(await self._ask(filled, asker, deadline, check, gate))
        return parts

    async def _ask(
        self,
        call: ToolCall,
        asker: Principal,
        deadline: float,
        check: Check,
        gate: asyncio.Semaphore,
    ) -> Part:
        """One call of several: what is wrong with it is no harm to the others."""
        try:
            async with gate:
                execution = await self._executor.propose(call, asker)
            execution = await self._executor.settle_for(execution, deadline - _now(), check)
        except (BadInput, Conflict) as error:
            return Part(call.call_id, None, error.message)
        return Part(call.call_id, execution)


def _check_names(calls: Sequence[ToolCall]) -> None:
    names = [call.call_id for call in calls]
    if (twice := next((name for name in names if names.count(name) > 1), None)) is not None:
        raise BadInput(f"two calls have the call_id {twice!r}; each call needs its own")


def _why_not_on(before: Part) -> str | None:
    """Why a chain goes no further; None if it does."""
    ended = before.execution
    if ended is None:
        return f"not started, because call {before.call_id!r} was not"
    if not ended.status.is_final:
        return f"not started: call {before.call_id!r} is {ended.status}; ask again to continue"
    if before.succeeded:
        return None
    return f"not started, because call {before.call_id!r} did not succeed"


def _now() -> float:
    return asyncio.get_running_loop().time()
