"""Simultaneous reads of the list, the quote and the rails share one request. Failures aren't cached."""

import asyncio
from datetime import timedelta

import pytest

from bot.payments.tokens import CODES
from bot.settlement.catalogue import KEEP_METHODS, KEEP_QUOTE, CachedValue, ServiceCatalogue
from bot.settlement.errors import NoAnswer
from tests.settlement.builders import BCA
from tests.settlement.fake_settlement import FakeSettlement, MovedClock


@pytest.fixture
def clock() -> MovedClock:
    return MovedClock()


@pytest.fixture
def service(clock: MovedClock) -> FakeSettlement:
    return FakeSettlement(clock)


@pytest.fixture
def catalogue(service: FakeSettlement, clock: MovedClock) -> ServiceCatalogue:
    return ServiceCatalogue(service, clock)


class Fetch:
    """A request that the test answers."""

    def __init__(self) -> None:
        self.started = 0
        self.answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    async def __call__(self) -> str:
        self.started += 1
        return await self.answer


async def test_many_who_ask_at_once_share_one_request(clock: MovedClock) -> None:
    fetch = Fetch()
    shared = CachedValue(fetch, timedelta(seconds=15), clock)
    asking = [asyncio.create_task(shared.get(fresh=index % 2 == 0)) for index in range(50)]
    await asyncio.sleep(0)
    fetch.answer.set_result("list")
    assert await asyncio.gather(*asking) == ["list"] * 50
    assert fetch.started == 1


async def test_a_value_is_kept_for_its_time_and_no_longer(
    catalogue: ServiceCatalogue, service: FakeSettlement, clock: MovedClock
) -> None:
    await catalogue.quote()
    clock.passes(seconds=KEEP_QUOTE.total_seconds() - 0.1)
    await catalogue.quote()
    assert service.times("quote") == 1
    clock.passes(seconds=0.1)
    await catalogue.quote()
    assert service.times("quote") == 2


async def test_the_list_is_fetched_anew_where_that_is_asked_for(
    catalogue: ServiceCatalogue, service: FakeSettlement
) -> None:
    await catalogue.methods()
    service.methods = (BCA,)
    assert len(await catalogue.methods()) == 3
    assert await catalogue.methods(fresh=True) == (BCA,)
    assert await catalogue.methods() == (BCA,)
    assert service.times("methods") == 2


async def test_a_failure_to_refresh_is_not_hidden_behind_an_old_value(
    catalogue: ServiceCatalogue, service: FakeSettlement, clock: MovedClock
) -> None:
    await catalogue.methods()
    clock.passes(seconds=KEEP_METHODS.total_seconds())
    service.reads.append(NoAnswer())
    with pytest.raises(NoAnswer):
        await catalogue.methods()


async def test_lightning_is_always_offered_and_the_others_while_the_service_has_them(
    catalogue: ServiceCatalogue, service: FakeSettlement, clock: MovedClock
) -> None:
    assert await catalogue.channels() == CODES
    clock.passes(minutes=1)
    service.rails = frozenset({"btcb", "dogecoin"})
    assert await catalogue.channels() == ("lightning", "btcb")
    clock.passes(minutes=1)
    service.rails = frozenset()
    assert await catalogue.channels() == ("lightning",)


async def test_tokens_may_be_offered_until_the_service_says_otherwise_and_nothing_is_asked_for_it(
    catalogue: ServiceCatalogue, service: FakeSettlement, clock: MovedClock
) -> None:
    assert catalogue.may_offer_tokens, "nothing is known yet"
    service.rails = frozenset()
    assert catalogue.may_offer_tokens, "it isn't asked"
    await catalogue.channels()
    clock.passes(minutes=60)
    assert not catalogue.may_offer_tokens
    service.rails = frozenset({"btcb"})
    await catalogue.channels()
    assert catalogue.may_offer_tokens
