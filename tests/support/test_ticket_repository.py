"""Both databases allow one open ticket about a subject, detect simultaneous changes, and sort the lists."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from bot.infra.db.database import Database
from bot.support.model import Cause, CloseReason, Rating, Ticket, TicketFilter, TicketStatus, TicketTimes
from bot.support.repository import TicketRepository
from tests.support.builders import a_ticket
from tests.times import NOW, SECOND

RINA, OSCAR, EMMA, SARI = 3001, 2001, 1001, 1002
LATER = NOW + SECOND
CLOSED: dict[str, Any] = {"status": TicketStatus.CLOSED, "closed_at": NOW, "waiting_since": None}


async def adds(store: Database, *tickets: Ticket) -> list[bool]:
    async with store.transaction() as tx:
        return [await TicketRepository(tx).add(ticket) for ticket in tickets]


async def got(store: Database, reference: str = "T-2345A") -> Ticket | None:
    async with store.reading() as tx:
        return await TicketRepository(tx).get(reference)


async def saves(store: Database, ticket: Ticket) -> Ticket | None:
    async with store.transaction() as tx:
        return await TicketRepository(tx).save(ticket)


@pytest.mark.parametrize("cause", Cause)
async def test_a_ticket_is_read_as_it_was_added(store: Database, cause: Cause) -> None:
    whole = a_ticket(
        cause=cause,
        status=TicketStatus.CLOSED,
        claimed_by=RINA,
        claimed_at=LATER,
        waiting_since=None,
        reminded_at=LATER,
        escalated_at=LATER,
        first_reply_at=LATER,
        closed_at=LATER,
        closed_by=RINA,
        close_reason=CloseReason.ELSEWHERE,
        reopen_count=2,
        rating=Rating.BAD,
        rated_at=LATER,
    )
    assert await adds(store, whole, a_ticket("T-3456B", order_reference="")) == [True, True]
    assert await got(store) == whole
    assert await got(store, "T-3456B") == a_ticket("T-3456B", order_reference="")
    assert await got(store, "T-NONE2") is None


async def test_one_is_open_for_a_user_and_a_matter_at_a_time(store: Database) -> None:
    about: dict[str, Any] = {"order_reference": "R2345AB"}
    none: dict[str, Any] = {"order_reference": ""}
    assert await adds(
        store,
        a_ticket("T-A", **about),
        a_ticket("T-B", **about),  # the same
        a_ticket("T-C", **about, user_id=SARI),
        a_ticket("T-D", **none),
        a_ticket("T-E", **none),  # the same
        a_ticket("T-A", order_reference="another"),  # a reference that is taken
        a_ticket("T-F", **about, **CLOSED),
    ) == [True, False, True, True, False, False, True]
    async with store.reading() as tx:
        found = [await TicketRepository(tx).open_of(EMMA, "R2345AB"), await TicketRepository(tx).open_of(EMMA)]
        assert [ticket and ticket.reference for ticket in found] == ["T-A", "T-D"]
        assert await TicketRepository(tx).open_of(SARI) is None


async def test_a_matter_may_be_opened_anew_when_it_is_closed(store: Database) -> None:
    await adds(store, a_ticket("T-A", order_reference="R1"))
    assert await saves(store, a_ticket("T-A", order_reference="R1", **CLOSED)) is not None
    assert await adds(store, a_ticket("T-B", order_reference="R1")) == [True]


async def test_of_many_who_claim_at_once_one_holds_it(store: Database, other_store: Database) -> None:
    async def claims(database: Database, by: int) -> Ticket | None:
        async with database.transaction() as tx:
            ticket = await TicketRepository(tx).lock(a_ticket().reference)
            assert ticket is not None
            return await TicketRepository(tx).save(ticket.claim(by, LATER)) if ticket.claimed_by is None else None

    await adds(store, a_ticket())
    both = (store, other_store)
    held = await asyncio.gather(*(claims(both[number % 2], 3000 + number) for number in range(8)))
    assert [ticket for ticket in held if ticket is not None] == [await got(store)]


async def test_two_who_open_the_same_at_once_open_one(store: Database, other_store: Database) -> None:
    about: dict[str, Any] = {"order_reference": "R1"}
    both = (adds(store, a_ticket("T-A", **about)), adds(other_store, a_ticket("T-B", **about)))
    assert sorted(await asyncio.gather(*both)) == [[False], [True]]


async def test_a_users_open_ones_come_first_then_the_newest(store: Database) -> None:
    ages = {"T-A": 30, "T-B": 20, "T-C": 10}
    closed = [a_ticket(name, created_at=NOW - SECOND * age, **CLOSED) for name, age in ages.items()]
    await adds(store, *closed, a_ticket("T-D", created_at=NOW - SECOND * 99), a_ticket("T-E", user_id=SARI))
    async with store.reading() as tx:
        page = [ticket.reference for ticket in await TicketRepository(tx).of_user(EMMA, limit=3)]
        rest = [ticket.reference for ticket in await TicketRepository(tx).of_user(EMMA, limit=3, offset=3)]
    assert (page, rest) == (["T-D", "T-C", "T-B"], ["T-A"])


async def test_an_orders_tickets_come_newest_first_whoever_opened_them(store: Database) -> None:
    mine: dict[str, Any] = {"order_reference": "R1"}
    await adds(
        store,
        a_ticket("T-A", **mine, **CLOSED, created_at=NOW - SECOND),
        a_ticket("T-B", **mine),
        a_ticket("T-C", order_reference="R2"),
    )
    async with store.reading() as tx:
        assert [ticket.reference for ticket in await TicketRepository(tx).of_order("R1")] == ["T-B", "T-A"]


async def test_lists_are_old_first_and_closed_ones_the_last_closed_first(store: Database) -> None:
    def aged(name: str, age: int, **changes: Any) -> Ticket:
        return a_ticket(name, created_at=NOW - SECOND * age, **changes)

    closed = {"status": TicketStatus.CLOSED, "waiting_since": None}
    await adds(
        store,
        aged("T-A", 10),
        aged("T-B", 30, claimed_by=RINA),
        aged("T-C", 20, claimed_by=OSCAR),
        aged("T-D", 90, closed_at=NOW - SECOND, claimed_by=RINA, **closed),
        aged("T-E", 80, closed_at=NOW, claimed_by=RINA, **closed),
    )
    expected = {
        TicketFilter.OPEN: ["T-B", "T-C", "T-A"],
        TicketFilter.MINE: ["T-B"],
        TicketFilter.UNCLAIMED: ["T-A"],
        TicketFilter.CLOSED: ["T-E", "T-D"],
    }
    async with store.reading() as tx:
        for which, names in expected.items():
            found = await TicketRepository(tx).listed(which, RINA, limit=9, offset=0)
            assert [ticket.reference for ticket in found] == names
            assert await TicketRepository(tx).count(which, RINA) == len(names)
        page = await TicketRepository(tx).listed(TicketFilter.OPEN, RINA, limit=1, offset=1)
        assert [ticket.reference for ticket in page] == ["T-C"]


async def test_those_who_wait_are_found_from_the_moment_on_the_longest_first(store: Database) -> None:
    await adds(
        store,
        a_ticket("T-A", waiting_since=NOW - SECOND * 10),
        a_ticket("T-B", waiting_since=NOW - SECOND * 20),
        a_ticket("T-C", waiting_since=NOW - SECOND * 9),
        a_ticket("T-D", waiting_since=None),
        a_ticket("T-E", **{**CLOSED, "waiting_since": NOW - SECOND * 50}),
    )
    async with store.reading() as tx:
        found = await TicketRepository(tx).waiting(NOW - SECOND * 10)
    assert [ticket.reference for ticket in found] == ["T-B", "T-A"]


async def test_times_are_of_those_opened_within_a_time_its_end_left_out(store: Database) -> None:
    measured = {"first_reply_at": LATER, "rating": Rating.GOOD}
    await adds(
        store,
        a_ticket("T-A", **{**CLOSED, "closed_at": LATER}, **measured),
        a_ticket("T-B", created_at=LATER),
        a_ticket("T-C", created_at=NOW - SECOND),
    )
    async with store.reading() as tx:
        found = await TicketRepository(tx).times(NOW, LATER)
    assert found == (TicketTimes(NOW, LATER, LATER, Rating.GOOD),)


async def test_times_keep_their_microseconds_and_their_zone(store: Database) -> None:
    await adds(store, a_ticket())
    found = await got(store)
    assert found is not None
    assert (found.created_at, found.created_at.utcoffset()) == (NOW, timedelta(0))
    assert replace(found, created_at=NOW) == a_ticket()
