"""Reapproval: a person is asked again if the effects of an approved command have changed."""

from handrail.client.line import Line
from handrail.client.messages import Signal
from handrail.client.reports import as_facts
from handrail.client.review import Reviewed
from handrail.client.running import Running
from handrail.core.few import Few
from handrail.core.rehearsal import was_rehearsed
from handrail.core.risk import RiskLevel
from handrail.core.tool import JsonObject
from handrail.core.visible import cut_middle

_MOST_REASON_CHARS = 500
_OTHERWISE = "it would no longer do what was approved"


class Reapproval:
    """Requests one further judgement per call. A call that changes again ends as stale."""

    def __init__(self, line: Line):
        self._line = line
        self._requested: Few[str, JsonObject] = Few()

    async def request(
        self, signal: Signal, running: Running, reviewed: Reviewed, changed: str
    ) -> JsonObject | None:
        """Have the server judge a call again; returns the new facts, or None if it is not judged.

        `changed` says what in the workspace is not as it was.
        """
        is_rehearsed = signal.surveyed and was_rehearsed(reviewed.facts)
        if not is_rehearsed or signal.tool_id in self._requested:
            return None
        answer = as_facts(reviewed, unmasked=False)
        why = cut_middle(changed or _OTHERWISE, _MOST_REASON_CHARS)
        reason = f"{why}, so nothing was applied, and this is what the command would do now"
        finding = {"rule": "command.asked-again", "reason": reason, "risk": RiskLevel.LOW.name}
        answer["findings"] = [*answer.get("findings", ()), finding]
        # The server may have offered the call again meanwhile, under a new epoch.
        while not await self._line.ask_again(signal.tool_id, running.epoch, answer):
            if not await running.wait_for_another_offer():
                return None
        return self._requested.keep(signal.tool_id, answer["facts"])
