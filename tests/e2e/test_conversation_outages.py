"""When the service is down, forgetful or changes its mind: answers are kept, and the way on is shown."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.e2e.people import Newcomer, bot_knows, newcomer, taps_to_invoice, taps_to_review
from tests.e2e.world import World, world

METHODS, QUOTE, RAILS = "/v1/payout/methods", "/v1/quote", "/v1/deposit/rails"


@pytest.fixture
async def slow_poller(tmp_path: Path) -> AsyncIterator[World]:
    """A world whose bot looks at orders so seldom that only a person's wish brings news, and has cached nothing."""
    async with world(tmp_path, POLL_INTERVAL_SECONDS="300") as made:
        yield made


async def test_an_outage_costs_nobody_an_answer(slow_poller: World) -> None:
    service, emma = slow_poller.service, await newcomer(slow_poller)
    await service.fails_with("empty_list", method="GET", path=METHODS)
    await emma.says("/send")
    await emma.sees("The list of destinations is empty just now")
    await service.heals()
    await emma.taps("Try again")
    await emma.sees("Where should it go")
    await emma.taps("BCA")
    await emma.sees("Which account number")
    await emma.says("1234567890")
    await emma.sees("Whose account")
    await emma.taps("Skip")
    await emma.sees("How much")
    await service.fails_with("503", method="GET", path=QUOTE)
    await service.fails_with("html", method="GET", path=RAILS)
    await emma.says("500rb")
    await emma.sees("The service can't be reached right now. Your answers are kept")
    await emma.says("/rate")
    await emma.sees("The rate can't be had right now")
    await service.heals()
    await service.fails_with("html", method="GET", path=RAILS)
    await emma.taps("Continue")
    await emma.sees("Please check\n\nArrives: Rp500,000\n")
    assert "Way to pay" not in await emma.buttons()  # Lightning needs no rails
    await service.heals()
    await vanishes_and_comes_back(slow_poller, emma)


async def vanishes_and_comes_back(town: World, emma: Newcomer) -> None:
    """The chosen destination goes, and then the whole list, just before the confirmation."""
    await town.service.forgets_method("014")
    await emma.taps("Confirm")
    await emma.sees("BCA has just been taken off the list(?s:.*)Where should it go")
    await emma.says("mandiri")
    await emma.sees("Which account number")
    await emma.says("1234567890123")
    await emma.sees("Whose account")
    await emma.taps("Skip")
    await emma.sees("Arrives: Rp500,000\nAt: Mandiri")
    await town.service.fails_with("empty_list", method="GET", path=METHODS)
    await emma.taps("Confirm")
    await emma.sees("The service can't be reached right now. Your answers are kept")
    assert await town.service.orders() == []
    await town.service.heals()
    await emma.taps("Try again")
    await emma.sees("Please check")
    await emma.taps("Confirm")
    await emma.sees("Waiting for your payment, until")
    assert len(await town.service.orders()) == 1


async def test_one_can_ask_how_an_order_stands_and_rails_may_go(slow_poller: World) -> None:
    service, emma = slow_poller.service, await newcomer(slow_poller)
    card, order = await taps_to_invoice(slow_poller, emma)
    await service.fails_with("503", method="GET", path="/v1/offramp/orders")
    assert (await emma.taps("Refresh", message=card))["text"] == "Looking…"
    await emma.sees("The service can't be reached right now. This is what was last known:(?s:.*)⏳ Your payment")
    await service.heals()
    await service.pays(order)
    await emma.taps("Refresh", message=card)
    await emma.sees("✅ Payment received")
    await emma.sees("Payment received at", anywhere=True)
    await bot_knows(slow_poller, order, is_paid=1)


async def test_without_rails_only_lightning_is_offered(tmp_path: Path) -> None:
    async with world(tmp_path, POLL_INTERVAL_SECONDS="300") as made:
        await made.service.does("settings", configured=False)
        emma = await newcomer(made)
        await taps_to_review(emma)
        assert "Way to pay" not in await emma.buttons()
