"""HandingBack: an approved command that would do something else by now is asked about again."""

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


class HandingBack:
    """Hands back each call once at most: one that has changed again after that ends as stale."""

    def __init__(self, line: Line):
        self._line = line
        self._handed_back: Few[str, JsonObject] = Few()

    async def hand_back(
        self, signal: Signal, running: Running, reviewed: Reviewed, changed: str
    ) -> JsonObject | None:
        """Have the server judge a call again; the facts that it is judged by, None if it is not.

        `changed` says what in the workspace is not as it was.
        """
        is_rehearsed = signal.surveyed and was_rehearsed(reviewed.facts)
        if not is_rehearsed or signal.tool_id in self._handed_back:
            return None
        answer = as_facts(reviewed, unmasked=False)
        why = cut_middle(changed or _OTHERWISE, _MOST_REASON_CHARS)
        reason = f"{why}, so nothing was applied, and this is what the command would do now"
        finding = {"rule": "command.asked-again", "reason": reason, "risk": RiskLevel.LOW.name}
        answer["findings"] = [*answer.get("findings", ()), finding]
        # It can cross with an offer anew, as a claim can.
        while not await self._line.ask_again(signal.tool_id, running.epoch, answer):
            if not await running.wait_for_another_offer():
                return None
        return self._handed_back.keep(signal.tool_id, answer["facts"])
