"""Stories of a service that is down, loses orders or changes its list: answers are kept, and users can continue."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.chat.system import running_in_process
from tests.e2e.faults import wait_until_idle
from tests.e2e.new_users import new_user
from tests.e2e.system import System
from tests.texts import label, like

METHODS, QUOTE, RAILS = "/v1/payout/methods", "/v1/quote", "/v1/deposit/rails"


@pytest.fixture
async def slow_poller(tmp_path: Path) -> AsyncIterator[System]:
    """A system whose bot rarely polls, so only a user's tap leads to a notification. Nothing is cached."""
    async with running_in_process(tmp_path, POLL_INTERVAL_SECONDS="300") as made:
        yield made


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
    await budi.sees(like("users.phrase.offer"))
    await budi.taps(label("users.phrase.own"))
    await budi.sees(like("users.phrase.ask"))
    await service.heals()
    back = await sari.sees(f"{like('checkout.service.back')}(?s:.*){like('checkout.review.title')}")
    assert back["message_id"] > settings["message_id"]
    assert await emma.count(like("checkout.service.back")) == 0
    # While Budi is asked for words that he types, nothing takes their place.
    assert await budi.count(like("checkout.service.back")) == 0
    await budi.says("kopi tubruk jam lima")
    await budi.sees(like("checkout.service.back"))
    assert [len(await service.orders()), await sari.count(like("checkout.service.back"))] == [0, 1]
