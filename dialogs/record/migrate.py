"""Bringing a database to the current tables. Migrations only add."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy import Connection, text
from sqlalchemy.exc import SQLAlchemyError

from dialogs.record.engine import no_answer, open_engine, parse_url
from dialogs.record.errors import CannotOpen

_LOCK = 0x44756F6C6F677565
"""PostgreSQL advisory lock: processes that start together migrate one after the other."""


def config(connection: Connection | None = None) -> Config:
    """Alembic's configuration, without a file: the scripts lie in this package."""
    made = Config()
    made.set_main_option("script_location", str(Path(__file__).with_name("migrations")))
    made.attributes["connection"] = connection
    return made


def migrate(url: str) -> None:
    """Apply what is missing. Safe to call from several processes at once.

    Raises:
        CannotOpen: the database was written by a newer version of Duologue, is in use for long,
            or does not answer.
    """
    parsed = parse_url(url)
    if parsed.get_backend_name() == "sqlite" and parsed.database:
        Path(parsed.database).parent.mkdir(parents=True, exist_ok=True)
    engine = open_engine(url, patient=True)
    try:
        with engine.begin() as connection:
            if connection.dialect.name == "postgresql":
                connection.execute(text("SET LOCAL statement_timeout = 0"))
                connection.execute(text("SET LOCAL lock_timeout = 0"))
                connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
            command.upgrade(config(connection), "head")
    except CommandError as error:
        raise CannotOpen(
            f"the database {parsed.render_as_string(hide_password=True)} was written by another "
            f"version of Duologue ({error}); use that version or a newer one"
        ) from None
    except SQLAlchemyError as error:
        raise no_answer(engine, error) from None
    finally:
        engine.dispose()


def newest() -> str:
    """The id of the newest migration."""
    head = ScriptDirectory.from_config(config()).get_current_head()
    assert head is not None, "the package holds at least one migration"
    return head
