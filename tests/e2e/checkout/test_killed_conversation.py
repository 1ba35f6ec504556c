"""Stories of a bot killed at every step of the conversation: users continue where they were, and no answer is lost."""

from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import partial

from bot.recipients.formatting import group_digits
from tests.e2e.faults import calls_of, count_posts, hold_call, invoices_in, kill_and_restart, wait_until_idle
from tests.e2e.new_users import Sender, new_sender
from tests.e2e.system import System
from tests.texts import label, like
from tests.waiting import until

NUMBER = "12345678"


@dataclass(frozen=True)
class Move:
    """A text that a user types or the button that they press, and the screen that follows."""

    sees: str
    says: str = ""
    taps: str = ""

    async def make(self, sender: Sender) -> None:
        """Type the text or press the button, without waiting for the answer."""
        if self.says:
            await sender.chat.says(self.says)
        else:
            await sender.chat.taps(self.taps, wait=0)


WAY = [
    Move(like("checkout.destination.ask"), says="/send"),
    Move(like("checkout.number.ask_bank"), taps="BCA"),
    Move(like("recipients.number.unusual_length", expected=10), says=NUMBER),
    Move(like("checkout.holder.ask"), taps=label("checkout.number.use_it")),
    Move(like("checkout.amount.ask"), says="Budi Santoso"),
    Move(like("checkout.amount.is_it", amount="Rp150,000"), says="150"),
    Move(like("checkout.review.title"), taps="150,000"),
    Move(like("checkout.review.what_to_change"), taps=label("checkout.review.change")),
    Move(like("checkout.amount.ask"), taps=label("checkout.review.edit.amount")),
    Move(like("checkout.review.title"), taps=label("users.button.back")),
]
"""Every question of the conversation, answered by text or by button, an edit from the review included."""


async def test_kill_9_before_and_after_each_answer_is_sent_lets_everybody_go_on_where_they_were(kirim: System) -> None:
    sender_before, sender_after = await new_sender(kirim), await new_sender(kirim)
    asked = {sender_before: 0, sender_after: 0}
    for move in WAY:
        answers = calls_of(kirim, "editMessageText" if move.taps else "sendMessage")
        async with AsyncExitStack() as air:
            await air.enter_async_context(hold_call(answers, sender_before.chat, "delay"))
            await air.enter_async_context(hold_call(answers, sender_after.chat, "delay_after"))
            await move.make(sender_before)
            await move.make(sender_after)
        before = await answers.count()
        await kill_and_restart(kirim)
        await until(partial(answers.are_more_than, before + 1), what="both answers")
        await sender_before.chat.sees(move.sees)
        await sender_after.chat.sees(move.sees)
        # What was edited in place is in sight before the bot asks again, in a new message.
        await wait_until_idle(kirim)
        for sender in asked if move.says else ():
            asked[sender] = max(asked[sender], await sender.chat.count(move.sees))
    # What may have arrived is asked once more; what surely did not is asked once.
    assert asked == {sender_before: 1, sender_after: 2}
    for sender in asked:
        await finishes(kirim, sender)
    assert await count_posts(kirim) == len(await kirim.service.orders()) == 2


async def test_kill_9_before_an_update_is_acknowledged_or_a_press_answered_repeats_nothing(kirim: System) -> None:
    sender = await new_sender(kirim)
    for move in WAY:
        async with hold_call(calls_of(kirim, "answerCallbackQuery" if move.taps else "getUpdates")):
            await move.make(sender)
        await kill_and_restart(kirim)
        await sender.chat.sees(move.sees)
    await finishes(kirim, sender)
    assert await count_posts(kirim) == len(await kirim.service.orders()) == 1


async def finishes(system: System, sender: Sender) -> None:
    """Check that the review and the order have all answers from before the kills."""
    review = await sender.chat.sees(like("checkout.review.title"), anywhere=True)
    given = ("Rp150,000", "BCA", group_digits(NUMBER), "Budi Santoso", label("payments.channel.lightning"))
    assert all(said in review["text"] for said in given)
    await sender.chat.taps(label("checkout.review.confirm"))
    await sender.chat.sees(like("orders.status_message.waiting"))
    assert len(await invoices_in(sender.chat)) == 1
    assert {order["idrAmount"] for order in await system.service.orders()} == {150_000}
