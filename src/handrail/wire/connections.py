"""Machines: how they are listed, and how a client says that it is alive."""

from datetime import datetime
from typing import Self

from pydantic import BaseModel, Field

from handrail.core.box import Wall
from handrail.core.project import Client, Workspace
from handrail.wire.payloads import Count, Success

# The answer to a client that opened its stream with `heartbeat` tells its lease here.
LEASE_HEADER = "Handrail-Lease-Seconds"


class StreamQuery(BaseModel):
    """How the stream is opened. A field that a later version adds is ignored."""

    heartbeat: bool = Field(
        default=False,
        description="For a client: it sends heartbeats. The header `Handrail-Lease-Seconds` of the "
        "answer says how soon it counts as gone without one.",
    )


class HeartbeatResponse(BaseModel):
    success: Success = True
    connected: bool = Field(
        description="Whether the client counts as connected. If not, it must open its stream again."
    )


class ClientView(BaseModel):
    client_id: str = Field(description="The machine's client, `cli_…`.")
    name: str = Field(description="What it is called.")
    workspace_id: str = Field(description="The folder it executes in.")
    machine: str = Field(description="The machine where that folder lies.")
    root: str = Field(description="Its path there.")
    walls: list[Wall] = Field(description="What is proven to keep commands in there.")
    boxed: bool = Field(description="Whether that is enough for a command to run without asking.")
    registered_at: datetime = Field(description="When it was registered.")
    connected: bool = Field(description="Whether its stream is open and its lease holds.")
    left_at: datetime | None = Field(
        description="When it left; null while it is here, and where it has not been since the "
        "server started."
    )

    @classmethod
    def of(
        cls, client: Client, workspace: Workspace, *, connected: bool, left_at: datetime | None
    ) -> Self:
        return cls(
            client_id=client.id,
            name=client.name,
            workspace_id=workspace.id,
            machine=workspace.machine,
            root=workspace.root,
            walls=list(workspace.walls),
            boxed=workspace.is_boxed,
            registered_at=client.created_at,
            connected=connected,
            left_at=left_at,
        )


class ClientsResponse(BaseModel):
    success: Success = True
    clients: list[ClientView] = Field(description="The machines.")
    total_count: Count
