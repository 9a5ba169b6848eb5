"""Names of things: unguessable, prefixed with their kind, sorted by the time they were made."""

import secrets
from datetime import datetime
from typing import NewType

UserId = NewType("UserId", str)
ProjectId = NewType("ProjectId", str)
WorkspaceId = NewType("WorkspaceId", str)
ClientId = NewType("ClientId", str)
AgentId = NewType("AgentId", str)
TokenId = NewType("TokenId", str)
ExecutionId = NewType("ExecutionId", str)
ApprovalId = NewType("ApprovalId", str)
GrantId = NewType("GrantId", str)
RunId = NewType("RunId", str)
MessageId = NewType("MessageId", str)

# The server itself, where it is the machine that executes.
INSIDE = ClientId("server")

# Handrail's own agent, on cards and in the record; no token speaks under this name.
OWN_AGENT = "handrail"

# Chosen by whoever asks, unique within a project and within a session.
SessionId = NewType("SessionId", str)
CallId = NewType("CallId", str)


def mint(prefix: str, at: datetime) -> str:
    """Make an id like `exe_018f3c…`: 48 bits of time, so that rows lie in order, 80 of chance."""
    milliseconds = int(at.timestamp() * 1000)
    return f"{prefix}_{milliseconds:012x}{secrets.token_hex(10)}"
