"""Alembic's door: steps are only ever written out as SQL, never run from here."""

from alembic import context

context.configure(
    dialect_name=context.config.attributes["dialect"],
    literal_binds=True,
    dialect_opts={"paramstyle": "named"},
    transactional_ddl=False,
)
context.run_migrations()
