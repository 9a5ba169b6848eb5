"""Bodies about what was decided, in numbers."""

from datetime import datetime
from typing import Literal, Self

from pydantic import BaseModel, Field

from handrail.core.analytics import SERVER, AskedCount, Bucket, ErrorCount, LastAsked, PassCount
from handrail.core.model import Usage
from handrail.core.suggestion import Suggestion
from handrail.wire.payloads import Success

RULE_FILE = ".handrail/policy.toml"

AutoApproved = Field(description="Calls that passed without a question.")
Approved = Field(description="Questions that a person said yes to.")
Refused = Field(description="Questions that a person said no to.")
Expired = Field(description="Questions that were not answered in time.")
Denied = Field(description="Calls that the rules turned away.")
OverLimit = Field(description="Calls refused because their agent had too many open questions.")


class OutcomesView(BaseModel):
    auto_approved: int = AutoApproved
    approved: int = Approved
    refused: int = Refused
    expired: int = Expired
    denied: int = Denied
    over_limit: int = OverLimit


class DecisionPoint(OutcomesView):
    at: datetime = Field(description="When the bucket begins.")


class WaitsView(BaseModel):
    answered: int = Field(description="Questions that a person answered.")
    median_ms: int | None = Field(
        description="Half of them were answered within so many milliseconds, to two digits."
    )
    p90_ms: int | None = Field(description="Nine of ten were answered within these.")
    timeout_ms: int | None = Field(description="How long they could have waited, on average.")


class WaitPoint(WaitsView):
    at: datetime = Field(description="When the bucket begins.")


class PassView(BaseModel):
    by: Literal["low_risk", "full_autonomy", "grant"] = Field(
        description="Why no person was asked: it could only look, its session has full autonomy, "
        "or "
        "a person had granted it."
    )
    words: str | None = Field(description="What was granted, where it was a grant.")
    tool_name: str = Field(description="The tool.")
    calls: int = Field(description="How many calls.")

    @classmethod
    def of(cls, count: PassCount) -> Self:
        known = count.by in ("low_risk", "full_autonomy")
        by: Literal["low_risk", "full_autonomy", "grant"]
        by = "grant" if not known else "low_risk" if count.by == "low_risk" else "full_autonomy"
        return cls(by=by, words=count.words, tool_name=count.tool_name, calls=count.calls)


class RuleTextView(BaseModel):
    file: str = Field(description="The file it belongs in, as it lies in the workspace.")
    text: str = Field(description="The row to add, as TOML.")
    covers: str = Field(description="What it catches, which may be more than what was asked.")

    @classmethod
    def of(cls, suggestion: Suggestion) -> Self:
        return cls(file=RULE_FILE, text=suggestion.text, covers=suggestion.covers)


class AskedView(BaseModel):
    """A class of calls; those without a class are taken together, tool by tool."""

    class_words: str | None = Field(description="The class in words, if they have one.")
    tool_name: str = Field(description="The tool.")
    risk_level: str | None = Field(description="How risky the latest one was.")
    asked: int = Field(description="How many questions have ended.")
    approved: int = Approved
    refused: int = Refused
    expired: int = Expired
    refusal: RuleTextView | None = Field(
        description="The rule that refuses these without asking; null where none can say so."
    )

    @classmethod
    def of(cls, counts: AskedCount, last: LastAsked | None, refusal: Suggestion | None) -> Self:
        return cls(
            class_words=None if last is None else last.words,
            tool_name=counts.tool_name,
            risk_level=None if last is None else last.risk_level.name,
            asked=counts.asked,
            approved=counts.approved,
            refused=counts.refused,
            expired=counts.expired,
            refusal=None if refusal is None else RuleTextView.of(refusal),
        )


class ErrorView(BaseModel):
    executor: Literal["client", "server"] | None = Field(
        description="Who was to do it; null where it did not come that far."
    )
    client_id: str | None = Field(description="Which machine, if it was one.")
    client_name: str | None = Field(description="What that machine is called.")
    tool_name: str = Field(description="The tool.")
    error_type: str = Field(description="What kind of failure it was.")
    calls: int = Field(description="How many calls.")

    @classmethod
    def of(cls, count: ErrorCount, names: dict[str, str]) -> Self:
        is_server, is_client = count.executor == SERVER, count.executor not in ("", SERVER)
        return cls(
            executor="server" if is_server else "client" if is_client else None,
            client_id=count.executor if is_client else None,
            client_name=names.get(count.executor),
            tool_name=count.tool_name,
            error_type=count.error_type,
            calls=count.calls,
        )


class TokenDay(BaseModel):
    day: str = Field(description="The day in UTC, such as `2026-11-17`.")
    used_tokens: int = Field(description="What the person's agents have used, in and out.")
    input_tokens: int = Field(description="What the models were told, cached tokens included.")
    output_tokens: int = Field(description="What the models said.")
    cached_tokens: int = Field(description="What the providers had kept of what they were told.")

    @classmethod
    def of(cls, day: str, used: Usage) -> Self:
        return cls(
            day=day,
            used_tokens=used.total,
            input_tokens=used.input_tokens,
            output_tokens=used.output_tokens,
            cached_tokens=used.cached_tokens,
        )


class TokensView(BaseModel):
    limit_tokens: int | None = Field(
        description="What may be used in a day, as it is set now; null where nothing is said."
    )
    days: list[TokenDay] = Field(description="Every day, in all projects of the person.")


class AnalyticsResponse(BaseModel):
    """Whole hours or days, in UTC, and all that happened in them in this project."""

    success: Success = True
    starts_at: datetime = Field(description="When the first bucket begins.")
    ends_at: datetime = Field(description="When the last bucket ends.")
    bucket: Bucket = Field(description="How long each is.")
    totals: OutcomesView = Field(description="All decisions taken together.")
    decisions: list[DecisionPoint] = Field(description="The same, bucket by bucket.")
    waiting: int = Field(description="How many questions wait for an answer now.")
    waits: WaitsView = Field(description="How long people took to answer.")
    wait_points: list[WaitPoint] = Field(description="The same, bucket by bucket.")
    passes: list[PassView] = Field(
        description="Why calls ran without asking, the most frequent reason first; at most 20."
    )
    asked: list[AskedView] = Field(
        description="What people were asked about most, at most 12 classes."
    )
    errors: list[ErrorView] = Field(
        description="What went wrong, the most frequent first; at most 30."
    )
    tokens: TokensView = Field(description="What was used of the daily budget.")
