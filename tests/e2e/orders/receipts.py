"""Helpers for stories of receipts."""

import re

from tests.e2e.chat_user import ChatUser, Json, text_of
from tests.e2e.orders.steps import order_of, review_pattern, tap_change, tap_to_review
from tests.e2e.system import System
from tests.texts import label, like

CODE = re.compile(r"[0-9A-Z]{4}-[0-9A-Z]{4}-[0-9A-Z]{4}")

TOLD = like("orders.notification.sent_bank")

CAPTION = like("orders.receipt.caption")

TRUE, FALSE = like("orders.verify.true", amount="Rp500,000"), like("orders.verify.false")


async def orders(system: System, user: ChatUser, *, holder: str | None = None) -> Json:
    """Go to the invoice, and return the service's order."""
    await tap_to_review(user)
    if holder:
        await tap_change(user, "holder")
        await user.sees(like("checkout.holder.ask"))
        await user.says(holder)
        await user.sees(review_pattern(holder=holder))
    await user.taps(label("checkout.review.confirm"))
    await user.sees(like("orders.card.waiting"))
    return await order_of(system, user)


def code_on(receipt: Json) -> str:
    found = CODE.search(text_of(receipt))
    assert found, receipt
    return found[0]
