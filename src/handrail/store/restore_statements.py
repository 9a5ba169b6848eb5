"""Statements about restores from a backup."""

from sqlalchemy import bindparam, select

from handrail.core.restoration import RESTORED
from handrail.store.schema import audit

LIST_RESTORED = (
    select(audit)
    .where(audit.c.project_id == bindparam("project_id"), audit.c.action == RESTORED)
    .order_by(audit.c.seq)
)
