"""Patience: for how long a call waits for a machine, and how it ends when none has come."""

from datetime import datetime, timedelta

from handrail.core.errors import ChangeRefused, ErrorType
from handrail.core.execution import Status, ToolExecution
from handrail.core.ports import Clock, Store
from handrail.core.tool import Effect, Site
from handrail.plane.connections import Connections
from handrail.plane.move import HANDRAIL, ending

WITHOUT_CLIENT = timedelta(seconds=300)
UNCLAIMED = timedelta(seconds=600)
WITHOUT_WORD = timedelta(seconds=600)


class Patience:
    def __init__(self, store: Store, clock: Clock, connections: Connections):
        self._store = store
        self._clock = clock
        self._connections = connections

    async def give_up(self) -> None:
        """End the calls that have waited for a machine long enough, also while we were away."""
        now = self._clock.now()
        for execution in await self._store.list_open_since(now - WITHOUT_CLIENT):
            ended = self._end(execution, now)
            if ended is None:
                continue
            try:
                await self._store.submit(ending(execution, ended, HANDRAIL))
            except ChangeRefused:
                continue  # A machine was faster.

    def _end(self, execution: ToolExecution, now: datetime) -> ToolExecution | None:
        """The call as it ends, if its time has come. What is done on the server waits for none."""
        if execution.site is Site.SERVER:
            return None
        if execution.status is Status.EXECUTING and execution.effect is Effect.CHANGE:
            return self._end_begun(execution, now)
        approved_at = execution.approved_at or execution.created_at
        if execution.status is Status.APPROVED and now - approved_at >= UNCLAIMED:
            words = f"no machine has started it within {_in_words(UNCLAIMED)}"
            return execution.advance(Status.TIMEOUT, now, error=words)
        empty_since = self._connections.workspace_empty_since(execution.workspace_id)
        if empty_since is None or now - empty_since < WITHOUT_CLIENT:
            return None
        words = (
            f"no machine was connected for {_in_words(WITHOUT_CLIENT)};"
            " start `handrail connect` in the workspace, and ask again"
        )
        return execution.fail(ErrorType.NO_CLIENT, words, now)

    def _end_begun(self, execution: ToolExecution, now: datetime) -> ToolExecution | None:
        """Only the client that has begun can know the outcome, so it gets time to come back."""
        away_since = self._connections.client_away_since(execution.client_id)
        if away_since is None or now - away_since < WITHOUT_WORD:
            return None
        words = (
            f"the machine that started it has been disconnected for {_in_words(WITHOUT_WORD)};"
            " how far it got is unknown"
        )
        return execution.fail(ErrorType.OUTCOME_UNKNOWN, words, now)


def _in_words(time: timedelta) -> str:
    return f"{int(time.total_seconds())} s"
