"""Alembic's entry: runs the migrations on the connection that `migrate` gives."""

from alembic import context

from dialogs.record.tables import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    # SQLite rolls tables back like rows, as long as the driver does not commit by itself.
    transactional_ddl=True,
    transaction_per_migration=False,
)
with context.begin_transaction():
    context.run_migrations()
