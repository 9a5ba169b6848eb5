"""The step of a change that replaces the parameters of a call that waits for a person."""

from dataclasses import dataclass

from handrail.core.approval import Approval
from handrail.core.execution import ToolExecution


@dataclass(frozen=True, slots=True)
class Revise:
    """Other parameters, and a question about them. Refused as `Reask` is.

    `raw_params` are the parameters from now on, and `asked_params` those that the agent sent, both
    as canonical JSON. Both are erased when the call ends.
    """

    before: ToolExecution
    after: ToolExecution
    approval: Approval
    raw_params: str
    asked_params: str
