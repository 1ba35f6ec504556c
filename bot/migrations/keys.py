"""For migrations that seal: which keys the database knows."""

import sqlalchemy as sa
from alembic import context, op

from bot.infra.db.keys import MISSING
from bot.infra.db.vault import UnfitKeys


def note_key() -> None:
    """Write down which key seals; seal nothing where a key of this database is missing.

    Raises:
        UnfitKeys: one is missing.
    """
    vault, keys = context.config.attributes["vault"], sa.table("sealing_keys", sa.column("name"))
    known = set(op.get_bind().execute(sa.select(keys.c.name)).scalars())
    if known - vault.names:
        raise UnfitKeys(MISSING)
    if vault.first and vault.first not in known:
        op.bulk_insert(keys, [{"name": vault.first}])
