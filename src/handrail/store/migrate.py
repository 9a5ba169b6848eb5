"""Bringing a database to the present: a copy is kept, then every step runs in one transaction.

Alembic knows the steps and writes them as SQL for the database's dialect; our own driver runs
them. So the driver that owns the file is the only one that ever touches it.
"""

import io
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path

from handrail.core.errors import SetupError, StoreTooNew
from handrail.store.sqlite_file import SqliteError, SqliteFile

# The newest step in migrations/versions; a test holds it to the folder.
HEAD = "0020"


def migrate_sqlite(path: Path) -> None:
    """Create or upgrade the database at `path`.

    Raises:
        StoreTooNew: A newer Handrail has written it.
        SetupError: It cannot be opened as a database.
        StoreUnavailable: It is damaged, or its disk is full, read-only or locked.
    """
    try:
        database = SqliteFile(path)
    except (SqliteError, OSError) as error:
        raise SetupError(f"{path} cannot be opened as a database: {error}") from error
    try:
        version = _version(database)
        if version == HEAD:
            return
        if version is not None and version > HEAD:
            raise StoreTooNew(
                f"{path} was written by a newer Handrail (schema {version}, this one knows {HEAD})."
                " Upgrade Handrail, or start it with another --home."
            )
        if version is not None:
            _keep_copy(database, path, version)
        _run_steps(database, version)
    finally:
        database.close()


def _version(database: SqliteFile) -> str | None:
    known = database.run("SELECT 1 FROM sqlite_master WHERE name = 'alembic_version'")
    if not known:
        return None
    rows = database.run("SELECT version_num FROM alembic_version")
    return str(rows[0][0]) if rows else None


def _keep_copy(database: SqliteFile, path: Path, version: str) -> None:
    copy = path.with_name(f"{path.name}.before-{HEAD}-was-{version}")
    copy.unlink(missing_ok=True)
    # SQLite fills an empty file, and would make one that others can read.
    copy.touch(mode=0o600)
    database.run("VACUUM INTO ?", (str(copy),))


def _run_steps(database: SqliteFile, version: str | None) -> None:
    database.run("BEGIN IMMEDIATE")
    try:
        # Somebody else may have done it while we waited for the lock.
        if _version(database) == version:
            database.run(steps_as_sql("sqlite", version))
        database.run("COMMIT")
    except BaseException:
        database.roll_back()
        raise


@cache
def steps_as_sql(dialect: str, version: str | None, until: str = HEAD) -> str:
    """Every step from `version` to `until`, as one script."""
    # Alembic takes a third of a second to load and is needed once in many starts.
    from alembic import command
    from alembic.config import Config

    script = io.StringIO()
    with as_file(files("handrail.store").joinpath("migrations")) as folder:
        config = Config(output_buffer=script)
        config.set_main_option("script_location", str(folder))
        config.set_main_option("path_separator", "os")
        config.attributes["dialect"] = dialect
        command.upgrade(config, f"{version or 'base'}:{until}", sql=True)
    return script.getvalue()
