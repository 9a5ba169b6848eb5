"""The statements about what is counted hour by hour."""

from sqlalchemy import ColumnElement, Integer, Text, bindparam, case, cast, func, literal, select
from sqlalchemy.dialects.postgresql import insert as upsert

from handrail.core.analytics import Counted, Outcome
from handrail.core.approval import ApprovalStatus
from handrail.store.analytics_schema import hourly_counts as counts
from handrail.store.chat_schema import token_usage
from handrail.store.schema import grants, tool_approvals
from handrail.store.statements import everything

_counted = upsert(counts).values(everything(counts))
ADD_COUNT = _counted.on_conflict_do_update(
    index_elements=[column.name for column in counts.primary_key.columns],
    set_={"calls": counts.c.calls + _counted.excluded.calls},
)

_calls = func.sum(counts.c.calls)
_per_bucket = bindparam("bucket_hours", type_=Integer())
_bucket = (counts.c.hour - counts.c.hour % _per_bucket).label("bucket")


def _within(*kinds: Counted) -> tuple[ColumnElement[bool], ...]:
    return (
        counts.c.project_id == bindparam("project_id"),
        counts.c.kind.in_([literal(kind) for kind in kinds]),
        counts.c.hour >= bindparam("first_hour"),
        counts.c.hour < bindparam("end_hour"),
    )


def _with_answer(status: ApprovalStatus) -> ColumnElement[int]:
    return func.sum(case((counts.c.detail == status, counts.c.calls), else_=0))


_outcome = case((counts.c.kind == Counted.PASS, Outcome.AUTO_APPROVED), else_=counts.c.name)
COUNT_OUTCOMES = (
    select(_bucket, _outcome, _calls)
    .where(*_within(Counted.OUTCOME, Counted.PASS))
    .group_by(_bucket, _outcome)
)
_waits = (
    select(
        _bucket,
        counts.c.value,
        _calls.label("calls"),
        func.sum(counts.c.calls * cast(counts.c.detail, Integer)).label("limit_seconds"),
    )
    .where(*_within(Counted.WAIT))
    .group_by(_bucket, counts.c.value)
    .subquery()
)
_ranked = select(
    _waits,
    func.sum(_waits.c.calls)
    .over(partition_by=_waits.c.bucket, order_by=_waits.c.value)
    .label("up_to"),
    func.sum(_waits.c.calls).over(partition_by=_waits.c.bucket).label("all_calls"),
).subquery()


def _percentile(percent: int) -> ColumnElement[int]:
    """By the nearest rank: the first value up to which there are so many."""
    reached = _ranked.c.up_to * 100 >= _ranked.c.all_calls * percent
    return func.min(case((reached, _ranked.c.value)))


MEASURE_WAITS = (
    select(
        _ranked.c.bucket,
        func.sum(_ranked.c.calls),
        _percentile(50),
        _percentile(90),
        func.sum(_ranked.c.limit_seconds) * 1000 // func.sum(_ranked.c.calls),
    )
    .group_by(_ranked.c.bucket)
    .order_by(_ranked.c.bucket)
)
# A grant is known by its words: the same ones are given in one session after another.
_by = case((grants.c.id.is_not(None), "grant"), else_=counts.c.name)
COUNT_PASSES = (
    select(_by, grants.c.words, counts.c.tool_name, _calls)
    .select_from(counts.outerjoin(grants, grants.c.id == counts.c.name))
    .where(*_within(Counted.PASS))
    .group_by(_by, grants.c.words, counts.c.tool_name)
    .order_by(_calls.desc(), counts.c.tool_name)
    .limit(bindparam("limit"))
)
COUNT_ASKED = (
    select(
        counts.c.name,
        counts.c.tool_name,
        _calls,
        _with_answer(ApprovalStatus.APPROVED),
        _with_answer(ApprovalStatus.REJECTED),
        _with_answer(ApprovalStatus.EXPIRED),
    )
    .where(*_within(Counted.ASKED))
    .group_by(counts.c.name, counts.c.tool_name)
    .order_by(_calls.desc(), counts.c.name)
    .limit(bindparam("limit"))
)
COUNT_ERRORS = (
    select(counts.c.name, counts.c.tool_name, counts.c.detail, _calls)
    .where(*_within(Counted.ERROR))
    .group_by(counts.c.name, counts.c.tool_name, counts.c.detail)
    .order_by(_calls.desc(), counts.c.name, counts.c.tool_name)
    .limit(bindparam("limit"))
)
FIND_LAST_ASKED = (
    select(tool_approvals.c.class_words, tool_approvals.c.tool_input, tool_approvals.c.risk_level)
    .where(
        tool_approvals.c.project_id == bindparam("project_id"),
        tool_approvals.c.class_key == bindparam("class_key", type_=Text()),
        tool_approvals.c.class_key.is_not(None),
    )
    .order_by(tool_approvals.c.created_at.desc())
    .limit(1)
)
LIST_USAGE = (
    select(
        token_usage.c.day,
        token_usage.c.input_tokens,
        token_usage.c.output_tokens,
        token_usage.c.cached_tokens,
    )
    .where(
        token_usage.c.user_id == bindparam("user_id"),
        token_usage.c.day >= bindparam("first_day"),
        token_usage.c.day <= bindparam("last_day"),
    )
    .order_by(token_usage.c.day)
)
