"""A line that begins with "minta" asks for rupiah, and never becomes an order to pay. `/request` takes a line, too."""

import asyncio

import pytest

from bot.orders.repository import OrderRepository
from tests.chat.payment_requests.test_asking import LINK, NUMBER
from tests.e2e.bot_database import open_transaction
from tests.e2e.chat_user import ChatUser, text_of
from tests.e2e.new_users import new_user
from tests.e2e.orders.steps import review_pattern
from tests.e2e.system import System
from tests.texts import label, like

ACCOUNT = f"bca {NUMBER} Sari Dewi"
ORDER = review_pattern("en", amount="Rp100,000", number=NUMBER)


@pytest.mark.asyncio(loop_scope="session")
async def test_lines_that_ask_begin_requests_and_others_begin_orders(shared_system: System) -> None:
    asked = "payment_requests.ask.note"
    await asyncio.gather(
        *(
            says(shared_system, line, like(question))
            for line, question in (
                (f"minta 100rb {ACCOUNT}", asked),
                (f"Tolong minta 100rb {ACCOUNT}", asked),
                (f"mau tagih {ACCOUNT} 100rb", asked),
                (f"please request 100k {ACCOUNT}", asked),
                (f"I want to ask for 100k {ACCOUNT}", asked),
                (f"/request 100rb {ACCOUNT}", asked),
                (f"/request minta 100rb {ACCOUNT}", asked),
                (f"minta {ACCOUNT}", "checkout.request.amount.ask"),
                ("mau minta 100rb", "checkout.request.destination.ask"),
                ("tagih 100rb", "checkout.request.destination.ask"),
                (f"minta 100rb bca {NUMBER}", "checkout.request.holder.ask"),
                ("minta ke bca", "checkout.number.ask_bank"),
                ("request BCA", "checkout.number.ask_bank"),
                # Who is asked isn't whose account it is.
                ("tagih Budi 100rb", "checkout.request.destination.ask"),
            )
        ),
        *(
            says(shared_system, line, ORDER)
            for line in (
                f"100rb {ACCOUNT} terima kasih",
                f"/send 100rb {ACCOUNT} dia minta hari ini",
                f"minta tolong kirim 100rb ke {ACCOUNT}",
            )
        ),
        says(shared_system, f"100rb {ACCOUNT} dia minta hari ini", like("home.start.text")),
        says(shared_system, "terima kasih", like("home.chat.thanks")),
        says(shared_system, "minta refund ke bca", like("orders.asked.none")),
        becomes_a_link(shared_system),
        is_not_to_somebody_who_was_paid_before(shared_system),
        has_a_sum_that_can_be_paid(shared_system, "1rb", "orders.amount.below_minimum"),
        has_a_sum_that_can_be_paid(shared_system, "25k sats", "payment_requests.amount.only_rupiah"),
        does_not_fill_an_open_order(shared_system),
        answers_the_first_question(shared_system, f"100rb {ACCOUNT}"),
        answers_the_first_question(shared_system, f"tolong minta 100rb {ACCOUNT}"),
    )


async def says(system: System, line: str, answer: str) -> ChatUser:
    """Return a new user who has sent this line and sees this answer."""
    user = await new_user(system)
    await user.says(line)
    await user.sees(answer)
    return user


async def becomes_a_link(system: System) -> None:
    sari = await says(system, f"minta 100rb {ACCOUNT}", like("payment_requests.ask.note"))
    await sari.taps(label("payment_requests.ask.no_note"))
    await sari.taps(label("payment_requests.uses.once"))
    review = await sari.sees(like("payment_requests.review.seen"))
    assert all(shown in text_of(review) for shown in ("Rp100,000", "Sari Dewi", "••••4455", "7731 0044 55"))
    await sari.taps(label("payment_requests.review.confirm"))
    assert LINK.search(text_of(await sari.sees(like("payment_requests.card.caption"))))
    async with open_transaction(system) as tx:
        assert await OrderRepository(tx).of_user(sari.id) == ()


async def is_not_to_somebody_who_was_paid_before(system: System) -> None:
    sari = await says(system, "/send 100rb bca 1234567890 Budi", review_pattern("en", holder="Budi"))
    await sari.taps(label("checkout.review.confirm"))
    await sari.sees(r"lnbcrt\w+")
    await sari.says("minta 100rb budi")
    await sari.sees(like("checkout.request.destination.ask_again"))


async def has_a_sum_that_can_be_paid(system: System, wrong: str, why: str) -> None:
    sari = await says(system, f"minta {wrong} {ACCOUNT}", like("payment_requests.ask.note"))
    await sari.taps(label("payment_requests.ask.no_note"))
    await sari.taps(label("payment_requests.uses.once"))
    await sari.sees(like(why))
    await sari.says("100rb")
    await sari.sees(like("payment_requests.review.seen"))


async def answers_the_first_question(system: System, line: str) -> None:
    sari = await says(system, "/request", like("checkout.request.destination.ask"))
    await sari.says(line)
    await sari.sees(like("payment_requests.ask.note"))


async def does_not_fill_an_open_order(system: System) -> None:
    sari = await says(system, "/send bca", like("checkout.number.ask_bank"))
    await sari.says(f"minta 100rb {ACCOUNT}")
    await sari.sees(like("payment_requests.ask.unfinished"))
    await sari.says(f"/request 100rb {ACCOUNT}")
    await sari.sees(like("checkout.draft.replaced"))
    await sari.says("minta 100rb dulu")  # the note
    await sari.sees(like("payment_requests.ask.uses"))
