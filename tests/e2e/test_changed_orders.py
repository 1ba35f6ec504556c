"""Somebody changes an order in the database: its person reads not to pay it."""

import sqlite3
from contextlib import closing

from tests.e2e.people import newcomer, taps_to_invoice
from tests.e2e.world import World
from tests.texts import label, like
from tests.waiting import PATIENCE


async def test_who_looks_at_an_order_that_was_changed_reads_not_to_pay_it(kirim: World) -> None:
    emma = await newcomer(kirim)
    card, order = await taps_to_invoice(kirim, emma)
    with closing(sqlite3.connect(kirim.state / "kirim.db", timeout=PATIENCE)) as database:
        database.execute("UPDATE orders SET bolt11 = 'lnbc of a thief' WHERE service_id = ?", (order["id"],))
        database.commit()
    await emma.taps(label("button.refresh"), message=card)
    await emma.sees(like("talk.order_unreadable"))
