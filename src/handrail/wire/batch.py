"""Bodies of several calls in one request."""

from typing import Any

from pydantic import BaseModel, Field

from handrail.wire.payloads import MAX_WAIT_SECONDS, Body, ExecutionView, Label, SessionName

MOST_CALLS = 100


class BatchCall(Body):
    tool_name: str = Field(min_length=1, max_length=100)
    tool_params: dict[str, Any]
    call_id: Label
    reasoning: str | None = Field(default=None, max_length=10_000)


class BatchRequest(Body):
    """Several calls: side by side or, as a `chain`, each with what those before it gave back.

    In a chain, a parameter that is just `${1.content}` stands for that field of the first
    call's result.
    """

    session_id: SessionName
    calls: list[BatchCall] = Field(min_length=1, max_length=MOST_CALLS)
    chain: bool = False
    wait: float = Field(default=0.0, ge=0.0, le=MAX_WAIT_SECONDS)


class BatchPart(BaseModel):
    """One call of a batch: its execution, or in words why there is none."""

    call_id: str
    execution: ExecutionView | None
    error: str | None


class BatchResponse(BaseModel):
    """`success` is true when every call has completed and succeeded."""

    success: bool
    results: list[BatchPart]
    total_count: int
