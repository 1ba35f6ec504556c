"""Where everything is kept: SQLAlchemy Core on SQLite or PostgreSQL, one repository an aggregate.

`SqlStore` is the store of `bot.actions.ports`; `migrate` brings its tables up to date; `errors` draws what can
go wrong.
"""

from bot.store.errors import SchemaMismatch, StoreError, StoreFailure, UnusableUrl
from bot.store.store import SqlStore
from bot.store.vault import NoKeys, UnfitKeys, Vault

__all__ = ["NoKeys", "SchemaMismatch", "SqlStore", "StoreError", "StoreFailure", "UnfitKeys", "UnusableUrl", "Vault"]
