"""The bot in the process of the tests behaves as one in a process of its own."""

import pytest

from tests.chat.system import InProcessSystem
from tests.e2e.faults import confirm_found_order
from tests.e2e.new_users import new_sender_at_review, new_user
from tests.e2e.support.tickets import open_ticket
from tests.texts import label, like
from tests.waiting import until


async def test_a_bot_that_was_stopped_continues_with_the_question_when_it_starts_again(kirim: InProcessSystem) -> None:
    emma = await new_user(kirim)
    await emma.says("/send")
    await emma.sees(like("checkout.destination.ask"))
    assert await kirim.stop_bot() == 0
    await emma.says("bca")
    await kirim.start_bot()
    await emma.sees(like("checkout.number.ask_bank"))


async def test_a_message_whose_connection_drops_was_perhaps_sent(kirim: InProcessSystem) -> None:
    sender = await new_sender_at_review(kirim)
    await kirim.telegram_fails("drop_before", "sendPhoto", times=1)
    await sender.chat.taps(label("checkout.review.confirm"))

    async def is_logged() -> bool:
        return '"perhaps_sent": true' in kirim.read_log()

    await until(is_logged)


async def test_an_order_whose_answer_is_lost_is_found_in_the_list(kirim: InProcessSystem) -> None:
    sender = await new_sender_at_review(kirim)
    await kirim.service.fails_with("drop_after", times=1)
    await sender.chat.taps(label("checkout.review.confirm"))
    await confirm_found_order(sender.chat)
    await sender.chat.sees("lnbcrt")
    assert len(await sender.orders()) == 1


async def test_a_bot_that_cannot_start_is_reported_at_once(kirim: InProcessSystem) -> None:
    await kirim.stop_bot()
    (kirim.state / "kirim.db").write_bytes(b"no database")
    with pytest.raises(AssertionError, match="ended at its start"):
        await kirim.start_bot()


async def test_an_operator_gives_a_command_that_nobody_else_has(kirim: InProcessSystem) -> None:
    emma = await new_user(kirim)
    for user in (kirim.oscar, emma):
        await user.speaks("en")
        await user.says("/reconcile")
    await kirim.oscar.sees(like("operations.reconciliation.head"))
    await kirim.oscar.taps(label("operations.books.button"))
    await kirim.oscar.sees(like("operations.books.ask"))
    await emma.says("/help")
    await emma.sees(like("support.help.text"))
    assert await emma.count(like("operations.reconciliation.head")) == 0


async def test_support_answers_a_ticket_in_the_topic_of_its_group(kirim: InProcessSystem) -> None:
    case = await open_ticket(kirim)
    await case.answers("We have found your transfer.")
    await case.user.sees(like("support.ticket.from_support", ticket=case.reference))
    await case.is_claimed_by(case.rina)
    await case.user.says("Thank you!", reply_to=(await case.user.messages())[-1])
    await case.in_topic("Thank you!")
