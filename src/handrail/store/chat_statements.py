"""The statements about conversations, their runs and their cost."""

from sqlalchemy import and_, bindparam, exists, func, insert, or_, select, update
from sqlalchemy.dialects.postgresql import insert as upsert

from handrail.store.chat_schema import RUNNING, messages, runs, token_usage
from handrail.store.schema import sessions
from handrail.store.statements import everything

ADD_RUN = insert(runs).from_select(
    [column.name for column in runs.columns],
    select(*everything(runs).values()).where(
        exists().where(
            sessions.c.project_id == bindparam("expected_project"),
            sessions.c.id == bindparam("expected_session"),
            sessions.c.stopped_at.is_(None),
        )
    ),
)
_STILL_RUNS = and_(
    runs.c.id == bindparam("expected_run"),
    RUNNING,
    or_(
        bindparam("expected_epoch", type_=runs.c.epoch.type).is_(None),
        runs.c.epoch == bindparam("expected_epoch"),
    ),
)
MOVE_RUN = (
    update(runs)
    .where(
        _STILL_RUNS,
        or_(
            bindparam("last_seq", type_=messages.c.seq.type).is_(None),
            ~exists().where(
                messages.c.project_id == runs.c.project_id,
                messages.c.session_id == runs.c.session_id,
                messages.c.seq > bindparam("last_seq"),
            ),
        ),
    )
    .values(
        {
            name: bindparam(name)
            for name in ("status", "epoch", "owner", "leased_until", "ended_at", "error")
        }
    )
)
ADD_MESSAGE = insert(messages).from_select(
    [column.name for column in messages.columns],
    select(*everything(messages).values()).where(exists(select(runs.c.id).where(_STILL_RUNS))),
)
_counted = upsert(token_usage).values(everything(token_usage))
COUNT_TOKENS = _counted.on_conflict_do_update(
    index_elements=["user_id", "day"],
    set_={
        name: token_usage.c[name] + _counted.excluded[name]
        for name in ("input_tokens", "output_tokens", "cached_tokens")
    },
)

FIND_RUN = select(runs).where(runs.c.id == bindparam("run_id"))
FIND_LAST_RUN = (
    select(runs)
    .where(
        runs.c.project_id == bindparam("project_id"),
        runs.c.session_id == bindparam("session_id"),
    )
    .order_by(runs.c.created_at.desc(), runs.c.id.desc())
    .limit(1)
)
LIST_RUNNING = select(runs).where(RUNNING).order_by(runs.c.created_at)
LIST_MESSAGES = (
    select(messages)
    .where(
        messages.c.project_id == bindparam("project_id"),
        messages.c.session_id == bindparam("session_id"),
        messages.c.seq > bindparam("after"),
    )
    .order_by(messages.c.seq)
    .limit(bindparam("limit"))
)
LAST_SEQ = select(func.max(messages.c.seq)).where(
    messages.c.project_id == bindparam("project_id"),
    messages.c.session_id == bindparam("session_id"),
)
FIND_MESSAGE = select(messages).where(messages.c.id == bindparam("message_id"))
_last_said = (
    select(func.max(messages.c.at))
    .where(messages.c.project_id == runs.c.project_id, messages.c.session_id == runs.c.session_id)
    .scalar_subquery()
)
_first = messages.alias("first")
_later = runs.alias("later")
LIST_TALKS = (
    select(runs.c.session_id, _first.c.parts, _first.c.at, _last_said, runs.c.status)
    .select_from(
        runs.join(
            _first,
            and_(
                _first.c.project_id == runs.c.project_id,
                _first.c.session_id == runs.c.session_id,
                _first.c.seq == 1,
            ),
        )
    )
    .where(
        runs.c.project_id == bindparam("project_id"),
        ~exists().where(
            _later.c.project_id == runs.c.project_id,
            _later.c.session_id == runs.c.session_id,
            _later.c.created_at > runs.c.created_at,
        ),
    )
    .order_by(_last_said.desc())
    .limit(bindparam("limit"))
)
READ_USAGE = select(
    token_usage.c.input_tokens, token_usage.c.output_tokens, token_usage.c.cached_tokens
).where(token_usage.c.user_id == bindparam("user_id"), token_usage.c.day == bindparam("day"))
