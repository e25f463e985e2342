"""Alembic's entry: runs the migrations on the connection that `migrate` gives."""

from alembic import context

from dialogs.record.tables import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    transaction_per_migration=False,
)
with context.begin_transaction():
    context.run_migrations()
