"""A bot killed at every step of asking for rupiah: the asker continues where they were, and gets one link."""

import re
from contextlib import AsyncExitStack
from functools import partial

from bot.payment_requests.repository import PaymentRequestRepository
from tests.e2e.bot_database import open_transaction
from tests.e2e.chat_user import text_of
from tests.e2e.checkout.test_killed_conversation import Move
from tests.e2e.faults import assert_copies_are_marked, calls_of, hold_call, kill_and_restart, wait_until_idle
from tests.e2e.new_users import Sender, new_sender
from tests.e2e.system import System
from tests.texts import label, like
from tests.waiting import until

NOTE = "Patungan makan siang"
CARD = like("payment_requests.card.caption")
WAY = [
    Move(like("checkout.request.destination.ask"), says="/request"),
    Move(like("checkout.number.ask_bank"), taps="BCA"),
    Move(like("checkout.request.holder.ask"), says="7731004455"),
    Move(like("checkout.request.amount.ask"), says="Sari Dewi"),
    Move(like("payment_requests.ask.note"), says="150rb"),
    Move(like("payment_requests.ask.uses"), says=NOTE),
    Move(like("payment_requests.review.seen"), taps=label("payment_requests.uses.once")),
    Move(like("checkout.review.what_to_change"), taps=label("checkout.review.change")),
    Move(like("payment_requests.ask.end"), taps=label("checkout.review.edit.end")),
    Move(like("payment_requests.review.seen"), taps="30 "),
    Move(like("payment_requests.review.confirmed"), taps=label("payment_requests.review.confirm")),
]
"""Every question, answered by text or by button, an edit from the review, and the confirmation."""

FIRST_REVIEW = WAY[6]


async def test_kill_9_before_and_after_each_answer_is_sent_loses_no_answer_and_makes_one_link(kirim: System) -> None:
    before_it, after_it = await new_sender(kirim), await new_sender(kirim)
    for move in WAY:
        # The first review is a message below what was typed. After a kill it takes the place of the question.
        is_edit = move.taps and move is not FIRST_REVIEW
        answers = calls_of(kirim, "editMessageText" if is_edit else "sendMessage")
        async with AsyncExitStack() as air:
            await air.enter_async_context(hold_call(answers, before_it.chat, "delay"))
            await air.enter_async_context(hold_call(answers, after_it.chat, "delay_after"))
            await move.make(before_it)
            await move.make(after_it)
        before = await answers.count()
        await kill_and_restart(kirim)
        if move is not FIRST_REVIEW:
            await until(partial(answers.are_more_than, before + 1), what="both answers")
        await before_it.chat.sees(move.sees)
        await after_it.chat.sees(move.sees)
        await wait_until_idle(kirim)
    for sender in (before_it, after_it):
        await has_one_link(kirim, sender)


async def test_kill_9_before_an_update_is_acknowledged_or_a_press_answered_makes_one_link(kirim: System) -> None:
    sender = await new_sender(kirim)
    for move in WAY:
        async with hold_call(calls_of(kirim, "answerCallbackQuery" if move.taps else "getUpdates")):
            await move.make(sender)
        await kill_and_restart(kirim)
        await sender.chat.sees(move.sees)
    await wait_until_idle(kirim)
    await has_one_link(kirim, sender)


async def has_one_link(system: System, sender: Sender) -> None:
    """Check that the asker has one request with all answers from before the kills, and one picture of it."""
    # The picture may have been in transit at the last kill. Then it is sent again, with a note.
    cards = [text_of(each) for each in await sender.chat.messages() if re.search(CARD, text_of(each))]
    assert_copies_are_marked(cards, kills=1)
    async with open_transaction(system) as tx:
        (request,) = await PaymentRequestRepository(tx).of_user(sender.chat.id)
    assert (request.number, request.holder, request.idr, request.note) == (
        "7731004455",
        "Sari Dewi",
        150_000,
        NOTE,
    )
    assert request.ends_at is not None
    assert not request.is_reusable
