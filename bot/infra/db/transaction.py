"""The transaction that every repository works in."""

from collections.abc import Callable
from dataclasses import dataclass, field

from bot.infra.db.connection import Connection
from bot.infra.db.vault import Vault


@dataclass(frozen=True, slots=True)
class Transaction:
    """A connection inside its transaction, and the vault for sealed columns."""

    connection: Connection
    vault: Vault
    on_commit: list[Callable[[], None]] = field(default_factory=list)
    """Called once the transaction is committed, such as to log what it saved. They must not raise errors."""

    on_rollback: list[Callable[[], None]] = field(default_factory=list)
    """Called if it fails instead. If the connection is lost meanwhile, it may have been committed all the same."""

    chats: set[int] = field(default_factory=set)
    """The chats in which it queues notifications (`Database.before_commit`)."""
