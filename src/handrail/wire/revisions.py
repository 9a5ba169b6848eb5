"""Bodies about changing a call that waits for a person."""

from typing import Any

from pydantic import BaseModel, Field

from handrail.wire.payloads import Body, Label, Success


class EditableResponse(BaseModel):
    success: Success = True
    approval_id: str = Field(description="The question.")
    tool_params: dict[str, Any] = Field(
        description="The parameters that a person may change, with nothing masked."
    )
    digest: str = Field(description="What to send back with the changes.")


class ReviseRequest(Body):
    """Other parameters in the place of those that the agent asked for."""

    tool_params: dict[str, Any] = Field(
        min_length=1, description="The changed parameters; the others stay as they are."
    )
    digest: str = Field(
        max_length=128,
        description="The digest of `/editable` or of the card; with another one by now, nothing "
        "is changed.",
    )
    channel: Label = Field(default="api", description="From which screen.")
