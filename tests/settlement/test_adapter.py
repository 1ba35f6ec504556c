"""The adapter of the service, tested against a running one in both profiles, with all its failures."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from pydantic.alias_generators import to_camel

from bot.core.money import Amount, sats_for_rupiah
from bot.payments import bolt11
from bot.payments.erc681 import check_deposit
from bot.payments.tokens import TOKENS
from bot.sandbox.settlement import SANDBOX_API_KEY
from bot.settlement.adapter import RECORD, SettlementAdapter, to_report
from bot.settlement.budget import OrderPace
from bot.settlement.client import Order
from bot.settlement.model import (
    KeyRefused,
    OrderNotFound,
    OrderRequest,
    OutcomeUnknown,
    OutOfReach,
    Refused,
    ServiceDown,
    ServiceRecord,
    SlowDown,
)
from tests.sandbox.settlement_service import SandboxService, sandbox_service
from tests.settlement.builders import at_any_time

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

NUMBER = "1234567890"


@pytest.fixture(params=["documented", "live"])
async def service(request: pytest.FixtureRequest) -> AsyncIterator[SandboxService]:
    async with sandbox_service(request.param) as running:
        yield running


@pytest.fixture
async def adapter(service: SandboxService) -> AsyncIterator[SettlementAdapter]:
    async with service.client() as client:
        yield adapter_of(service, client)


def adapter_of(service: SandboxService, client: Any) -> SettlementAdapter:
    return SettlementAdapter(client, OrderPace(service.clock.seconds, service.clock.sleep))


async def request(adapter: SettlementAdapter, kind: str = "bank", **changes: Any) -> OrderRequest:
    """Return an order of 50,000 rupiah to the first bank or e-wallet of the list."""
    method = next(each for each in await adapter.payout_methods() if each.kind == kind)
    known = OrderRequest(method=method, number=NUMBER, holder=None, amount=Amount("IDR", 50_000), channel="lightning")
    return replace(known, **changes)


async def test_the_list_keeps_codes_and_names_as_they_came(adapter: SettlementAdapter) -> None:
    methods = await adapter.payout_methods()
    assert {method.kind for method in methods} == {"bank", "ewallet"}
    assert len({(method.code, method.name) for method in methods}) == len(methods) > 10


async def test_a_vanished_method_is_gone_from_the_list(service: SandboxService, adapter: SettlementAdapter) -> None:
    first = (await adapter.payout_methods())[0]
    await service.control("DELETE", "/methods", bankCode=first.code)
    service.clock.now += timedelta(minutes=11)
    assert first not in await adapter.payout_methods()


@pytest.mark.parametrize(("skew", "oldest"), [(0, 180), (600, 180), (-600, 780)])
async def test_a_quote_is_never_of_the_future(service: SandboxService, skew: int, oldest: int) -> None:
    service.clock.now = datetime.now(UTC)
    await service.control("POST", "/settings", clockSkewSeconds=skew)
    async with service.client() as client:
        quote = await SettlementAdapter(client).quote()
    age = (datetime.now(UTC) - quote.fetched_at).total_seconds()
    assert -1.5 <= age <= oldest
    assert quote.usdc_idr
    assert quote.source


async def test_channels_are_those_that_the_service_has(service: SandboxService, adapter: SettlementAdapter) -> None:
    assert await adapter.deposit_channels() == set(TOKENS)
    await service.control("POST", "/settings", configured=False)
    assert await adapter.deposit_channels() == frozenset()


async def test_rails_are_told_under_the_services_own_names(service: SandboxService, adapter: SettlementAdapter) -> None:
    told = await adapter.deposit_rails()
    rails = {rail.name: rail for rail in told.rails}
    assert list(rails) == ["bitcoinOnchain", "lightning", "arbitrumUsdt", *(token.rail for token in TOKENS.values())]
    assert (told.is_configured, told.error) == (True, "")
    assert "BOLT11" in rails["lightning"].summary
    assert (rails["baseCbbtc"].token, rails["baseCbbtc"].chain_id) == ("cbBTC", 8453)
    assert rails["baseCbbtc"].contract.startswith("0x")
    assert rails["baseCbbtc"].address == rails["arbitrumUsdt"].address
    await service.control("POST", "/settings", configured=False)
    told = await adapter.deposit_rails()
    # The live profile explains what is missing, without the description of Lightning.
    names = [rail.name for rail in told.rails]
    assert (names, bool(told.error)) in ((["bitcoinOnchain", "lightning"], False), (["bitcoinOnchain"], True))
    assert not told.is_configured


async def test_the_services_figures_come_under_its_own_keys(
    service: SandboxService, adapter: SettlementAdapter
) -> None:
    await adapter.place(await request(adapter), at_any_time)
    stats = await adapter.platform_stats()
    assert {"totalOrders": 1, "totalVolumeIdr": 0}.items() <= stats.values.items()
    assert stats.values["fetchedAt"]
    assert stats.fetched_at == service.clock.now
    await service.control("POST", "/settings", statsWithout=list(stats.values))
    assert (await adapter.platform_stats()).values == {}


@pytest.mark.parametrize(("kind", "number"), [("bank", NUMBER), ("ewallet", "+6281234567890")])
async def test_a_lightning_order_is_placed_and_looked_up(adapter: SettlementAdapter, kind: str, number: str) -> None:
    wanted = await request(adapter, kind, number=number, holder="Sari Dewi")
    placed = await adapter.place(wanted, at_any_time)
    assert placed.bolt11
    assert placed.btc_idr
    assert (placed.idr, placed.sats) == (50_000, sats_for_rupiah(50_000, placed.btc_idr))
    assert bolt11.decode(placed.bolt11).amount_sat == placed.sats
    assert (placed.deposit, placed.state) == (None, "")
    report = await adapter.look_up(placed.service_id)
    assert (report.service_id, report.sats, report.idr) == (placed.service_id, placed.sats, placed.idr)
    assert (report.bank_code, report.bank_name) == (wanted.method.code, wanted.method.name)
    assert report.bolt11 == placed.bolt11
    assert report.recipient
    assert report.created_at
    assert report.paid_at is report.completed_at is None
    assert report.expires_at == placed.expires_at


async def test_one_order_is_read_once_a_second_and_others_at_once(service: SandboxService) -> None:
    pauses = list[float]()

    async def sleep(seconds: float) -> None:
        pauses[-1] = seconds

    async with service.client() as client:
        adapter = SettlementAdapter(client, OrderPace(lambda: 100.0, sleep))
        one, other = [(await adapter.place(await request(adapter), at_any_time)).service_id for _ in range(2)]
        for service_id in (one, one, one, other):
            pauses.append(0)
            await adapter.look_up(service_id)
            service.clock.now += timedelta(seconds=2)
    first, second, third, of_another = pauses
    assert (first, of_another) == (0, 0)
    assert 1 < second < 2 < third < 3, "each waits for a turn of its own"


async def test_an_order_may_be_given_in_sats(adapter: SettlementAdapter) -> None:
    placed = await adapter.place(await request(adapter, amount=Amount("SAT", 29_412)), at_any_time)
    assert placed.sats == 29_412


@pytest.mark.parametrize("channel", TOKENS)
async def test_a_deposit_order_says_where_to_pay_in_its_answer_and_in_its_record(
    adapter: SettlementAdapter, channel: str
) -> None:
    placed = await adapter.place(await request(adapter, channel=channel), at_any_time)
    report = await adapter.look_up(placed.service_id)
    assert placed.bolt11 is None
    for deposit in (placed.deposit, report.deposit):
        assert deposit is not None
        check_deposit(channel, deposit.chain_id, deposit.token_address, deposit.decimals, deposit.to_address)
    assert report.deposit
    assert placed.deposit
    assert report.deposit.to_address == placed.deposit.to_address
    assert report.channel == channel


async def test_the_newest_orders_come_first_with_the_services_own_time(
    service: SandboxService, adapter: SettlementAdapter
) -> None:
    made = []
    for _ in range(3):
        made.append((await adapter.place(await request(adapter), at_any_time)).service_id)
        service.clock.now += timedelta(seconds=1)
    newest = await adapter.newest()
    assert [report.service_id for report in newest.reports] == made[::-1]
    assert newest.served_at == service.clock.now
    assert len((await adapter.newest(2)).reports) == 2


async def test_a_paid_and_completed_order_says_when(service: SandboxService, adapter: SettlementAdapter) -> None:
    placed = await adapter.place(await request(adapter), at_any_time)
    await service.control("POST", "/settings", speedSeconds=None)
    await service.control("POST", "/pay", orderId=placed.service_id)
    assert (await adapter.look_up(placed.service_id)).paid_at
    while (report := await adapter.look_up(placed.service_id)).state != "COMPLETED":
        await service.control("POST", "/advance", orderId=placed.service_id)
    assert report.completed_at


async def test_an_order_is_delivered_with_all_its_details(service: SandboxService, adapter: SettlementAdapter) -> None:
    placed = await adapter.place(await request(adapter), at_any_time)
    before = (await adapter.look_up(placed.service_id)).record
    assert (before.partner_redeem_id, before.ln_swap_tx_hash) == (None, None)
    assert before.btc_idr_fetched_at
    await service.control("POST", "/pay", orderId=placed.service_id)
    await service.control("POST", "/advance", orderId=placed.service_id, state="COMPLETED")
    record = (await adapter.look_up(placed.service_id)).record
    sent = {name: getattr(record, name) for name in RECORD if name != "merchant_name"}
    assert None not in sent.values()
    assert record.partner_amount_idr == placed.idr
    assert (await adapter.newest()).reports[0].record == record


def test_details_of_a_wrong_type_cost_neither_the_report_nor_each_other() -> None:
    wrong = {to_camel(name): [{"a": 1}] for name in RECORD} | {"partnerRedeemId": "redeem_1", "merchantName": "Sari"}
    answer = {"id": "o1", "state": "FAILED", "satAmount": 1, "idrAmount": 1, **wrong}
    report = to_report(Order.model_validate(answer))
    assert report.state == "FAILED"
    assert report.record == ServiceRecord(partner_redeem_id="redeem_1", merchant_name="Sari")
    assert "Sari" not in repr(report)


async def test_a_refused_wish_says_why_and_made_nothing(service: SandboxService, adapter: SettlementAdapter) -> None:
    bad = await request(adapter)
    with pytest.raises(Refused) as refused:
        await adapter.place(replace(bad, method=replace(bad.method, name="ANOTHER BANK")), at_any_time)
    assert refused.value.reason
    assert bad.number not in str(refused.value)
    assert await service.orders_made() == 0


async def test_a_wish_that_cannot_be_put_into_words_is_refused_before_it_is_sent(
    service: SandboxService, adapter: SettlementAdapter
) -> None:
    with pytest.raises(Refused):
        await adapter.place(await request(adapter, number=""), at_any_time)
    assert await service.list_requests("POST", "/v1/offramp/orders") == []


@pytest.mark.parametrize("service_id", ["nobodys", "", ".", "..", "a/../b", "?", "%00"])
async def test_an_order_that_is_not_there_is_not_found(adapter: SettlementAdapter, service_id: str) -> None:
    with pytest.raises(OrderNotFound):
        await adapter.look_up(service_id)


@pytest.mark.parametrize(
    ("fault", "failure", "made"),
    [
        ("drop_before", OutcomeUnknown, 0),
        ("drop_after", OutcomeUnknown, 1),
        ("500_before", OutcomeUnknown, 0),
        ("500_after", OutcomeUnknown, 1),
        ("503", OutcomeUnknown, 0),
        ("html", OutcomeUnknown, None),
        ("truncated", OutcomeUnknown, None),
        ("429", OutOfReach, 0),
        ("400", Refused, 0),
    ],
)
async def test_a_failed_post_says_what_is_known_and_is_sent_once(
    service: SandboxService, adapter: SettlementAdapter, fault: str, failure: type[Exception], made: int | None
) -> None:
    wanted = await request(adapter)
    await service.fault(fault)
    with pytest.raises(failure) as raised:
        await adapter.place(wanted, at_any_time)
    assert type(raised.value) is failure
    assert NUMBER not in str(raised.value)
    if made is not None:
        assert await service.orders_made() == made
    assert len(await service.list_requests("POST", "/v1/offramp/orders")) <= 1


@pytest.mark.parametrize(
    ("fault", "failure"),
    [
        ("drop_before", ServiceDown),
        ("500_before", ServiceDown),
        ("503", ServiceDown),
        ("html", ServiceDown),
        ("truncated", ServiceDown),
        ("429", SlowDown),
    ],
)
async def test_a_failed_read_is_translated_and_polls_are_sent_once(
    service: SandboxService, adapter: SettlementAdapter, fault: str, failure: type[Exception]
) -> None:
    placed = await adapter.place(await request(adapter), at_any_time)
    await service.fault(fault, method="GET", times=None, retryAfter=7)
    reads = (adapter.quote, adapter.payout_methods, adapter.deposit_channels, adapter.newest)
    for read in (*reads, adapter.deposit_rails, adapter.platform_stats):
        with pytest.raises(failure):
            await read()
    with pytest.raises(failure) as raised:
        await adapter.look_up(placed.service_id)
    if isinstance(raised.value, SlowDown):
        assert raised.value.retry_after == 7


async def test_an_empty_list_is_an_answer(service: SandboxService, adapter: SettlementAdapter) -> None:
    await adapter.place(await request(adapter), at_any_time)
    await service.fault("empty_list", method="GET")
    assert (await adapter.newest()).reports == ()
    assert len((await adapter.newest()).reports) == 1


async def test_a_key_that_is_refused_is_told_apart_from_all_else(
    service: SandboxService, adapter: SettlementAdapter
) -> None:
    wanted = await request(adapter)
    async with service.client(SANDBOX_API_KEY[:-1] + "x") as client:
        stranger = adapter_of(service, client)
        reads = (stranger.quote, stranger.payout_methods, stranger.deposit_channels, stranger.newest)
        for read in (*reads, stranger.deposit_rails, stranger.platform_stats):
            with pytest.raises(KeyRefused):
                await read()
        with pytest.raises(KeyRefused):
            await stranger.look_up("svc-1")
        with pytest.raises(KeyRefused):
            await stranger.place(wanted, at_any_time)
    assert await service.orders_made() == 0


async def test_a_service_that_is_not_there_made_nothing(service: SandboxService, adapter: SettlementAdapter) -> None:
    wanted = await request(adapter)
    away = SandboxService("http://127.0.0.1:9", service.clock, service.control_client)
    async with away.client() as client:
        with pytest.raises(OutOfReach):
            await SettlementAdapter(client).place(wanted, at_any_time)
        with pytest.raises(ServiceDown):
            await SettlementAdapter(client).quote()
