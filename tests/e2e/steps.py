"""What the persons of several tests do: the way to a review, to an invoice, to the end."""

from tests.e2e.people import WHERE, order_of
from tests.e2e.world import Chatter, Json, World
from tests.texts import label, like


async def reaches_review(
    person: Chatter, *, bank: str = "bca", number: str = "1234567890", amount: str = "500rb"
) -> Json:
    """From /send to the review, by typing, in English."""
    await person.says("/send")
    await person.sees(WHERE)
    await person.says(bank)
    await person.sees(f"{like('number.ask_bank')}|{like('number.ask_ewallet')}")
    await person.says(number)
    await person.sees(like("holder.ask"))
    await person.taps(label("holder.skip"))
    await person.sees(like("amount.ask"))
    await person.says(amount)
    return await person.sees(like("review.title"))


async def reaches_invoice(world: World, person: Chatter, **answers: str) -> tuple[Json, Json]:
    """On to the invoice and the card; the card's message and the service's order."""
    await reaches_review(person, **answers)
    await person.taps(label("review.confirm"))
    await person.sees("lnbcrt")
    card = await person.sees(like("card.pay_before"))
    return card, await order_of(world, person)


async def goes_through(world: World, order: Json) -> None:
    """The service moves a paid order to its end."""
    while True:
        if (await world.service.order(order["id"]))["state"] in {"COMPLETED", "FAILED"}:
            return
        await world.service.does("advance", orderId=order["id"])
