"""The reply time is measured from first replies, and shown only if there are enough of them."""

from datetime import timedelta

from bot.infra.db.database import Database
from bot.orders.destinations.health import CACHED_FOR
from bot.support.repository import TicketRepository
from bot.support.user_messages import ReplyTime
from tests.screens import NOW
from tests.settlement.fake_settlement import MovedClock
from tests.support.builders import a_ticket

MINUTE, DAY = timedelta(minutes=1), timedelta(days=1)


async def save_tickets(sqlite_store: Database, count: int, *, age: timedelta, minutes: int | None) -> None:
    """Save tickets opened this long ago, with a reply after `minutes` or none."""
    opened = NOW - age
    answered = None if minutes is None else opened + minutes * MINUTE
    async with sqlite_store.transaction() as tx:
        for number in range(count):
            name = f"T-{age.days}-{minutes}-{number}"
            assert await TicketRepository(tx).add(a_ticket(name, created_at=opened, first_reply_at=answered))


async def test_nothing_is_said_of_fewer_than_twenty_first_replies_of_the_last_thirty_days(
    sqlite_store: Database, clock: MovedClock
) -> None:
    await save_tickets(sqlite_store, 9, age=DAY, minutes=3)
    await save_tickets(sqlite_store, 10, age=2 * DAY, minutes=7)
    await save_tickets(sqlite_store, 30, age=31 * DAY, minutes=1)
    await save_tickets(sqlite_store, 30, age=3 * DAY, minutes=None)
    assert await ReplyTime(sqlite_store, clock).get() is None
    await save_tickets(sqlite_store, 1, age=29 * DAY, minutes=1)
    assert await ReplyTime(sqlite_store, clock).get() == 5 * MINUTE, "the median lies between 3 and 7"


async def test_it_is_measured_once_in_a_while_and_not_for_each_ticket(
    sqlite_store: Database, clock: MovedClock
) -> None:
    reply_time = ReplyTime(sqlite_store, clock)
    assert await reply_time.get() is None
    await save_tickets(sqlite_store, 20, age=DAY, minutes=3)
    clock.at += CACHED_FOR - MINUTE
    assert await reply_time.get() is None
    clock.at += MINUTE
    assert await reply_time.get() == 3 * MINUTE
