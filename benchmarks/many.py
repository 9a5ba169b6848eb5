"""Many rows out of a few: the same calls again and again, at other times."""

from sqlalchemy import Table

from handrail.store.sqlite_file import SqliteFile

_KEYS = {"id", "call_id", "approval_id", "request_id", "execution_id"}


def copy_rows(database: SqliteFile, table: Table, times: int, step: int) -> None:
    """Have each row `times` times in all, each `step` microseconds after the one before."""
    names = [column.name for column in table.columns]
    copied = ", ".join(_copied(name, step) for name in names)
    database.run("BEGIN")
    database.run(
        f"INSERT INTO {table.name} ({', '.join(names)}) SELECT {copied} FROM {table.name}, ("
        "WITH RECURSIVE n(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM n WHERE k + 1 < ?)"
        " SELECT k FROM n WHERE k < ?)",
        (times, times),
    )
    database.run("COMMIT")


def _copied(name: str, step: int) -> str:
    if name.endswith("_at"):
        return f"{name} + k * {step}"
    return f"{name} || '-' || k" if name in _KEYS else name
