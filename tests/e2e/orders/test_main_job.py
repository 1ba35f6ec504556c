"""The main job: a user sends rupiah from a chat, pays, and gets the notification that they were sent."""

from tests.e2e.orders.steps import complete_order, type_to_invoice
from tests.e2e.system import System
from tests.texts import like, says


async def test_emma_sends_rupiah_and_sees_them_sent(either: System) -> None:
    card, order = await type_to_invoice(either, either.emma)
    await either.service.pays(order)
    await either.emma.sees(like("orders.notification.paid"))
    await complete_order(either, order)
    await either.emma.sees(like("orders.notification.sent_bank"))
    final = next(m for m in await either.emma.messages() if m["message_id"] == card["message_id"])
    assert says(final["text"], "orders.card.sent_bank")
    assert await either.emma.count("lnbcrt") == 0
    assert len(await either.service.orders()) == 1
