"""How soon support usually replies is measured from first replies, and said only where enough of them show it."""

from datetime import timedelta

from bot.infra.db.database import Database
from bot.orders.measured import KEPT_FOR
from bot.support.measured_reply_time import ReplyTime
from bot.support.tickets.repository import TicketRepository
from tests.contract.store_builders import a_ticket
from tests.unit.every_screen import NOW
from tests.unit.fake_settlement import MovedClock

MINUTE, DAY = timedelta(minutes=1), timedelta(days=1)


async def keep(store: Database, count: int, *, age: timedelta, minutes: int | None) -> None:
    """Keep tickets that were opened this long ago: answered after `minutes`, or never."""
    opened = NOW - age
    answered = None if minutes is None else opened + minutes * MINUTE
    async with store.transaction() as tx:
        for number in range(count):
            name = f"T-{age.days}-{minutes}-{number}"
            assert await TicketRepository(tx).add(a_ticket(name, created_at=opened, first_answer_at=answered))


async def test_nothing_is_said_of_fewer_than_twenty_first_replies_of_the_last_thirty_days(
    store: Database, clock: MovedClock
) -> None:
    await keep(store, 9, age=DAY, minutes=3)
    await keep(store, 10, age=2 * DAY, minutes=7)
    await keep(store, 30, age=31 * DAY, minutes=1)
    await keep(store, 30, age=3 * DAY, minutes=None)
    assert await ReplyTime(store, clock).get() is None
    await keep(store, 1, age=29 * DAY, minutes=1)
    assert await ReplyTime(store, clock).get() == 5 * MINUTE, "the median lies between 3 and 7"


async def test_it_is_measured_once_in_a_while_and_not_for_each_ticket(store: Database, clock: MovedClock) -> None:
    reply_time = ReplyTime(store, clock)
    assert await reply_time.get() is None
    await keep(store, 20, age=DAY, minutes=3)
    clock.at += KEPT_FOR - MINUTE
    assert await reply_time.get() is None
    clock.at += MINUTE
    assert await reply_time.get() == 3 * MINUTE
