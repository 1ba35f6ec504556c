"""A user opens a link on the chat page, sees who asks and what it costs, and pays it. The asker reads that it was paid.

`SCREENSHOTS=folder` saves screenshots.
"""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from playwright.async_api import Browser, Locator, Page, expect

from bot.payment_requests.model import PaymentRequest, new_id, new_token
from bot.payment_requests.repository import PaymentRequestRepository
from bot.settlement.model import PayoutMethod
from tests.e2e.bot_database import open_transaction
from tests.e2e.chat_page import (
    DESKTOP,
    PHONE,
    Viewer,
    first_of,
    last_message,
    open_page,
    pay_in_wallet,
    save_screenshot,
    send_text,
    show_chat,
    tap_button,
)
from tests.e2e.system import System, running_system
from tests.payment_requests.builders import a_request

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

NUMBER = "7731004455"
EMMA, SARI = 1001, 1002
PAYERS = [
    Viewer("sari-desktop-paying", SARI, DESKTOP, dark=True, locale="id"),
    Viewer("emma-phone-paying", EMMA, PHONE),
]


async def save_request(kirim: System, asker: int, *, in_browsers: bool = False) -> PaymentRequest:
    """Save a link of the other user, that can be paid once."""
    listed = next(each for each in await kirim.service.methods() if each["bankCode"] == "014")
    now = datetime.now(UTC)
    request = a_request(
        new_id(),
        user_id=asker,
        token=new_token(),
        method=PayoutMethod("014", listed["bankName"], "bank", None),
        number=NUMBER,
        in_browsers=in_browsers,
        created_at=now,
        used_at=now,
    )
    async with open_transaction(kirim) as tx:
        assert await PaymentRequestRepository(tx).add(request)
    return request


@pytest.mark.parametrize("who", first_of(PAYERS), ids=lambda who: who.name)
async def test_a_link_is_opened_and_paid_and_its_asker_reads_that_it_was(
    who: Viewer, browser: Browser, tmp_path: Path
) -> None:
    (asker,) = {EMMA, SARI} - {who.user}
    async with running_system(tmp_path, "documented") as kirim, open_page(browser, kirim, who) as page:
        request = await save_request(kirim, asker)
        for user in (asker, who.user):
            pane = page.get_by_test_id(f"pane-{user}")
            if not await pane.is_visible():
                await show_chat(page, kirim, user)
            await pane.get_by_test_id("start").click()
        pane = page.get_by_test_id(f"pane-{who.user}")
        await pays(page, pane, who, request)
        await reads_that_it_was_paid(page, kirim, who, asker)


async def pays(page: Page, pane: Locator, who: Viewer, request: PaymentRequest) -> None:
    """Open the link, and pay the invoice. The whole number is nowhere in the chat."""
    await send_text(pane, f"/start r_{request.token}")
    review = last_message(pane, who.reads("payment_requests.pay.asker"))
    await expect(review).to_be_visible()
    await expect(review).to_contain_text("••••4455")
    await save_screenshot(page, who, "01-review")
    await tap_button(pane, who.label("checkout.review.confirm"))
    await expect(last_message(pane, who.reads("orders.status_message.waiting"))).to_be_visible()
    await save_screenshot(page, who, "02-invoice")
    await pay_in_wallet(page, who)
    await expect(last_message(pane, who.reads("orders.notification.paid"))).to_be_visible()
    await save_screenshot(page, who, "03-paid")
    await expect(pane).not_to_contain_text(NUMBER)


async def reads_that_it_was_paid(page: Page, kirim: System, who: Viewer, asker: int) -> None:
    """See what the asker reads, in the asker's own language."""
    pane = page.get_by_test_id(f"pane-{asker}")
    if not await pane.is_visible():
        await show_chat(page, kirim, asker)
    reads = Viewer(who.name, asker, who.screen, locale="id" if asker == SARI else "en")
    await expect(last_message(pane, reads.reads("payment_requests.paid"))).to_be_visible()
    await save_screenshot(page, who, "04-asker")
