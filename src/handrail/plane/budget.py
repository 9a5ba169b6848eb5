"""Budget: what a person's agents may still use today, by what the providers have counted."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC

from handrail.core.budget import EXHAUSTED, NEAR, BudgetState, crossings
from handrail.core.change import CountTokens
from handrail.core.errors import BudgetExhausted
from handrail.core.ids import UserId
from handrail.core.model import Usage
from handrail.core.ports import Clock
from handrail.core.talks import Talks

MOST_AT_ONCE = 4
_WARNINGS = {
    NEAR: "80 % of today's {limit:,} tokens are used; the agent stops when all are used.",
    EXHAUSTED: "Today's {limit:,} tokens are used up. The agent continues after midnight UTC, or "
    "with a larger budget.daily_tokens.",
}


class Budget:
    """`limit_of` is asked each time, so that a changed limit counts at once.

    What is asked side by side is checked side by side: a limit can be passed by the replies that
    were on their way when it was reached. Of those there are few at a time for each person.
    """

    def __init__(self, store: Talks, clock: Clock, limit_of: Callable[[], int | None]):
        self._store = store
        self._clock = clock
        self._limit_of = limit_of
        self._turns: dict[UserId, asyncio.Semaphore] = {}

    async def state(self, user_id: UserId) -> BudgetState:
        day = self._today()
        return BudgetState(day, await self._store.read_usage(user_id, day), self._limit_of())

    @asynccontextmanager
    async def turn(self, user_id: UserId, about: int = 0) -> AsyncGenerator[None]:
        """For as long as a model is asked and its reply counted: there are few at a time.

        Raises:
            BudgetExhausted: As `check` does, once it is our turn.
        """
        async with self._turns.setdefault(user_id, asyncio.Semaphore(MOST_AT_ONCE)):
            await self.check(user_id, about)
            yield

    async def check(self, user_id: UserId, about: int = 0) -> None:
        """Whether a model may be asked, for `about` so many tokens.

        Raises:
            BudgetExhausted: Nothing is left for today, or not as much.
        """
        state = await self.state(user_id)
        if state.left is not None and not state.is_exhausted and about > state.left:
            raise BudgetExhausted(
                f"this takes about {about:,} tokens, and {state.left:,} of {state.limit:,} are "
                f"left for {state.day}"
            )
        if state.is_exhausted:
            raise BudgetExhausted(
                f"the budget for {state.day} is used up: {state.used.total:,} of {state.limit:,} "
                "tokens; it continues after midnight UTC, or with a larger budget.daily_tokens"
            )

    def count(self, user_id: UserId, usage: Usage) -> CountTokens:
        """The step that adds what a reply has cost, for a change that keeps the reply."""
        return CountTokens(user_id, self._today(), usage)

    async def spend(self, user_id: UserId, usage: Usage) -> tuple[CountTokens, list[str]]:
        """The step that adds it, and what the person is to be told of the lines it crosses."""
        before = await self.state(user_id)
        after = replace(before, used=Usage(*map(sum, zip(before.used, usage, strict=True))))
        told = [_WARNINGS[line].format(limit=after.limit) for line in crossings(before, after)]
        return self.count(user_id, usage), told

    def _today(self) -> str:
        return self._clock.now().astimezone(UTC).date().isoformat()
