"""The statements about what results have told of."""

from sqlalchemy import bindparam, select
from sqlalchemy.dialects.postgresql import insert as upsert

from handrail.store.statements import everything
from handrail.store.told_schema import told_values

# Who told it first stays; reading a file again adds nothing.
KEEP_TOLD = upsert(told_values).values(everything(told_values)).on_conflict_do_nothing()
FIND_TELLER = (
    select(told_values.c.execution_id)
    .where(
        told_values.c.project_id == bindparam("project_id"),
        told_values.c.circle == bindparam("circle"),
        told_values.c.value == bindparam("value"),
        (told_values.c.path == "") | (told_values.c.path != bindparam("path")),
    )
    .order_by(told_values.c.told_at, told_values.c.execution_id)
    .limit(1)
)
