"""The main job: a user sends rupiah from a chat, pays, and gets the notification that they were sent."""

from tests.e2e.orders.steps import complete_order, type_to_invoice
from tests.e2e.system import System
from tests.texts import like, text


async def test_emma_sends_rupiah_and_sees_them_sent(either: System) -> None:
    pay, order = await type_to_invoice(either, either.emma)
    await either.service.pays(order)
    paid = await either.emma.sees(like("orders.notification.paid"))
    await complete_order(either, order)
    await either.emma.sees(like("orders.notification.sent_bank"))
    await either.emma.sees(f"✅ {like('orders.step.sent')}", anywhere=True)
    final = await either.emma.finds(paid)
    assert final is not None
    assert f"✅ {text('orders.step.sent')}" in final["text"], "the message about the payment is the timeline"
    assert await either.emma.finds(pay) is None
    assert await either.emma.count("lnbcrt") == 0
    assert len(await either.service.orders()) == 1
