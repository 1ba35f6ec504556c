"""The main job: a user sends rupiah from a chat, pays, and gets the notification that they were sent."""

import re

from tests.e2e.orders.steps import ENDED, complete_order, type_to_invoice
from tests.e2e.system import System
from tests.texts import like


async def test_emma_sends_rupiah_and_sees_them_sent(either: System) -> None:
    pay, order = await type_to_invoice(either, either.emma)
    await either.service.pays(order)
    paid = await either.emma.sees(like("orders.notification.paid"))
    await complete_order(either, order)
    await either.emma.sees(like("orders.notification.sent_bank"))
    await either.emma.sees(ENDED, anywhere=True)
    final = await either.emma.finds(paid)
    assert final is not None
    assert re.search(ENDED, final["text"]), "the message about the payment was the timeline"
    assert await either.emma.finds(pay) is None
    assert await either.emma.count("lnbcrt") == 0
    assert len(await either.service.orders()) == 1
