"""Fields that several descriptions of a call share."""

from datetime import datetime
from typing import Annotated

from pydantic import Field

AgentName = Annotated[
    str | None,
    Field(description="The name of the agent, as given with its token; null if it has none."),
]
ClientName = Annotated[
    str | None,
    Field(description="The name of the machine, as on the Machines page; null if there is none."),
]
ExitCode = Annotated[
    int | None,
    Field(description="The exit code of a command that ran to its end; null for other calls."),
]
CanUndo = Annotated[
    bool,
    Field(description="Whether a person can undo it, as far as the server knows."),
]
RevisedBy = Annotated[
    str | None,
    Field(description="The person who changed the call before it was approved; null if none did."),
]
RevisedAt = Annotated[datetime | None, Field(description="When it was changed last.")]
RevisionDiff = Annotated[
    str | None,
    Field(
        description="A diff of the changed parameters, from what the agent asked, with secrets "
        "masked."
    ),
]
UndoneAt = Annotated[datetime | None, Field(description="When its changes were undone.")]
UndoneBy = Annotated[str | None, Field(description="The person who asked for that.")]
