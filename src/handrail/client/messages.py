"""What a client hears on the stream, as far as this machine needs it."""

from typing import Any

import msgspec

from handrail.core.rehearsal import CallRef


class ExecutionContext(msgspec.Struct, frozen=True):
    """How the call came to be approved: by a person, by a grant, or by `policy`.

    A call `by_person` was made by a person in a session, which is most often an agent's.
    """

    approved_by: str = ""
    autonomy: str = ""
    by_person: bool = False


class Signal(msgspec.Struct, frozen=True):
    """`tool.execution_signal`: to be executed here."""

    tool_id: str
    tool_name: str
    tool_params: dict[str, Any] | None
    digest: str
    salt: str
    epoch: int
    status: str
    risk_level: str
    surveyed: bool = False
    replayed: bool = False
    session_id: str = ""
    execution_context: ExecutionContext = ExecutionContext()

    @property
    def call(self) -> CallRef:
        return CallRef(self.session_id, self.tool_id)

    @property
    def autonomy(self) -> str:
        return self.execution_context.autonomy

    @property
    def by_person(self) -> bool:
        return self.execution_context.by_person


class SurveyRequest(msgspec.Struct, frozen=True):
    """`tool.survey_request`: to be looked at, before a person is asked or, `unmasked`, after."""

    approval_id: str
    tool_id: str
    tool_name: str
    tool_params: dict[str, Any] | None
    unmasked: bool = False
    replayed: bool = False
    session_id: str = ""
    autonomy: str = ""
    # Older servers do not send it.
    epoch: int | None = None


class ResultAck(msgspec.Struct, frozen=True):
    """`tool.result_ack`: the server has what was reported."""

    tool_id: str
    receipt_status: str = "received"


class Cancel(msgspec.Struct, frozen=True):
    """`tool.cancel`: whatever runs for the call is to end."""

    tool_id: str
    message: str = "cancelled"


class UndoRequest(msgspec.Struct, frozen=True):
    """`tool.undo_request`: these calls are to be undone, the last one first."""

    tool_ids: tuple[str, ...]
    replayed: bool = False


read_signal = msgspec.json.Decoder(Signal).decode
read_survey = msgspec.json.Decoder(SurveyRequest).decode
read_ack = msgspec.json.Decoder(ResultAck).decode
read_cancel = msgspec.json.Decoder(Cancel).decode
read_undo = msgspec.json.Decoder(UndoRequest).decode
