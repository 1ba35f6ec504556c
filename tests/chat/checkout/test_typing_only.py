"""A walk by typing only: from a hello to the receipt, in each language. The only button is Confirm.

A `Walk` says what a person types, and what they then see. The walks of a language end with the same receipt.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from tests.e2e.chat_user import ChatUser, Json, text_of
from tests.e2e.new_users import new_user
from tests.e2e.orders.receipts import code_on
from tests.e2e.orders.steps import DESTINATION_QUESTION, complete_order, order_of, review_pattern
from tests.e2e.system import System
from tests.texts import label, like, says

pytestmark = pytest.mark.asyncio(loop_scope="session")


@dataclass(frozen=True)
class Walk:
    """One language, the hello, what is typed up to the review with what follows each line, and what arrives."""

    locale: str
    hello: str
    steps: Sequence[tuple[str, str]]
    review: dict[str, str]
    idr: int
    sent: str = "orders.notification.sent_bank"
    afterwards: Sequence[tuple[str, str]] = field(default=())


WALKS = {
    "English, step by step": Walk(
        "en",
        "hi",
        [
            ("/send", DESTINATION_QUESTION),
            ("mandiri", like("checkout.number.ask_bank")),
            ("1370 0123 4567 8", like("checkout.holder.ask")),
            ("Budi Santoso", like("checkout.amount.ask")),
        ],
        {"typed": "750k", "amount": "Rp750,000", "number": "1370012345678", "holder": "Budi Santoso"},
        750_000,
        afterwards=[("/status", like("orders.status.none")), ("thanks!", like("home.chat.thanks"))],
    ),
    "English, in one line": Walk(
        "en",
        "hello there",
        [],
        {"typed": "500k bca 1234567890 Budi", "amount": "Rp500,000", "number": "1234567890", "holder": "Budi"},
        500_000,
    ),
    "Indonesian, step by step": Walk(
        "id",
        "halo",
        [
            ("/send", like("checkout.destination.ask", "id")),
            ("gopay", like("checkout.number.ask_ewallet", "id")),
            ("0812-0000-1111", like("checkout.holder.ask", "id")),
            ("Ibu Sari", like("checkout.amount.ask", "id")),
        ],
        {"typed": "1,5 juta", "amount": "Rp1.500.000", "number": "081200001111", "holder": "Ibu Sari"},
        1_500_000,
        sent="orders.notification.sent_ewallet",
        afterwards=[("/status", like("orders.status.none", "id")), ("makasih", like("home.chat.thanks", "id"))],
    ),
    "Indonesian, in one line": Walk(
        "id",
        "permisi",
        [],
        {"typed": "500rb bca 1234567890 Budi", "amount": "Rp500.000", "number": "1234567890", "holder": "Budi"},
        500_000,
    ),
}


@pytest.mark.parametrize("walk", WALKS.values(), ids=WALKS)
async def test_a_person_who_only_types_gets_from_hello_to_the_receipt(shared_system: System, walk: Walk) -> None:
    user = await new_user(shared_system, walk.locale)
    await user.says(walk.hello)
    hello = text_of(await user.sees(like("home.start.text", walk.locale)))
    assert says(hello, "home.welcome.cost", walk.locale)
    await types(user, walk.steps)
    figures = dict(walk.review)
    await user.says(figures.pop("typed"))
    review = await user.sees(review_pattern(walk.locale, **figures))
    assert says(text_of(review), "checkout.review.phrase", walk.locale)
    await user.taps(label("checkout.review.confirm", walk.locale), message=review)
    await user.sees(like("orders.pay.lightning", walk.locale))
    order = await order_of(shared_system, user)
    assert order["idrAmount"] == walk.idr
    assert order["id"] in [each["id"] for each in await shared_system.service.orders(walk.review["number"])]
    await shared_system.service.pays(order)
    await user.sees(like("orders.notification.paid", walk.locale))
    await complete_order(shared_system, order)
    receipt = await user.sees(like(walk.sent, walk.locale))
    await verifies(user, receipt, walk.locale)
    await types(user, walk.afterwards)


async def types(user: ChatUser, steps: Sequence[tuple[str, str]]) -> None:
    for typed, seen in steps:
        await user.says(typed)
        await user.sees(seen)


async def verifies(user: ChatUser, receipt: Json, locale: str) -> None:
    """Type the code on the receipt, which anyone can check."""
    assert receipt.get("photo")
    code = await code_on(user, receipt)
    await user.says(f"/verify {code.lower()}")
    await user.sees(like("orders.verify.true", locale))
