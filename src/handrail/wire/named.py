"""Fields that several descriptions of a call share."""

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
