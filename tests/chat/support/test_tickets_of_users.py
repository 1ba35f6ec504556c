"""Users open, add to, rate and reopen their own tickets, and no others."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from bot.infra.i18n import LOCALES
from tests.chat.system import running_in_process
from tests.e2e.bot_database import wait_for_row
from tests.e2e.chat_user import ChatUser, Json, text_of
from tests.e2e.new_users import new_user
from tests.e2e.orders.steps import tap_to_invoice, tap_to_review
from tests.e2e.system import System
from tests.texts import label, like

pytestmark = pytest.mark.asyncio(loop_scope="module")

PICTURE = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
    "1f15c4890000000d49444154789c63f8cfc0f01f0005000"
    "1ff89993d1d0000000049454e44ae426082"
)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def kirim(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[System]:
    """Start a bot whose agents work in private. A group would take only 20 messages a minute."""
    async with running_in_process(tmp_path_factory.mktemp("tickets"), SUPPORT_CHAT_ID="0") as made:
        await made.rina.speaks("en")
        await made.rina.says("/start")
        yield made


def ticket_in(message: Json) -> str:
    """Return the reference of the ticket that a message names."""
    return next(word for word in text_of(message).split() if word.startswith("T-"))[:7]


async def open_ticket(user: ChatUser, text: str = "I can't find my receipt") -> tuple[Json, str]:
    """Write to support about no order, and return the answer and the ticket's reference."""
    await user.says("/help")
    await user.taps(label("support.button.write_to_us"))
    await user.sees(like("support.ticket.what_is_wrong"))
    await user.says(text)
    taken = await user.sees(like("support.ticket.is_open"))
    return taken, ticket_in(taken)


async def close_ticket(kirim: System, ticket: str) -> None:
    """Close a ticket as an agent."""
    head = await kirim.rina.sees(ticket, anywhere=True)
    await kirim.rina.presses(head, f"tk:{ticket}:closeas:solved", force=True)


async def test_who_writes_to_support_has_a_ticket_and_adds_to_it_by_replies(kirim: System) -> None:
    emma = await new_user(kirim)
    taken, ticket = await open_ticket(emma)
    more = await emma.says("It was yesterday", reply_to=taken)
    await emma.sees_reaction(more, "👌")
    photo = await emma.sends_photo(PICTURE, "see here", reply_to=taken)
    await emma.sees_reaction(photo, "👌")
    await emma.says("/help")
    await emma.taps(f"🎫 {ticket}")
    await emma.sees(
        f"{like('support.ticket.heading', ticket=ticket)}\n\n{like('support.ticket.opened_asked')}"
        f".*\n{like('support.ticket.waits')}"
    )


@pytest.mark.parametrize("language", LOCALES)
async def test_a_paid_order_that_fails_opens_one_and_a_reply_to_either_message_is_saved(
    kirim: System, language: str
) -> None:
    nina = await new_user(kirim)
    _, order = await tap_to_invoice(kirim, nina)
    await nina.speaks(language)
    await nina.says("/status")
    await nina.sees(like("orders.status.title", language))
    await kirim.service.pays(order)
    await wait_for_row(kirim, order, is_paid=1)
    await kirim.service.does("fail", orderId=order["id"])
    for what in ("orders.notification.failed_paid", "support.ticket.by_itself_failed"):
        notification = await nina.sees(like(what, language), anywhere=True)
        written = await nina.says("?", reply_to=notification)
        await nina.sees_reaction(written, "👌")


async def test_in_the_middle_of_a_draft_one_writes_to_support_and_goes_on(kirim: System) -> None:
    emma = await new_user(kirim)
    await tap_to_review(emma)
    await emma.says("/help")
    await emma.taps(label("support.button.write_to_us"))
    await emma.sees(like("support.ticket.what_is_wrong"))
    await emma.says("Is this safe?")
    taken = await emma.sees(like("support.ticket.is_open"))
    assert await emma.labels_of(taken) == [label("checkout.draft.continue"), label("support.button.write_more")]
    await emma.taps(label("checkout.draft.continue"), message=taken)
    await emma.sees(like("checkout.review.title"))


async def test_what_answers_nothing_goes_to_support_only_by_a_tap(kirim: System) -> None:
    emma = await new_user(kirim)
    _, ticket = await open_ticket(emma)
    await emma.says("By the way, it was a mango")
    asked = await emma.sees(like("support.ticket.for_support"))
    assert await kirim.rina.count("mango") == 0
    await emma.taps(label("support.button.pass_on", ticket=ticket), message=asked)
    await emma.sees(like("support.ticket.added", ticket=ticket))
    await kirim.rina.sees("By the way, it was a mango", anywhere=True)
    await emma.presses(asked, f"t:{ticket}:pass", force=True)
    await emma.says("500rb bca 1234567890 Budi")
    await emma.sees(like("checkout.review.title"))
    assert await kirim.rina.count("By the way, it was a mango") == 1
    toast = await emma.presses(await emma.sees(like("checkout.review.title")), f"t:{ticket}:pass", force=True)
    assert toast["text"] == label("support.ticket.nothing_to_pass_on")


async def test_a_closed_ticket_is_told_rated_and_reopened_by_a_word(kirim: System) -> None:
    emma = await new_user(kirim)
    _, ticket = await open_ticket(emma)
    await close_ticket(kirim, ticket)
    message = await emma.sees(like("support.ticket.closed_solved"), anywhere=True)
    assert ticket in text_of(message)
    assert (await emma.taps(label("support.button.rate_good"), message=message))["text"] == label(
        "support.ticket.thanks"
    )
    await emma.sees(like("support.ticket.rated_good"))
    await emma.taps(label("support.button.rate_bad"), message=message)
    await emma.sees(like("support.ticket.rated_bad"))
    await emma.says("Still not there", reply_to=message)
    again = await emma.sees(like("support.ticket.is_open"))
    assert ticket_in(again) == ticket
    await emma.taps(label("support.button.rate_good"), message=message)
    await emma.says("/help")
    await emma.taps(f"🎫 {ticket}")
    await emma.sees(like("support.ticket.waits"))


async def test_nobody_reaches_anothers_ticket(kirim: System) -> None:
    emma, mallory = await new_user(kirim), await new_user(kirim)
    taken, ticket = await open_ticket(emma)
    await close_ticket(kirim, ticket)
    await emma.sees(like("support.ticket.closed_solved"), anywhere=True)
    await mallory.says("/help")
    helped = await mallory.sees(like("support.help.text"))
    for action in ("show", "say", "reopen", "rate:bad", "rate:x"):
        toast = await mallory.presses(helped, f"t:{ticket}:{action}", force=True)
        assert toast["text"] == label("support.ticket.gone")
    await mallory.forwards_of(emma, text_of(taken))
    await mallory.sees(like("home.chat.not_understood"))
    await emma.taps(label("support.button.write_more"), message=taken)
    await emma.sees(like("support.ticket.write_to_reopen", ticket=ticket))
