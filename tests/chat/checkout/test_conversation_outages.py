"""Stories of a service that is down, loses orders or changes its list: answers are kept, and users can continue."""

from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import pytest

from tests.chat.system import running_in_process
from tests.e2e.bot_database import wait_for_row
from tests.e2e.chat_user import ChatUser, text_of
from tests.e2e.faults import calls_of, wait_until_idle
from tests.e2e.new_users import new_user
from tests.e2e.orders.steps import refresh_status, review_pattern, tap_to_invoice, tap_to_review
from tests.e2e.system import System
from tests.texts import label, like
from tests.waiting import until

METHODS, QUOTE, RAILS = "/v1/payout/methods", "/v1/quote", "/v1/deposit/rails"


@pytest.fixture
async def slow_poller(tmp_path: Path) -> AsyncIterator[System]:
    """A system whose bot rarely polls, so only a user's tap leads to a notification. Nothing is cached."""
    async with running_in_process(tmp_path, POLL_INTERVAL_SECONDS="300") as made:
        yield made


async def test_an_outage_costs_nobody_an_answer(slow_poller: System) -> None:
    service, emma = slow_poller.service, await new_user(slow_poller)
    await service.fails_with("503", method="GET", path=QUOTE)
    await service.fails_with("empty_list", method="GET", path=METHODS)
    await emma.says("/send")
    await emma.sees(like("checkout.destination.none"))
    await service.heals()
    await service.fails_with("503", method="GET", path=QUOTE)
    await emma.taps(label("orders.button.try_again"))
    await emma.sees(f"^{like('checkout.destination.ask')}$")  # without a quote there is no price
    await emma.taps("BCA")
    await emma.sees(like("checkout.number.ask_bank"))
    await emma.says("1234567890")
    await emma.sees(like("checkout.holder.ask"))
    await emma.taps(label("checkout.holder.skip"))
    asked = await emma.sees(like("checkout.amount.ask"))
    assert "≈" not in text_of(asked)
    assert "Rp500,000" in await emma.buttons()
    await service.fails_with("html", method="GET", path=RAILS)
    await emma.says("$20")
    await emma.sees(like("core.amount.foreign"))
    await emma.says("500rb")
    await emma.sees(like("checkout.service.down"))
    await emma.says("/rate")
    await emma.sees(like("rates.none"))
    await emma.says("/start")
    await emma.sees(like("home.welcome.cost_unpriced", minimum="Rp20,000", fee="Rp5,000"))
    await service.heals()
    await service.fails_with("html", method="GET", path=RAILS)
    await emma.taps(label("checkout.draft.continue"))
    await emma.sees(review_pattern(amount="Rp500,000"))
    assert label("checkout.review.use_way", way="cbBTC") not in await emma.buttons()  # Lightning needs no rails
    await service.heals()
    await vanishes_and_comes_back(slow_poller, emma)


async def vanishes_and_comes_back(shared_system: System, emma: ChatUser) -> None:
    """Remove the chosen destination, and then the whole list, just before the confirmation."""
    await shared_system.service.forgets_method("014")
    await emma.taps(label("checkout.review.confirm"))
    await emma.sees(f"{like('checkout.destination.vanished', name='BCA')}\n\n{like('checkout.destination.ask')}")
    await emma.says("mandiri")
    await emma.sees(like("checkout.number.ask_bank"))
    await emma.says("1234567890123")
    await emma.sees(like("checkout.holder.ask"))
    await emma.taps(label("checkout.holder.skip"))
    await emma.sees(review_pattern(amount="Rp500,000", bank="Mandiri · BANK MANDIRI"))
    await shared_system.service.fails_with("empty_list", method="GET", path=METHODS)
    await emma.taps(label("checkout.review.confirm"))
    await emma.sees(like("checkout.service.down"))
    assert await shared_system.service.orders() == []
    await shared_system.service.heals()
    await emma.sees(f"{like('checkout.service.back')}(?s:.*){like('checkout.review.title')}")
    await emma.taps(label("checkout.review.confirm"))
    await emma.sees(like("orders.status_message.waiting"))
    assert len(await shared_system.service.orders()) == 1


async def test_one_can_ask_how_an_order_stands_and_rails_may_go(slow_poller: System) -> None:
    service, emma = slow_poller.service, await new_user(slow_poller)
    pay, order = await tap_to_invoice(slow_poller, emma)
    await service.fails_with("503", method="GET", path="/v1/offramp/orders")
    assert (await refresh_status(slow_poller, emma, pay, order))["text"] == label("orders.status_message.looking")
    await emma.sees(f"{like('orders.status_message.cannot_look')}(?s:.*)⏳ {like('orders.step.payment')}")
    await service.heals()
    await service.pays(order)
    await refresh_status(slow_poller, emma, pay, order)
    await emma.sees(f"{like('orders.notification.paid')}(?s:.*)✅ {like('orders.step.paid')}")
    await wait_for_row(slow_poller, order, is_paid=1)


async def test_without_rails_only_lightning_is_offered(tmp_path: Path) -> None:
    async with running_in_process(tmp_path, POLL_INTERVAL_SECONDS="300") as made:
        await made.service.does("settings", configured=False)
        emma = await new_user(made)
        await tap_to_review(emma)
        assert label("checkout.review.use_way", way="cbBTC") not in await emma.buttons()


async def test_the_order_stays_in_sight_and_comes_back_after_a_restart(slow_poller: System) -> None:
    service, emma = slow_poller.service, await new_user(slow_poller)
    await service.fails_with("503", method="GET", path=QUOTE)
    await emma.says("500rb bca 1234567890 Budi")
    down = await emma.sees(like("checkout.service.down"))
    assert "Rp500,000" in down["text"]
    assert "7890" in down["text"]
    await wait_until_idle(slow_poller)
    await slow_poller.kill_bot()
    await service.heals()
    await slow_poller.start_bot()
    back = await emma.sees(f"{like('checkout.service.back')}(?s:.*){like('checkout.review.title')}")
    assert back["message_id"] == down["message_id"]
    assert await service.orders() == []
    await emma.taps(label("checkout.review.confirm"))
    await emma.sees(like("orders.status_message.waiting"))
    assert len(await service.orders()) == 1


async def test_an_order_comes_back_below_another_message_unless_it_was_cancelled(
    slow_poller: System,
) -> None:
    service = slow_poller.service
    emma, sari, budi = [await new_user(slow_poller) for _ in range(3)]
    await service.fails_with("503", method="GET", path=QUOTE)
    for user in (emma, sari, budi):
        await user.says("500rb bca 1234567890 Budi")
        await user.sees(like("checkout.service.down"))
    await emma.says("/cancel")
    await emma.sees(like("checkout.draft.cancelled"))
    await sari.says("/settings")
    settings = await sari.sees(like("home.settings.text"))
    await budi.says("/phrase")
    phrase = await budi.sees(like("users.phrase.offer"))
    await service.heals()
    back = await sari.sees(f"{like('checkout.service.back')}(?s:.*){like('checkout.review.title')}")
    assert back["message_id"] > settings["message_id"]
    assert await emma.count(like("checkout.service.back")) == 0
    # While Budi is asked for words that he types, nothing takes their place.
    assert await budi.count(like("checkout.service.back")) == 0
    await budi.taps(label("users.phrase.use"), message=phrase)
    await budi.sees(like("checkout.service.back"))
    assert [len(await service.orders()), await sari.count(like("checkout.service.back"))] == [0, 1]


async def test_whatever_takes_longer_than_a_second_shows_that_it_is_at_work(slow_poller: System) -> None:
    emma, typing = await new_user(slow_poller), calls_of(slow_poller, "sendChatAction")
    await slow_poller.service.fails_with("delay", method="GET", path=METHODS, seconds=2, times=1)
    await emma.says("/send")
    await until(partial(typing.are_more_than, 0, emma.id), what="the sign that the bot is at work")
    await emma.sees(like("checkout.destination.ask"))
