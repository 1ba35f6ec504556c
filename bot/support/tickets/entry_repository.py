"""Read and write the entries of tickets. Their texts are encrypted."""

from dataclasses import asdict, replace
from typing import Any

from sqlalchemy import func, select, update

from bot.infra.db.repository import Repository
from bot.support.model import EntryKind, MediaKind, TicketEntry
from bot.support.tickets.tables import ticket_entries

CHANGES = ("kind", "text", "media", "file_id", "message_id", "delivered_at", "failure", "edited_at", "withdrawn_at")


class TicketEntryRepository(Repository[TicketEntry]):
    """Read and write the entries of tickets."""

    table = ticket_entries

    async def add(self, entry: TicketEntry) -> TicketEntry | None:
        """Insert an entry with the next number of its ticket. Return None if its original message was saved before."""
        while await self.of_source(entry.source_chat_id, entry.source_message_id) is None:
            newest = select(func.max(ticket_entries.c.number)).where(ticket_entries.c.ticket == entry.ticket)
            numbered = replace(entry, number=(await self._connection.scalar(newest) or 0) + 1)
            if await self._insert(numbered):
                return numbered
            # On PostgreSQL, another process may have used the number, or saved the message, at the same time.
        return None

    async def get(self, ticket: str, number: int) -> TicketEntry | None:
        """Return one entry."""
        return await self._get(select(ticket_entries).where(ticket_entries.c.id == f"{ticket}.{number}"))

    async def of_ticket(self, ticket: str) -> tuple[TicketEntry, ...]:
        """Return the entries of a ticket, oldest first."""
        of_ticket = select(ticket_entries).where(ticket_entries.c.ticket == ticket)
        return await self._find(of_ticket.order_by(ticket_entries.c.number))

    async def undecided_of(self, ticket: str, author_id: int) -> tuple[TicketEntry, ...]:
        """Return what this agent wrote in the ticket's conversation and hasn't decided about, oldest first."""
        return tuple(
            entry
            for entry in await self.of_ticket(ticket)
            if entry.kind is EntryKind.UNDECIDED and entry.author_id == author_id
        )

    async def of_source(self, chat_id: int, message_id: int) -> TicketEntry | None:
        """Return the entry of an original message."""
        of_chat = select(ticket_entries).where(ticket_entries.c.source_chat_id == chat_id)
        return await self._get(of_chat.where(ticket_entries.c.source_message_id == message_id))

    async def save(self, entry: TicketEntry) -> None:
        """Save the columns of an entry that can change (`CHANGES`)."""
        row = self._seal(entry)
        changed = {name: row[name] for name in CHANGES}
        await self._change(update(ticket_entries).where(ticket_entries.c.id == entry.id), changed)

    def _to_row(self, value: TicketEntry) -> dict[str, Any]:
        return {"id": value.id, **asdict(value)}

    def _to_value(self, known: dict[str, Any]) -> TicketEntry:
        del known["id"]
        known["kind"] = EntryKind(known["kind"])
        known["media"] = MediaKind(known["media"]) if known["media"] else None
        return TicketEntry(**known)
