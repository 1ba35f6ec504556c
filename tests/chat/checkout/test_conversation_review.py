"""Stories of the review: every line can be changed, and old buttons do no harm."""

import asyncio
import re

import pytest

from bot.checkout.buttons import DraftButton
from bot.checkout.handlers import DraftHandlers
from bot.checkout.steps import review as review_step
from bot.infra.db.errors import StoreDown
from bot.infra.i18n import Translator
from bot.infra.telegram.ui.screen import Screen
from bot.orders.order import Order
from bot.orders.screens import order_messages
from bot.users.session import Session
from tests.e2e.bot_database import expire_drafts
from tests.e2e.new_users import new_user
from tests.e2e.orders.steps import (
    DESTINATION_QUESTION,
    review_pattern,
    tap_change,
    tap_to_review,
)
from tests.e2e.system import System
from tests.texts import label, like, text

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_every_line_can_be_changed_and_every_question_left(shared_system: System) -> None:
    await asyncio.gather(changes_every_line(shared_system), goes_back_and_leaves(shared_system))


async def changes_every_line(shared_system: System) -> None:
    emma = await new_user(shared_system)
    await tap_to_review(emma)
    review = await emma.sees(like("checkout.review.title"), anywhere=True)
    facts = review_pattern(
        amount="Rp500,000",
        bank="BCA · BANK CENTRAL ASIA",
        number="1234567890",
        holder=text("recipients.review.no_holder"),
        pay=re.compile(like("checkout.review.about", amount=re.compile("[0-9,]+ sats · Lightning"))),
    )
    assert re.search(facts, review["text"])
    price = like("checkout.review.price", fee="Rp5,000", rate=re.compile("Rp[0-9,.]+"), at=re.compile(".* WIB"))
    assert re.search(price, review["text"])
    await tap_change(emma, "amount")
    await emma.sees(like("checkout.amount.ask"))
    await emma.says("25k sat")
    about = re.compile(like("checkout.review.about", amount=re.compile("Rp[0-9,]+")))
    await emma.sees(review_pattern(amount=about, pay="25,000 sats · Lightning"))
    await tap_change(emma, "holder")
    await emma.sees(like("checkout.holder.ask"))
    await emma.says("Budi Santoso")
    await emma.sees(review_pattern(holder="Budi Santoso"))
    await tap_change(emma, "number")
    await emma.sees(like("checkout.number.ask_bank"))
    await emma.taps(label("users.button.back"))
    await emma.sees(review_pattern(number="1234567890", holder="Budi Santoso"))
    await tap_change(emma, "number")
    await emma.sees(like("checkout.number.ask_bank"))
    await emma.says("0987654321")
    await emma.sees(like("checkout.holder.ask", recipient="BCA · 0987654321"))  # another number is another person's
    await emma.taps(label("checkout.holder.skip"))
    await emma.sees(review_pattern(number="0987654321", holder=text("recipients.review.no_holder")))
    await tap_change(emma, "method")
    await emma.sees(like("checkout.destination.ask"))
    await emma.says("gopay")
    await emma.sees(like("checkout.number.ask_ewallet", name="GoPay"))
    await emma.says("081234567890")
    await emma.sees(like("checkout.holder.ask"))
    await emma.taps(label("checkout.holder.skip"))
    await emma.sees(review_pattern(bank="GoPay", pay="25,000 sats · Lightning"))
    await emma.taps(label("checkout.button.cancel"))
    await emma.sees(like("checkout.draft.cancelled"))


async def goes_back_and_leaves(shared_system: System) -> None:
    emma = await new_user(shared_system)
    await emma.says("/send")
    await emma.sees(like("checkout.destination.ask"))
    assert label("users.button.back") not in await emma.buttons()
    await emma.says("bca")
    await emma.sees(like("checkout.number.ask_bank"))
    await emma.says("1234567890")
    await emma.sees(like("checkout.holder.ask"))
    await emma.taps(label("checkout.holder.skip"))
    await emma.sees(like("checkout.amount.ask"))
    for question in ("checkout.holder.ask", "checkout.number.ask_bank", "checkout.destination.ask"):
        assert {label("users.button.back"), label("checkout.button.cancel")} <= set(await emma.buttons())
        await emma.taps(label("users.button.back"))
        await emma.sees(like(question))
    await emma.taps(label("checkout.button.cancel"))
    await emma.sees(like("checkout.draft.cancelled"))


async def test_a_review_that_was_confirmed_before_a_crash_stays_when_another_order_is_begun(
    shared_system: System, monkeypatch: pytest.MonkeyPatch
) -> None:
    emma, build = await new_user(shared_system), order_messages.show_confirmed
    failures = iter([StoreDown("away")])

    def fail_once(t: Translator, order: Order) -> Screen:
        if order.user_id == emma.id and (failure := next(failures, None)) is not None:
            raise failure  # the order is placed, and its user hasn't read it
        return build(t, order)

    monkeypatch.setattr(review_step, "show_confirmed", fail_once)
    await tap_to_review(emma)
    review, confirm = await emma.button(label("checkout.review.confirm"))
    await emma.presses(review, confirm)
    await emma.sees(like("orders.status_message.waiting"))
    await emma.says("/send")
    await emma.sees(DESTINATION_QUESTION)
    await emma.says("/id")  # handled after the question
    await emma.sees(like("users.id.own", id=str(emma.id)))
    confirmed = await emma.finds(review)
    assert confirmed is not None
    assert re.fullmatch(r"☑️ .+ → BCA ••••7890 · \w{7}", confirmed["text"])


async def test_a_review_whose_button_failed_stays_and_can_be_pressed_again(
    shared_system: System, monkeypatch: pytest.MonkeyPatch
) -> None:
    emma, number, take = await new_user(shared_system), "7731002205", DraftHandlers.take_button
    failures = iter([ValueError("a fault of our own")])

    async def fail_once(handlers: DraftHandlers, session: Session, button: DraftButton) -> None:
        if session.user.id == emma.id and (failure := next(failures, None)) is not None:
            raise failure
        await take(handlers, session, button)

    await tap_to_review(emma, number=number)
    monkeypatch.setattr(DraftHandlers, "take_button", fail_once)
    review, confirm = await emma.button(label("checkout.review.confirm"))
    await emma.presses(review, confirm)
    await emma.sees(like("users.chat.broken"))
    await emma.presses(review, confirm)
    await emma.sees(like("orders.status_message.waiting"))
    assert len(await shared_system.service.orders(number)) == 1


async def test_confirm_of_a_review_that_was_shown_again_says_that_it_is_out_of_date(shared_system: System) -> None:
    emma, number = await new_user(shared_system), "7731002203"
    await tap_to_review(emma, number=number)
    review, confirm = await emma.button(label("checkout.review.confirm"))
    await tap_change(emma, "amount")
    await emma.sees(like("checkout.amount.ask"))
    await emma.taps(label("users.button.back"))
    await emma.sees(like("checkout.review.title"))
    answer = await emma.presses(review, confirm, force=True)
    assert answer["text"] == label("users.stale.button")
    assert await shared_system.service.orders(number) == []
    await emma.taps(label("checkout.review.confirm"))
    await emma.sees(like("orders.status_message.waiting"))


async def test_old_buttons_explain_themselves_and_offer_the_way_on(shared_system: System) -> None:
    await asyncio.gather(
        of_questions_and_cancelled_drafts(shared_system),
        of_a_quiet_draft(shared_system),
    )


async def of_questions_and_cancelled_drafts(shared_system: System) -> None:
    emma = await new_user(shared_system)
    await emma.says("/send")
    await emma.sees(like("checkout.destination.ask"))
    first, gopay = await emma.button(label("checkout.button.cancel"))
    await emma.says("bca")
    await emma.sees(like("checkout.number.ask_bank"))
    # of an earlier question of this draft, which is gone as soon as the next one stands below
    assert await emma.finds(first) is None
    assert (await emma.presses(first, gopay, force=True))["text"] == label("users.stale.button")
    await emma.sees(like("checkout.number.ask_bank"))
    second, back = await emma.button(label("users.button.back"))
    await emma.says("/cancel")
    await emma.sees(like("checkout.draft.cancelled"))
    # of a draft that was cancelled, with none open
    assert (await emma.presses(second, back, force=True))["text"] == label("checkout.stale.cancelled")
    await emma.sees(like("checkout.stale.cancelled"))
    await emma.taps(label("users.button.send"))
    await emma.sees(like("checkout.destination.ask"))
    # of a draft that was cancelled, with another open
    assert (await emma.presses(second, back, force=True))["text"] == label("checkout.stale.cancelled")
    await emma.sees(like("checkout.destination.ask"))
    # of nothing that there ever was
    for junk in ("d:ffffffffff:1:back", "d:0", "x", "o:zzz", "lang:xx"):
        assert (await emma.presses(second, junk, force=True))["answered"]
        await emma.sees(like("checkout.destination.ask"))


async def of_a_quiet_draft(shared_system: System) -> None:
    emma = await new_user(shared_system)
    await tap_to_review(emma)
    old, change = await emma.button(label("checkout.review.change"))
    await expire_drafts(shared_system, emma)
    notice = await emma.sees(f"Rp500,000 → BCA ••••7890\n\n{like('checkout.draft.expired')}")
    assert notice["message_id"] == old["message_id"], "nothing keeps the whole number"
    await emma.presses(old, change, force=True)
    await emma.sees(like("checkout.draft.expired"))
    await emma.taps(label("checkout.draft.continue"))
    await emma.sees(like("checkout.review.title"))
    await emma.taps(label("checkout.review.confirm"))
    await emma.sees(like("orders.status_message.waiting"))
