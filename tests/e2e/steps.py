"""What the persons of several tests do: the way to a review, to an invoice, to the end."""

from tests.e2e.people import WHERE, order_of
from tests.e2e.world import Chatter, Json, World
from tests.texts import label, like


async def reaches_review(
    user: Chatter, *, bank: str = "bca", number: str = "1234567890", amount: str = "500rb"
) -> Json:
    """From /send to the review, by typing, in English."""
    await user.says("/send")
    await user.sees(WHERE)
    await user.says(bank)
    await user.sees(f"{like('number.ask_bank')}|{like('number.ask_ewallet')}")
    await user.says(number)
    await user.sees(like("holder.ask"))
    await user.taps(label("holder.skip"))
    await user.sees(like("amount.ask"))
    await user.says(amount)
    return await user.sees(like("review.title"))


async def reaches_invoice(world: World, user: Chatter, **answers: str) -> tuple[Json, Json]:
    """On to the invoice and the card; the card's message and the service's order."""
    await reaches_review(user, **answers)
    await user.taps(label("review.confirm"))
    await user.sees("lnbcrt")
    card = await user.sees(like("card.pay_before"))
    return card, await order_of(world, user)


async def goes_through(world: World, order: Json) -> None:
    """The service moves a paid order to its end."""
    while True:
        if (await world.service.order(order["id"]))["state"] in {"COMPLETED", "FAILED"}:
            return
        await world.service.does("advance", orderId=order["id"])
