"""Every result of the request for an order: what the user reads, and that one request is one order."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from functools import partial

import pytest
import pytest_asyncio

from tests.chat.system import running_in_process
from tests.e2e.chat_user import ChatUser, Json
from tests.e2e.faults import clear_faults, count_posts, invoices_in
from tests.e2e.local_times import move_to_noon
from tests.e2e.new_users import Sender, new_senders_at_review
from tests.texts import label, like
from tests.waiting import until

pytestmark = pytest.mark.asyncio(loop_scope="module")

CHECKING, ASKED = like("orders.notification.checking"), like("orders.notification.unresolved")
NO_ORDER = like("orders.notification.refused")
BCA = "014"
WARNING = like("staff.alarm.invoice_mismatch")
SHOWN = like("orders.status_message.waiting")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def ready(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[dict[str, list[Sender]]]:
    """Return a system for each profile of the service, with users who only need to confirm."""
    folders = [tmp_path_factory.mktemp(profile) for profile in ("documented", "live")]
    async with (
        running_in_process(folders[0], "documented", RECONCILE_SECONDS="1") as documented,
        running_in_process(folders[1], "live", RECONCILE_SECONDS="1") as live,
    ):
        await asyncio.gather(move_to_noon(documented.oscar), move_to_noon(live.oscar))
        crowds = await asyncio.gather(new_senders_at_review(documented, 25), new_senders_at_review(live, 5))
        yield dict(zip(("documented", "live"), crowds, strict=True))


@pytest_asyncio.fixture(loop_scope="module", params=["documented"])
async def sender(ready: dict[str, list[Sender]], request: pytest.FixtureRequest) -> AsyncIterator[Sender]:
    """Return a user who only needs to confirm. End all faults after the test."""
    chosen = ready[request.param].pop()
    yield chosen
    await clear_faults(chosen.system)
    await chosen.system.service.does(
        "settings", lockedPricePercent=0, wrongInvoice=None, wrongDeposit=None, databaseDown=False, clockSkewSeconds=0
    )
    await chosen.system.service.lists_all_methods()


def each_profile(name: str, documented: Sequence[str], live: Sequence[str]) -> pytest.MarkDecorator:
    """Return the test parameters of `name`, one for each profile."""
    cases = [("documented", case) for case in documented] + [("live", case) for case in live]
    return pytest.mark.parametrize(("sender", name), cases, indirect=["sender"])


async def is_shown_one_invoice(sender: Sender) -> None:
    await sender.chat.sees(SHOWN, anywhere=True)
    assert await invoices_in(sender.chat) == {order["invoiceBolt11"] for order in await sender.orders()}
    assert len(await sender.orders()) == 1


async def is_shown_nothing(sender: Sender, *, orders: int = 0) -> None:
    assert await invoices_in(sender.chat) == set()
    assert len(await sender.orders()) == orders


@pytest.mark.parametrize("fault", ["drop_before", "503"])
async def test_whether_an_order_exists_that_is_not_found_is_the_users_to_decide(sender: Sender, fault: str) -> None:
    before = await count_posts(sender.system)
    await sender.system.service.fails_with(fault, times=1)
    await sender.chat.taps(label("checkout.review.confirm"))
    await sender.chat.sees(CHECKING, anywhere=True)
    question = await sender.chat.sees(ASKED, anywhere=True)
    await is_shown_nothing(sender)
    assert await count_posts(sender.system) == before + 1
    await sender.chat.taps(label("orders.button.try_again"), message=question)
    await is_shown_one_invoice(sender)
    assert await count_posts(sender.system) == before + 2


@pytest.mark.parametrize(
    ("fault", "more", "told"),
    [
        ("429", {"retryAfter": 7}, NO_ORDER),
        (
            "400",
            {"error": "amount <b>odd</b> & over"},
            like(
                "orders.notification.refused_because",
                reason=label("orders.refusal.quoted", reason="amount <b>odd</b> & over"),
            ),
        ),
    ],
)
async def test_a_refused_order_is_told_at_once_and_not_tried_again(
    sender: Sender, fault: str, more: Json, told: str
) -> None:
    before = await count_posts(sender.system)
    await sender.system.service.fails_with(fault, times=1, method="POST", **more)
    await sender.chat.taps(label("checkout.review.confirm"))
    await sender.chat.sees(told, anywhere=True)
    await is_shown_nothing(sender)
    assert await count_posts(sender.system) == before + 1


async def test_a_destination_that_vanished_before_confirming_is_told_and_asked_for_again(sender: Sender) -> None:
    before = await count_posts(sender.system)
    await sender.system.service.forgets_method(BCA)
    await sender.chat.taps(label("checkout.review.confirm"))
    await sender.chat.sees(like("checkout.destination.vanished"), anywhere=True)
    await is_shown_nothing(sender)
    assert await count_posts(sender.system) == before
    await sender.chat.says("bni")
    await sender.chat.sees(like("checkout.number.ask_bank"))
    await sender.system.service.lists_all_methods()
    await sender.chat.says(sender.number)
    await sender.chat.sees(like("checkout.holder.ask"))
    await sender.chat.taps(label("checkout.holder.skip"))
    await sender.chat.sees(like("checkout.review.title"))
    await sender.chat.taps(label("checkout.review.confirm"))  # from here on the bot can read the whole list again
    await is_shown_one_invoice(sender)
    assert await count_posts(sender.system) == before + 1


async def test_a_price_that_moved_is_asked_about_before_the_invoice_is_shown(sender: Sender) -> None:
    before = await count_posts(sender.system)
    await sender.system.service.does("settings", lockedPricePercent=5)
    await sender.chat.taps(label("checkout.review.confirm"))
    await sender.chat.sees(like("orders.notification.price_moved"), anywhere=True)
    await is_shown_nothing(sender, orders=1)
    await sender.chat.taps(label("orders.button.accept_price"))
    await is_shown_one_invoice(sender)
    assert await count_posts(sender.system) == before + 1


@each_profile("wrong", ["amount", "network", "expired"], ["expired"])
async def test_an_invoice_that_is_not_what_was_agreed_is_never_shown_and_staff_hear_of_it(
    sender: Sender, wrong: str
) -> None:
    before, oscar = await count_posts(sender.system), sender.system.oscar
    warnings = await oscar.count(WARNING)
    await sender.system.service.does("settings", wrongInvoice=wrong)
    await sender.chat.taps(label("checkout.review.confirm"))
    await sender.chat.sees(like("orders.notification.not_shown"), anywhere=True)
    await is_shown_nothing(sender, orders=1)
    assert await count_posts(sender.system) == before + 1
    await until(partial(has_more, oscar, warnings), what="the warning")
    assert await oscar.count(sender.number) == 0


@each_profile("wrong", ["contract", "chain", "decimals", "qr"], ["qr"])
async def test_deposit_instructions_for_another_token_or_address_are_never_shown(sender: Sender, wrong: str) -> None:
    await sender.system.service.does("settings", wrongDeposit=wrong)
    await sender.chat.taps(label("checkout.review.use_way", way="cbBTC"))
    await sender.chat.taps(label("checkout.review.confirm_deposit"))
    await sender.chat.sees(like("orders.notification.not_shown"), anywhere=True)
    (order,) = await sender.orders()
    assert await sender.chat.count(order["deposit"]["toAddress"]) == 0


@pytest.mark.parametrize(("fault", "more"), [("503", {}), ("429", {"retryAfter": 30})])
async def test_while_the_service_is_away_the_answers_are_kept_and_the_order_is_placed_afterwards(
    sender: Sender, fault: str, more: Json
) -> None:
    before = await count_posts(sender.system)
    await sender.system.service.fails_with(fault, method="GET", path="/v1", **more)
    await sender.chat.taps(label("checkout.review.confirm"), wait=0)
    await sender.chat.sees(like("checkout.service.down"), anywhere=True)
    assert await count_posts(sender.system) == before
    await sender.system.service.heals()
    await sender.chat.sees(f"{like('checkout.service.back')}(?s:.*){like('checkout.review.title')}", anywhere=True)
    assert await count_posts(sender.system) == before  # only the user orders
    await sender.chat.taps(label("checkout.review.confirm"))
    await is_shown_one_invoice(sender)


async def has_more(user: ChatUser, known: int) -> bool:
    return await user.count(WARNING) > known
