"""Helpers for stories of receipts."""

from bot.orders.receipts.codes import LENGTH, read_code
from tests.e2e.chat_user import ChatUser, Json
from tests.e2e.orders.steps import order_of, review_pattern, tap_change, tap_to_review
from tests.e2e.system import System
from tests.pictures import qr_texts
from tests.texts import label, like

TOLD = like("orders.notification.sent_bank")

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
    await user.sees(like("orders.status_message.waiting"))
    return await order_of(system, user)


async def code_on(user: ChatUser, receipt: Json) -> str:
    """Return the code as it is on the picture, from its QR code."""
    (link,) = qr_texts(await user.scans(receipt))
    code = read_code(link[-LENGTH:])
    assert code, link
    return code
