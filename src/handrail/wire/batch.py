"""Bodies of several calls in one request."""

from pydantic import BaseModel, Field

from handrail.wire.payloads import (
    MAX_WAIT_SECONDS,
    Body,
    CallWords,
    Count,
    ExecutionView,
    SessionName,
)

MOST_CALLS = 100


class BatchCall(CallWords):
    """One call of several."""


class BatchRequest(Body):
    """Several calls: side by side or, as a `chain`, each with what those before it gave back.

    In a chain, a parameter that is just `${1.content}` stands for that field of the first
    call's result.
    """

    session_id: SessionName = Field(description="The conversation or run they belong to.")
    calls: list[BatchCall] = Field(
        min_length=1, max_length=MOST_CALLS, description="The calls, in order."
    )
    chain: bool = Field(
        default=False, description="Whether each waits for the one before, and may use its result."
    )
    wait: float = Field(
        default=0.0,
        ge=0.0,
        le=MAX_WAIT_SECONDS,
        description="Seconds to wait for their ends before answering.",
    )


class BatchPart(BaseModel):
    """One call of a batch: its execution, or in words why there is none."""

    call_id: str = Field(description="The id the asker gave it.")
    execution: ExecutionView | None = Field(description="The call.")
    error: str | None = Field(description="Why there is none.")


class BatchResponse(BaseModel):
    """`success` is true when every call has completed and succeeded."""

    success: bool = Field(description="Whether every call has completed and succeeded.")
    results: list[BatchPart] = Field(description="One for each call, in the same order.")
    total_count: Count
