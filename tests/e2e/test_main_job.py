"""The main job: a person sends rupiah from a chat, pays, and watches them being sent."""

from tests.e2e.steps import goes_through, reaches_invoice
from tests.e2e.world import World


async def test_emma_sends_rupiah_and_sees_them_sent(either: World) -> None:
    card, order = await reaches_invoice(either, either.emma)
    await either.service.pays(order)
    await either.emma.sees("Payment received at")
    await goes_through(either, order)
    await either.emma.sees("have been sent to the bank.* They usually show in the account")
    final = next(m for m in await either.emma.messages() if m["message_id"] == card["message_id"])
    assert "The rupiah have been sent to the bank" in final["text"]
    assert await either.emma.count("lnbcrt") == 0
    assert len(await either.service.orders()) == 1
