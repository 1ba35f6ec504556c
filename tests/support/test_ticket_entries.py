"""Entries are saved once, with a number in their ticket."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from bot.infra.db.database import Database
from bot.support.model import EntryKind, MediaKind, TicketEntry
from bot.support.repository import TicketEntryRepository, TicketRepository
from tests.support.builders import a_ticket, an_entry
from tests.times import NOW, SECOND

LATER = NOW + SECOND


@pytest.fixture
async def tickets(store: Database) -> None:
    """Two open tickets."""
    async with store.transaction() as tx:
        for name in ("T-2345A", "T-3456B"):
            assert await TicketRepository(tx).add(a_ticket(name))


async def adds(store: Database, *entries: TicketEntry) -> list[TicketEntry | None]:
    async with store.transaction() as tx:
        return [await TicketEntryRepository(tx).add(entry) for entry in entries]


async def numbers(store: Database, ticket: str) -> list[int]:
    async with store.reading() as tx:
        return [entry.number for entry in await TicketEntryRepository(tx).of_ticket(ticket)]


@pytest.mark.usefixtures("tickets")
@pytest.mark.parametrize("kind", EntryKind)
@pytest.mark.parametrize(
    "written",
    [
        {"text": "<b>halo</b> 🙏 \u2028 it's"},
        {"text": None, "media": MediaKind.PHOTO, "file_id": "AgACAgUAA"},
        {"text": "a slip", "media": MediaKind.DOCUMENT, "file_id": "BQACAgUAA"},
        {"text": ""},
    ],
)
async def test_an_entry_is_read_as_it_was_added(store: Database, kind: EntryKind, written: dict[str, Any]) -> None:
    (added,) = await adds(store, an_entry(kind=kind, author_id=3001, **written))
    assert added is not None
    assert added == an_entry(kind=kind, author_id=3001, number=1, **written)
    async with store.reading() as tx:
        assert await TicketEntryRepository(tx).get("T-2345A", 1) == added
        assert await TicketEntryRepository(tx).of_source(1001, 1) == added
        assert await TicketEntryRepository(tx).get("T-2345A", 2) is None
        assert await TicketEntryRepository(tx).of_source(1001, 2) is None


@pytest.mark.usefixtures("tickets")
async def test_each_ticket_counts_from_one(store: Database) -> None:
    await adds(store, an_entry(source=1), an_entry("T-3456B", source=2), an_entry(source=3))
    assert (await numbers(store, "T-2345A"), await numbers(store, "T-3456B")) == ([1, 2], [1])


@pytest.mark.usefixtures("tickets")
async def test_a_message_is_taken_in_once_whichever_ticket_it_is_given_to(store: Database) -> None:
    added = await adds(
        store,
        an_entry(source=7),
        an_entry(source=7, text="the same update again"),
        an_entry("T-3456B", source=7),
        an_entry(source=7, source_chat_id=1002),  # the same number in another chat is another message
    )
    assert [entry is not None for entry in added] == [True, False, False, True]


@pytest.mark.usefixtures("tickets")
async def test_entries_that_come_at_once_are_all_kept_each_under_a_number_of_its_own(
    store: Database, other_store: Database
) -> None:
    async def one(number: int) -> None:
        # Two processes never write at once, but two queues of one process can. Then one of them tries again.
        while not any(await adds(store if number % 2 else other_store, an_entry(source=number))):
            pass

    await asyncio.gather(*(one(number) for number in range(1, 7)))
    assert await numbers(store, "T-2345A") == [1, 2, 3, 4, 5, 6]


@pytest.mark.usefixtures("tickets")
async def test_what_has_changed_of_it_is_kept_and_nothing_else(store: Database) -> None:
    (added,) = await adds(store, an_entry())
    assert added is not None
    changes: dict[str, Any] = {
        "text": "corrected",
        "media": MediaKind.PHOTO,
        "file_id": "AgACother",
        "message_id": 99,
        "delivered_at": LATER,
        "failure": "bot was blocked by the user",
        "edited_at": LATER,
        "withdrawn_at": LATER,
    }
    async with store.transaction() as tx:
        await TicketEntryRepository(tx).save(replace(added, **changes, author_id=3001, source_message_id=5, at=LATER))
    async with store.reading() as tx:
        assert await TicketEntryRepository(tx).get("T-2345A", 1) == replace(added, **changes)


@pytest.mark.usefixtures("tickets")
async def test_what_was_undone_was_never_taken_in(store: Database) -> None:
    async def takes_it_in_and_breaks() -> None:
        async with store.transaction() as tx:
            await TicketEntryRepository(tx).add(an_entry())
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await takes_it_in_and_breaks()
    assert [entry is not None for entry in await adds(store, an_entry())] == [True]
