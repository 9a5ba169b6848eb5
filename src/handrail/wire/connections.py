"""How a client says that it is alive."""

from pydantic import BaseModel, Field

from handrail.wire.payloads import Success

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
