"""A whole case on the chat page: an order fails, a ticket opens, an agent helps, and the user rates the help.

`SCREENSHOTS=folder` saves a picture of each step.
"""

from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.async_api import Browser, FilePayload, Locator, Page, expect

from bot.payments.qr import render_png
from bot.sandbox.telegram import SUPPORT_GROUP_ID
from tests.e2e.bot_database import wait_for_row
from tests.e2e.chat_page import (
    DESKTOP,
    PHONE,
    Viewer,
    first_of,
    last_message,
    open_page,
    pay_in_wallet,
    save_screenshot,
    tap_button,
)
from tests.e2e.system import System, running_system

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

EMMA, SARI, RINA = 1001, 1002, 3001
NUMBER = "8620123456"
MASKED = "••••3456"
TOO_MANY = 429
HOLDER = "Budi Santoso"
REAL_PACE = {"CHAT_MESSAGES_PER_SECOND": "1", "GROUP_MESSAGES_PER_MINUTE": "20"}
"""The real limits. The sandbox refuses faster messages here."""


@dataclass(frozen=True, kw_only=True)
class FailedPayment(Viewer):
    """A user whose order fails, and what they and support write in one language."""

    answer: str
    reply: str
    delivered: str = "👌"


CASES = [
    FailedPayment(
        "support-id",
        SARI,
        PHONE,
        dark=True,
        locale="id",
        answer="Pembayaran Anda sudah kami temukan. Boleh kirim tangkapan layar dompetnya?",
        reply="Ini dia",
    ),
    FailedPayment(
        "support-en",
        EMMA,
        DESKTOP,
        locale="en",
        answer="We have found your payment. Could you send us a screenshot of your wallet?",
        reply="Here it is",
    ),
]


@pytest.mark.parametrize("who", first_of(CASES), ids=lambda who: who.name)
async def test_a_failed_payment_is_helped_to_its_end(who: FailedPayment, browser: Browser, tmp_path: Path) -> None:
    async with running_system(tmp_path, DEFAULT_LOCALE=who.locale, **REAL_PACE) as kirim:
        (await kirim.telegram.post("/sandbox/limits", json={"enforce": True})).raise_for_status()
        await kirim.rina.speaks(who.locale)
        async with open_page(browser, kirim, who) as page:
            await _help_to_the_end(kirim, page, who)
        assert [call for call in await kirim.calls() if call["error_code"] == TOO_MANY] == []


async def _help_to_the_end(kirim: System, page: Page, who: FailedPayment) -> None:
    user, support, group = (page.get_by_test_id(f"pane-{chat}") for chat in (who.user, RINA, SUPPORT_GROUP_ID))
    if who.screen == DESKTOP:
        await page.get_by_test_id(f"show-{SARI}").click()
    await _starts(page, support)
    await _payment_fails(kirim, page, user, who)
    ticket = await _ticket_has_opened(page, user, who)
    await _support_claims(page, group, who, ticket)
    await _support_reads_evidence(kirim, page, group, who)
    await _support_reveals(page, group, support, who)
    await _support_answers(page, group, who)
    await _user_sends_a_picture(page, user, who, ticket)
    await _picture_is_shown(page, group, who)
    await _support_closes(page, group, who)
    await _user_rates(page, user, who)
    await _rating_is_seen(page, group, who)


async def _starts(page: Page, support: Locator) -> None:
    await _open_chat(page, RINA)
    await support.get_by_test_id("start").click()
    await expect(support.get_by_test_id("message").nth(1)).to_be_visible()


async def _payment_fails(kirim: System, page: Page, user: Locator, who: FailedPayment) -> None:
    await _open_chat(page, who.user)
    await user.get_by_test_id("start").click()
    await expect(user.get_by_test_id("message").nth(1)).to_be_visible()
    await _writes(user, f"500rb bca {NUMBER} {HOLDER}")
    await tap_button(user, who.label("checkout.review.confirm"))
    await expect(user.get_by_test_id("photo")).to_be_visible()
    await pay_in_wallet(page, who)
    [order] = await kirim.service.orders()
    await wait_for_row(kirim, order, is_paid=1)
    await kirim.service.does("advance", orderId=order["id"], state="IDR_SETTLED")
    await kirim.service.does("fail", orderId=order["id"])


async def _ticket_has_opened(page: Page, user: Locator, who: FailedPayment) -> str:
    message = last_message(user, who.reads("support.ticket.by_itself_failed"))
    await expect(message).to_be_visible()
    await expect(message).to_contain_text(who.label("orders.payout_reference.name"))
    await save_screenshot(page, who, "01-opened-by-itself")
    return next(word for word in (await message.inner_text()).split() if word.startswith("T-"))


async def _support_claims(page: Page, group: Locator, who: FailedPayment, ticket: str) -> None:
    await _open_chat(page, SUPPORT_GROUP_ID)
    await group.get_by_test_id("group-speaker").select_option(str(RINA))
    await group.get_by_test_id("topic").filter(has_text=ticket).click()
    card = _card(group)
    await expect(card).to_contain_text(who.reads("support.case.unusual.failed_paid"))
    assert HOLDER not in await card.inner_text()
    await save_screenshot(page, who, "02-group")
    await card.locator("blockquote").first.click()
    await save_screenshot(page, who, "03-timeline")
    await tap_button(group, who.label("support.staff_ticket.claim"))
    await expect(card).to_contain_text("Rina")
    await save_screenshot(page, who, "04-claimed")


async def _support_reads_evidence(kirim: System, page: Page, group: Locator, who: FailedPayment) -> None:
    [order] = await kirim.service.orders()
    await tap_button(group, who.label("support.evidence.button"))
    shown = last_message(group, order["partnerRedeemId"])
    await expect(shown).to_contain_text(order["partnerBurnTxHash"])
    assert HOLDER not in await shown.inner_text()
    await save_screenshot(page, who, "04b-evidence-buttons")
    await shown.evaluate("message => message.scrollIntoView({block: 'start'})")
    await save_screenshot(page, who, "04c-evidence")


async def _support_reveals(page: Page, group: Locator, support: Locator, who: FailedPayment) -> None:
    await tap_button(group, who.label("support.reveal.button"))
    await _open_chat(page, RINA)
    await tap_button(support, who.label("support.reveal.reason_compare"))
    shown = last_message(support, NUMBER)
    await expect(shown).to_contain_text(HOLDER)
    await save_screenshot(page, who, "05-revealed")
    await tap_button(support, who.label("support.reveal.hide"))
    await expect(support.get_by_test_id("message").filter(has_text=NUMBER)).to_have_count(0)
    await save_screenshot(page, who, "06-masked")
    await _open_chat(page, SUPPORT_GROUP_ID)
    await expect(group.get_by_test_id("message").filter(has_text=NUMBER)).to_have_count(0)


async def _support_answers(page: Page, group: Locator, who: FailedPayment) -> None:
    await _replies(_card(group))
    await _writes(group, who.answer)
    sent = last_message(group, who.answer)
    await expect(sent.get_by_test_id("reactions")).to_contain_text(who.delivered)
    await save_screenshot(page, who, "07-answered")


async def _user_sends_a_picture(page: Page, user: Locator, who: FailedPayment, ticket: str) -> None:
    await _open_chat(page, who.user)
    answer = last_message(user, who.answer)
    await expect(answer).to_contain_text(ticket)
    await save_screenshot(page, who, "08-the-answer")
    await _replies(answer)
    await user.get_by_test_id("composer").fill(who.reply)
    sent = FilePayload(name="wallet.png", mimeType="image/png", buffer=render_png("a wallet's screen"))
    await user.get_by_test_id("picture").set_input_files(sent)
    await expect(last_message(user, who.reply).get_by_test_id("reactions")).to_contain_text("👌")
    await save_screenshot(page, who, "09-picture-back")


async def _picture_is_shown(page: Page, group: Locator, who: FailedPayment) -> None:
    await _open_chat(page, SUPPORT_GROUP_ID)
    await expect(last_message(group, who.reply).get_by_test_id("photo")).to_be_visible()
    await save_screenshot(page, who, "10-picture-in-the-group")


async def _support_closes(page: Page, group: Locator, who: FailedPayment) -> None:
    await tap_button(group, who.label("support.staff_ticket.close"))
    # The name has to match exactly, because another reason in Indonesian contains the same word.
    await group.get_by_role("button", name=who.label("support.staff.close.solved"), exact=True).last.click()
    await expect(_card(group)).to_contain_text(who.reads("support.staff_ticket.reason.solved"))
    await save_screenshot(page, who, "11-closed")


async def _user_rates(page: Page, user: Locator, who: FailedPayment) -> None:
    await _open_chat(page, who.user)
    await expect(last_message(user, who.reads("support.ticket.how_was_it"))).to_be_visible()
    await save_screenshot(page, who, "12-closed-for-the-person")
    await tap_button(user, who.label("support.button.rate_good"))
    await expect(last_message(user, who.reads("support.ticket.rated_good"))).to_be_visible()
    await save_screenshot(page, who, "13-rated")


async def _rating_is_seen(page: Page, group: Locator, who: FailedPayment) -> None:
    await _open_chat(page, SUPPORT_GROUP_ID)
    await expect(_card(group)).to_contain_text(who.reads("support.staff_ticket.rated", thumb="👍"))
    await save_screenshot(page, who, "14-rating-in-the-group")


def _card(group: Locator) -> Locator:
    """Return the first message of the topic. Replies quote its text."""
    return group.get_by_test_id("message").filter(has=group.page.locator("blockquote"), has_text=MASKED).first


async def _open_chat(page: Page, chat: int) -> None:
    """Show this chat on the page. A wide page may show it already."""
    if not await page.get_by_test_id(f"pane-{chat}").is_visible():
        await page.get_by_test_id(f"show-{chat}").click()


async def _replies(message: Locator) -> None:
    await message.hover()
    await message.get_by_test_id("act-reply").click()


async def _writes(pane: Locator, text: str) -> None:
    await pane.get_by_test_id("composer").fill(text)
    await pane.get_by_test_id("send").click()
