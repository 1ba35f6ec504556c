"""One transaction: what the repositories of every feature are built on."""

from dataclasses import dataclass

from sqlalchemy.ext.asyncio import AsyncConnection

from bot.infra.db.vault import Vault


@dataclass(frozen=True, slots=True)
class Transaction:
    """A connection within its transaction, and the keys to what is encrypted in the rows."""

    connection: AsyncConnection
    vault: Vault
