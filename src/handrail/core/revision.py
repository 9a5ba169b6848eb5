"""What a person has changed in a call before approving it, and how the agent is told."""

from datetime import datetime
from typing import NamedTuple

from handrail.core.tool import JsonObject

_TOLD = "A person changed this call before approving it:"


class Revision(NamedTuple):
    """Who changed the call last, and a diff from what the agent asked, with its secrets masked.

    The diff is empty if the call was changed back to what the agent asked.
    """

    by: str
    at: datetime
    diff: str

    @property
    def note(self) -> str:
        """What the agent is told; empty if the call is what it asked."""
        return f"{_TOLD}\n{self.diff}" if self.diff else ""

    def tell_in(self, result: JsonObject) -> JsonObject:
        """The result of the call as the agent gets it."""
        told = {**result, "changed_by_person": {"by": self.by, "changes": self.diff}}
        if not self.note:
            return told
        output = result.get("output")
        return {**told, "output": f"{self.note}\n{output if isinstance(output, str) else ''}"}
