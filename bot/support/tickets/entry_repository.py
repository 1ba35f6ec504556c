"""Read and write the entries of tickets. Their texts are encrypted."""

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

from sqlalchemy import Select, bindparam, func, select, update

from bot.infra.db import encryption, upsert
from bot.infra.db.transaction import Transaction
from bot.support.model import EntryKind, MediaKind, TicketEntry
from bot.support.tickets.tables import ticket_entries

OF_TICKET = (
    select(ticket_entries).where(ticket_entries.c.ticket == bindparam("of_ticket")).order_by(ticket_entries.c.number)
)
ONE = select(ticket_entries).where(ticket_entries.c.id == bindparam("key"))
OF_SOURCE = select(ticket_entries).where(
    ticket_entries.c.source_chat_id == bindparam("chat"), ticket_entries.c.source_message_id == bindparam("message")
)
LAST = select(func.max(ticket_entries.c.number)).where(ticket_entries.c.ticket == bindparam("of_ticket"))
SAVE = update(ticket_entries).where(ticket_entries.c.id == bindparam("key"))
CHANGES = ("kind", "text", "media", "file_id", "message_id", "delivered_at", "failure", "edited_at", "withdrawn_at")


class TicketEntryRepository:
    """Read and write the entries of tickets."""

    def __init__(self, tx: Transaction) -> None:
        self._connection = tx.connection
        self._vault = tx.vault

    async def add(self, entry: TicketEntry) -> TicketEntry | None:
        """Insert an entry with the next number of its ticket. Return None if its original message was saved before."""
        while await self.of_source(entry.source_chat_id, entry.source_message_id) is None:
            last = (await self._connection.execute(LAST, {"of_ticket": entry.ticket})).scalar_one()
            numbered = replace(entry, number=(last or 0) + 1)
            if await upsert.insert_new(self._connection, ticket_entries, self._row(numbered)):
                return numbered
            # On PostgreSQL, another process may have used the number, or saved the message, at the same time.
        return None

    async def get(self, ticket: str, number: int) -> TicketEntry | None:
        """Return one entry."""
        return await self._one(ONE, {"key": f"{ticket}.{number}"})

    async def of_ticket(self, ticket: str) -> tuple[TicketEntry, ...]:
        """Return the entries of a ticket, oldest first."""
        return await self._all(OF_TICKET, {"of_ticket": ticket})

    async def undecided_of(self, ticket: str, author_id: int) -> tuple[TicketEntry, ...]:
        """Return what this agent wrote in the ticket's conversation and hasn't decided about, oldest first."""
        return tuple(
            entry
            for entry in await self.of_ticket(ticket)
            if entry.kind is EntryKind.UNDECIDED and entry.author_id == author_id
        )

    async def of_source(self, chat_id: int, message_id: int) -> TicketEntry | None:
        """Return the entry of an original message."""
        return await self._one(OF_SOURCE, {"chat": chat_id, "message": message_id})

    async def save(self, entry: TicketEntry) -> None:
        """Save the columns of an entry that can change (`CHANGES`)."""
        row = self._row(entry)
        await self._connection.execute(SAVE.values({name: row[name] for name in CHANGES}), {"key": entry.id})

    def _row(self, entry: TicketEntry) -> dict[str, Any]:
        return encryption.seal_row(self._vault, ticket_entries, {"id": entry.id, **asdict(entry)})

    async def _one(self, statement: Select[Any], parameters: Mapping[str, object]) -> TicketEntry | None:
        row = (await self._connection.execute(statement, parameters)).mappings().first()
        return encryption.read_row(self._vault, ticket_entries, dict(row), _to_entry) if row else None

    async def _all(self, statement: Select[Any], parameters: Mapping[str, object]) -> tuple[TicketEntry, ...]:
        found = await self._connection.execute(statement, parameters)
        return encryption.read_rows(self._vault, ticket_entries, found.mappings(), _to_entry)


def _to_entry(known: dict[str, Any]) -> TicketEntry:
    named = {name: value for name, value in known.items() if name != "id"}
    named["kind"] = EntryKind(known["kind"])
    named["media"] = MediaKind(known["media"]) if known["media"] else None
    return TicketEntry(**named)
