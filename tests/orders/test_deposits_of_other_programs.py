"""The bot doesn't show a deposit if another program with the same key has an equal one."""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from bot.core.money import Amount
from bot.orders.deposits import LONGEST_LIST, MAY_BE_PAID_FOR, has_all_open_deposits
from bot.orders.notifications import OrderNotification
from bot.orders.order import Order, Phase
from bot.payments.tokens import TOKENS
from bot.settlement.errors import KeyRefused, NoAnswer, SettlementFailure, SlowDown
from bot.settlement.model import NewestOrders, OrderRequest, PayoutMethod
from tests.mcp_server.agent_system import AgentSystem, open_agent_system
from tests.orders.order_system import EMMA, OSCAR, SARI, OrderSystem
from tests.settlement.builders import BRI, a_report
from tests.settlement.fake_settlement import FakeSettlement, MovedClock

SAT = Amount("SAT", 25_000)
SAME: dict[str, Any] = {"amount": SAT, "channel": "cbbtc"}
AGENTS = OrderRequest(method=BRI, number="9876543210", holder=None, amount=SAT, channel="cbbtc")


def place_agent_order(service: FakeSettlement, *, ago: timedelta = timedelta(0), request: OrderRequest = AGENTS) -> str:
    """Let another program create an order with our key, and return its id."""
    made = service.make(request).service_id
    service.records[made] = replace(service.records[made], created_at=service.now() - ago)
    return made


async def order_to_confirm(system: OrderSystem, service: FakeSettlement) -> Order:
    service.locked_rate = Decimal(1_600_000_000)
    order = await system.place(**SAME)
    service.locked_rate = None
    assert order.phase is Phase.NEEDS_CONFIRMATION
    return order


def fail_lists(service: FakeSettlement, monkeypatch: pytest.MonkeyPatch, failure: SettlementFailure) -> None:
    async def newest(_: int = LONGEST_LIST) -> Any:
        await asyncio.sleep(0)
        raise failure

    monkeypatch.setattr(service, "newest", newest)


async def is_withheld(system: OrderSystem, order: Order) -> None:
    await system.deliver()
    order = await system.order(order.reference)
    assert (order.phase, order.deposit) == (Phase.ABANDONED, None)
    assert system.sender.kinds()[-1] == OrderNotification.DEPOSIT_TAKEN
    assert system.sender.kinds(OSCAR) == []
    assert system.sender.payment_requests() == []


async def is_shown(system: OrderSystem, order: Order) -> None:
    await system.deliver()
    order = await system.order(order.reference)
    assert order.phase is Phase.OPEN
    assert order.deposit is not None
    assert system.sender.payment_requests() == [order.deposit.to_address]


@pytest.mark.parametrize("channel", TOKENS)
async def test_a_deposit_like_that_of_an_agent_is_not_shown_until_the_agents_is_done(
    system: OrderSystem, service: FakeSettlement, channel: str
) -> None:
    agents = place_agent_order(service, request=replace(AGENTS, channel=channel))
    await is_withheld(system, await system.place(amount=SAT, channel=channel))
    service.becomes(agents, "USDT_RECEIVED")
    await is_shown(system, await system.place(SARI, amount=SAT, channel=channel))


@pytest.mark.parametrize(
    "becomes",
    [
        lambda service, agents: service.becomes(agents, "FAILED"),
        lambda service, _: service.clock.passes(days=8),
        lambda service, agents: service.records.update({agents: replace(service.records[agents], sats=25_001)}),
    ],
)
async def test_what_an_agent_can_no_longer_be_paid_and_another_sum_keep_nothing_back(
    system: OrderSystem, service: FakeSettlement, becomes: Callable[[FakeSettlement, str], None]
) -> None:
    becomes(service, place_agent_order(service))
    await is_shown(system, await system.place(**SAME))


async def test_an_agents_order_that_appears_before_the_question_is_answered_is_seen(
    system: OrderSystem, service: FakeSettlement
) -> None:
    order = await order_to_confirm(system, service)
    place_agent_order(service, ago=timedelta(minutes=1))
    accepted = await system.orders.accept(order.reference)
    assert accepted is not None
    await is_withheld(system, accepted)


@pytest.mark.parametrize("failure", [NoAnswer(), SlowDown(retry_after=3), KeyRefused(), None])
async def test_a_price_is_not_accepted_while_the_list_cannot_say_what_is_open(
    system: OrderSystem, service: FakeSettlement, failure: SettlementFailure | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    order = await order_to_confirm(system, service)
    service.listed = False  # an empty list, as while the service's database is away
    if failure is not None:
        fail_lists(service, monkeypatch, failure)
    with pytest.raises(SettlementFailure):
        await system.orders.accept(order.reference)
    assert (await system.order(order.reference)).phase is Phase.NEEDS_CONFIRMATION
    monkeypatch.undo()
    service.listed = True
    assert await system.orders.accept(order.reference)
    await is_shown(system, order)


@pytest.mark.parametrize("failure", [NoAnswer(), SlowDown(retry_after=3), KeyRefused(), None])
async def test_a_deposit_waits_for_a_list_that_has_its_order(
    system: OrderSystem, service: FakeSettlement, failure: SettlementFailure | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    service.listed = False
    if failure is not None:
        fail_lists(service, monkeypatch, failure)
    order = await system.place(**SAME)
    await system.deliver()
    assert system.sender.kinds(EMMA) == [OrderNotification.CHECKING]
    await system.find_lost_orders()
    assert system.sender.payment_requests() == []
    monkeypatch.undo()
    service.listed = True
    await system.find_lost_orders(after=31)
    await is_shown(system, order)
    assert service.times("place") == 1


async def test_a_lost_order_that_is_found_is_compared_with_an_agents(
    system: OrderSystem, service: FakeSettlement
) -> None:
    place_agent_order(service)
    service.places.append("lost_after")
    order = await system.place(**SAME)
    assert order.phase is Phase.UNKNOWN
    await system.find_lost_orders()
    await is_withheld(system, order)


class BotAndAgent:
    """The bot and an agent, at one service with the same key."""

    def __init__(self, system: OrderSystem, agents: AgentSystem) -> None:
        self.system, self.agents = system, agents

    async def bot_shows(self) -> bool:
        quote = await self.system.settlement.quote()
        method = PayoutMethod("014", "BANK CENTRAL ASIA", "bank", None)
        return (await self.system.place(**SAME, method=method, quote=quote)).phase is Phase.OPEN

    async def agent_shows(self) -> bool:
        same = {"idrAmount": None, "satAmount": SAT.value, "depositChannel": "cbbtc"}
        made = await self.agents.call(
            "create_offramp_order",
            partnerBankCode="014",
            partnerBankName="BANK CENTRAL ASIA",
            recipientDetails="9876543210",
            **same,
        )
        return not made.is_error


@pytest.fixture(params=["documented", "live"])
async def bot_and_agent(request: pytest.FixtureRequest, file: str) -> AsyncIterator[BotAndAgent]:
    async with open_agent_system(request.param) as agents:
        clock = MovedClock()
        clock.at = agents.service.clock.now
        async with agents.service.client() as client:
            system = OrderSystem(file, FakeSettlement(clock), settlement=client)
            yield BotAndAgent(system, agents)
            await system.close()


async def test_of_a_bot_and_an_agent_at_once_exactly_one_shows_its_deposit(bot_and_agent: BotAndAgent) -> None:
    assert sorted(await asyncio.gather(bot_and_agent.bot_shows(), bot_and_agent.agent_shows())) == [False, True]


A_SECOND = timedelta(seconds=1)


@pytest.mark.parametrize(
    ("rows", "oldest_age", "has_all"),
    [
        (0, None, True),
        (LONGEST_LIST - 1, A_SECOND, True),
        (LONGEST_LIST, MAY_BE_PAID_FOR - A_SECOND, False),
        (LONGEST_LIST, MAY_BE_PAID_FOR, True),
        (LONGEST_LIST, None, False),
    ],
)
def test_a_list_has_every_open_deposit_if_it_is_short_or_reaches_back(
    rows: int, oldest_age: timedelta | None, *, has_all: bool
) -> None:
    now = MovedClock().now()
    reports = [a_report(service_id=str(number), state="ROUTE_SHOWN", created_at=now) for number in range(rows)]
    if reports:
        reports[-1] = replace(reports[-1], created_at=None if oldest_age is None else now - oldest_age)
    assert has_all_open_deposits(NewestOrders(tuple(reports)), now) is has_all
