"""The transaction that every repository works in."""

from dataclasses import dataclass

from sqlalchemy.ext.asyncio import AsyncConnection

from bot.infra.db.vault import Vault


@dataclass(frozen=True, slots=True)
class Transaction:
    """A connection inside its transaction, and the vault for sealed columns."""

    connection: AsyncConnection
    vault: Vault
