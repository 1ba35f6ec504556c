"""`/next`: one ticket after the other, with its order as it is now. What waits comes back. Strangers get nowhere."""

import re
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from bot.sandbox.telegram import SUPPORT_GROUP_ID
from tests.chat.system import InProcessSystem, running_in_process
from tests.e2e.chat_user import ChatUser, Json, text_of
from tests.e2e.new_users import new_user
from tests.e2e.orders.steps import complete_order, tap_to_invoice
from tests.e2e.support.tickets import TICKET, ask_about_order
from tests.e2e.system import System
from tests.texts import label, like, says

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def kirim(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[InProcessSystem]:
    """Start a bot with two agents and a group in English."""
    folder = tmp_path_factory.mktemp("next")
    async with running_in_process(folder, SUPPORT_IDS="3001,2001", DEFAULT_LOCALE="en") as made:
        for staff in (made.oscar, made.rina):
            await staff.speaks("en")
            await staff.says("/start")
        yield made


async def ask(system: System, words: str, *, is_paid: bool = False) -> tuple[ChatUser, Json]:
    """Let a new user write to support about their order."""
    user = await new_user(system)
    _, order = await tap_to_invoice(system, user)
    if is_paid:
        await system.service.pays(order)
        await user.sees(like("orders.notification.paid"))
    await ask_about_order(system, user, order, words)
    return user, order


def next_of(page: Json) -> str:
    """Return the ticket that a page is about."""
    (reference,) = set(TICKET.findall(text_of(page).split("\n", 1)[0]))
    return str(reference)


async def get_next(agent: ChatUser) -> Json:
    """Ask for the next ticket, and return its page."""
    sent = await agent.says("/next")
    return await agent.waits_for(lambda m: m["message_id"] > sent["message_id"] and is_page(m), what="/next")


def is_page(message: Json) -> bool:
    """Return whether a message is what `/next` shows, and not a card."""
    return label("support.next.when") in str(message.get("reply_markup"))


async def press(agent: ChatUser, page: Json, key: str, seen: str) -> Json:
    """Press a button of the page, and return the page when it shows the text of `seen`."""
    await agent.taps(label(key), message=await agent.finds(page))
    return await agent.waits_for(
        lambda m: m["message_id"] == page["message_id"] and says(text_of(m), seen), anywhere=True, what=seen
    )


async def replies_in(user: ChatUser) -> list[str]:
    """Return the texts of support's replies in the user's chat."""
    return [text_of(each) for each in await user.messages() if says(text_of(each), "support.ticket.from_support")]


async def close_all(agent: ChatUser) -> None:
    """Close what other stories have left, one ticket after the other."""
    while True:
        sent = await agent.says("/next")
        found = await agent.waits_for(
            lambda m, sent=sent: (
                m["message_id"] > sent["message_id"]  # type: ignore[misc]
                and (is_page(m) or says(text_of(m), "support.next.none"))
            ),
            what="/next",
        )
        if not is_page(found):
            return
        await press(agent, found, "support.next.close", "support.next.sent_and_closed")


@pytest_asyncio.fixture(loop_scope="module")
async def rina(kirim: InProcessSystem) -> ChatUser:
    """Return Rina in the group. No ticket of another story waits."""
    group = ChatUser(kirim.telegram, kirim.rina.id, SUPPORT_GROUP_ID)
    await close_all(group)
    return group


async def test_the_ticket_with_money_at_risk_comes_first_and_is_answered_and_closed_by_one_press(
    kirim: InProcessSystem, rina: ChatUser
) -> None:
    asker, _ = await ask(kirim, "Which banks do you have?")
    payer, order = await ask(kirim, "Where is <b>my</b> money?\nI paid.", is_paid=True)
    page = await get_next(rina)
    shown = text_of(page)
    assert says(shown, "support.next.money")
    assert "Where is <b>my</b> money?\nI paid." in shown
    assert order["id"] in shown
    assert "1234567890" not in shown
    assert says(shown, "support.next.read")
    first, second = (await rina.labels_of(page))[:2]
    assert (first, second) == ("✓ payment-received", "taking-longer")
    assert "We've received your payment" in shown
    assert await replies_in(payer) == [], "nothing is sent by looking at it"
    await rina.taps(second, message=page)
    page = await rina.waits_for(lambda m: "longer than usual" in text_of(m), anywhere=True)
    done = await press(rina, page, "support.next.close", "support.next.sent_and_closed")
    await payer.sees(like("support.ticket.closed_solved"), anywhere=True)
    assert len(await replies_in(payer)) == 1
    assert "longer than usual" in (await replies_in(payer))[0]
    await rina.taps(label("support.next.next"), message=done)
    following = await rina.waits_for(lambda m: is_page(m) and m["message_id"] > done["message_id"], what="the next one")
    assert "Which banks do you have?" in text_of(following)
    assert not says(text_of(following), "support.next.money")
    await rina.says("We list them at the first question.", reply_to=following)
    await asker.sees("We list them at the first question.")


async def test_a_page_that_was_shown_before_the_last_reply_sends_nothing(
    kirim: InProcessSystem, rina: ChatUser
) -> None:
    user, _ = await ask(kirim, "Where is it?", is_paid=True)
    first, second = await get_next(rina), await get_next(rina)
    await press(rina, first, "support.next.send", "support.next.sent")
    await press(rina, second, "support.next.send", "support.next.changed")
    await press(rina, second, "support.next.close", "support.next.sent_and_closed")
    await user.sees(like("support.ticket.closed_solved"), anywhere=True)
    assert len(await replies_in(user)) == 2, "the second one after it was shown again"


async def test_nothing_is_sent_when_the_order_has_moved_since_it_was_shown(
    kirim: InProcessSystem, rina: ChatUser
) -> None:
    user, order = await ask(kirim, "Where is it?", is_paid=True)
    page = await get_next(rina)
    await complete_order(kirim, order)
    again = await press(rina, page, "support.next.close", "support.next.changed")
    assert says(text_of(again), "orders.status.sent"), "the new state is shown"
    assert await replies_in(user) == []
    await press(rina, again, "support.next.close", "support.next.sent_and_closed")
    await user.sees(like("support.ticket.closed_solved"), anywhere=True)
    (said,) = await replies_in(user)
    assert "We've sent the" in said


async def test_words_that_the_agent_has_not_seen_are_shown_before_anything_is_sent(
    kirim: InProcessSystem, rina: ChatUser
) -> None:
    user, _ = await ask(kirim, "Where is it?")
    page = await get_next(rina)
    await user.taps(label("support.button.write_more"))
    await user.says("It arrived, thanks!")
    await user.sees(like("support.ticket.added"))
    again = await press(rina, page, "support.next.close", "support.next.changed")
    assert "It arrived, thanks!" in text_of(again)
    assert await replies_in(user) == []


async def test_without_an_answer_of_the_service_the_agent_is_told_and_decides(
    kirim: InProcessSystem, rina: ChatUser
) -> None:
    user, order = await ask(kirim, "Where is it?")
    page = await get_next(rina)
    await kirim.service.fails_with("503", method="GET", path=f"/v1/offramp/orders/{order['id']}")
    again = await press(rina, page, "support.next.close", "support.next.changed")
    assert says(text_of(again), "support.next.not_read")
    await press(rina, again, "support.next.close", "support.next.sent_and_closed")
    await kirim.service.heals()
    await user.sees(like("support.ticket.closed_solved"), anywhere=True)
    assert len(await replies_in(user)) == 1


async def test_what_waits_for_its_order_comes_back_to_its_agent_when_the_order_moves(
    kirim: InProcessSystem, rina: ChatUser
) -> None:
    user, order = await ask(kirim, "Where is it?", is_paid=True)
    page = await get_next(rina)
    sent = await press(rina, page, "support.next.send", "support.next.sent")
    await user.sees("We've received your payment", anywhere=True)
    paused = await press(rina, sent, "support.next.order", "support.next.paused")
    reference = next_of(page)
    await rina.waits_for(lambda m: says(text_of(m), "support.staff_ticket.paused"), anywhere=True, what="the card")
    await rina.taps(label("support.next.next"), message=await rina.finds(paused))
    await rina.sees(like("support.next.none", paused=re.compile("[1-9]")))
    await complete_order(kirim, order)
    back = await rina.sees(like("support.staff_ticket.step_moved", reference=reference), anywhere=True)
    assert {"text_mention", "mention"} & {each["type"] for each in back["entities"]}, "it notifies its agent"
    assert next_of(await get_next(rina)) == reference
    assert len(await replies_in(user)) == 1


async def test_what_waits_until_a_time_comes_back_earlier_when_its_customer_writes(
    kirim: InProcessSystem, rina: ChatUser
) -> None:
    user, _ = await ask(kirim, "Where is it?")
    page = await get_next(rina)
    asked = await press(rina, page, "support.next.when", "support.next.until")
    await rina.waits_for(lambda m: label("support.saved_reply.back") in str(m.get("reply_markup")), anywhere=True)
    times = [each for each in await rina.labels_of(await rina.finds(asked) or asked) if re.search("[0-9]", each)]
    assert len(times) == len(set(times)) == 4
    await rina.taps(times[0], message=await rina.finds(asked))
    await rina.sees(like("support.next.paused"), anywhere=True)
    await user.taps(label("support.button.write_more"))
    await user.says("Still nothing")
    await user.sees(like("support.ticket.added"))
    assert "Still nothing" in text_of(await get_next(rina))


async def test_two_agents_get_two_tickets_and_cannot_press_for_each_other(
    kirim: InProcessSystem, rina: ChatUser
) -> None:
    for words in ("Where is it?", "And mine?"):
        await ask(kirim, words)
    oscar = ChatUser(kirim.telegram, kirim.oscar.id, SUPPORT_GROUP_ID)
    rinas, oscars = await get_next(rina), await get_next(oscar)
    assert next_of(rinas) != next_of(oscars)
    assert next_of(await get_next(rina)) == next_of(rinas), "until she has done something with it"
    for key in ("support.next.close", "support.next.order", "support.next.when"):
        refused = await oscar.taps(label(key), message=await rina.finds(rinas))
        assert refused["text"] == label("support.ticket.held_by_another")
    await close_all(oscar)


async def test_strangers_and_former_agents_get_nowhere(kirim: InProcessSystem, rina: ChatUser) -> None:
    emma, order = await ask(kirim, "Where is it?")
    page = await get_next(rina)
    pressed = [
        each["callback_data"]
        for row in page["reply_markup"]["inline_keyboard"]
        for each in row
        if "callback_data" in each
    ]
    await emma.says("/next")
    await emma.sees(like("checkout.chat.unknown_command"))
    under = await emma.sees(like("checkout.chat.unknown_command"))
    for data in ("nx:next", *pressed):
        assert (await emma.presses(under, data, force=True))["text"] == label("support.staff.not_yours")
    await kirim.stop_bot()
    await kirim.start_bot(SUPPORT_IDS="2001")
    for data in ("nx:next", *pressed):
        assert (await rina.presses(page, data, force=True))["text"] == label("support.staff.not_yours", "en")
    sent = await rina.says("/next")
    oscar = ChatUser(kirim.telegram, kirim.oscar.id, SUPPORT_GROUP_ID)
    assert next_of(await get_next(oscar)) == next_of(page), "what she had claimed isn't lost"
    answers = [
        m for m in await rina.messages() if m.get("reply_to_message", {}).get("message_id") == sent["message_id"]
    ]
    assert [text_of(each) for each in answers] == [label("users.group_chat.text")]
    await close_all(oscar)
    await kirim.stop_bot()
    await kirim.start_bot(SUPPORT_IDS="3001,2001")
    await emma.sees(like("support.ticket.closed_solved"), anywhere=True)
    assert len(await replies_in(emma)) == 1
    assert order["id"]


async def test_in_another_tickets_topic_it_is_still_that_tickets_topic(kirim: InProcessSystem, rina: ChatUser) -> None:
    first, _ = await ask(kirim, "Where is it?")
    page = await get_next(rina)
    await press(rina, page, "support.next.order", "support.next.paused")
    second, _ = await ask(kirim, "And mine?")
    card = await rina.waits_for(
        lambda m: next_of(page) in text_of(m) and says(text_of(m), "support.staff_ticket.paused"), anywhere=True
    )
    sent = await rina.says("/next", topic=card["message_thread_id"])
    other = await rina.waits_for(lambda m: m["message_id"] > sent["message_id"] and is_page(m), what="/next")
    assert next_of(other) != next_of(page)
    await rina.says("Is it there now?", topic=card["message_thread_id"])
    asked = await rina.waits_for(
        lambda m: says(text_of(m), "support.staff.ask_to_send", ticket=next_of(page)),
        anywhere=True,
        what="whether to send",
    )
    await rina.presses(asked, asked["reply_markup"]["inline_keyboard"][0][0]["callback_data"])
    await first.sees("Is it there now?", anywhere=True)
    await rina.says("We're looking into it.", reply_to=other)
    await second.sees("We're looking into it.", anywhere=True)
    assert await replies_in(first) != await replies_in(second)
