"""The client works with the sandbox's service, in both of the service's profiles."""

from __future__ import annotations

from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from bot.core.money import Amount, sats_for_rupiah
from bot.payments import bolt11
from bot.payments.erc681 import check_deposit
from bot.payments.tokens import TOKENS
from bot.sandbox.settlement import SANDBOX_API_KEY
from bot.settlement.client import KeyHeader, SettlementClient, wait_for_order
from bot.settlement.errors import (
    KeyRefused,
    NeverReached,
    NoAnswer,
    NotUnderstood,
    OrderNotFound,
    Refused,
    ServerError,
    SettlementFailure,
    SlowDown,
)
from bot.settlement.http import RetryPolicy
from bot.settlement.model import BANK, EWALLET, OrderRequest, ServiceRecord
from tests.sandbox.settlement_service import SandboxService, sandbox_service

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

ORDERS = "/v1/offramp/orders"
NUMBER = "1234567890"


@pytest.fixture(params=["documented", "live"])
async def service(request: pytest.FixtureRequest) -> AsyncIterator[SandboxService]:
    async with sandbox_service(request.param) as running:
        yield running


@pytest.fixture
async def client(service: SandboxService) -> AsyncIterator[SettlementClient]:
    async with service.client() as client:
        yield client


async def request(client: SettlementClient, kind: str = BANK, **changes: Any) -> OrderRequest:
    """Return an order of 50,000 rupiah to the first bank or e-wallet of the list."""
    method = next(each for each in await client.payout_methods() if each.kind == kind)
    known = OrderRequest(method=method, number=NUMBER, holder=None, amount=Amount("IDR", 50_000), channel="lightning")
    return replace(known, **changes)


async def test_every_read_is_understood_whole(service: SandboxService, client: SettlementClient) -> None:
    quote = await client.quote()
    assert quote.btc_idr > Decimal(1_000_000)
    assert quote.usdc_idr
    assert quote.source
    methods = await client.payout_methods()
    assert {method.kind for method in methods} == {BANK, EWALLET}
    assert len({method.pair for method in methods}) == len(methods) > 10
    assert not any(method.unread for method in methods)
    newest = await client.newest()
    assert (newest.reports, newest.skipped, newest.served_at) == ((), 0, service.clock.now)


async def test_a_vanished_method_is_gone_from_the_list(service: SandboxService, client: SettlementClient) -> None:
    first = (await client.payout_methods())[0]
    await service.control("DELETE", "/methods", bankCode=first.code)
    service.clock.now += timedelta(minutes=11)
    assert first not in await client.payout_methods()


@pytest.mark.parametrize(("skew", "oldest"), [(0, 180), (600, 180), (-600, 780)])
async def test_a_quote_is_never_of_the_future(
    service: SandboxService, client: SettlementClient, skew: int, oldest: int
) -> None:
    service.clock.now = datetime.now(UTC)
    await service.control("POST", "/settings", clockSkewSeconds=skew)
    age = (datetime.now(UTC) - (await client.quote()).fetched_at).total_seconds()
    assert -1.5 <= age <= oldest


async def test_rails_are_shown_under_the_services_own_names(service: SandboxService, client: SettlementClient) -> None:
    shown = await client.deposit_rails()
    rails = {rail.name: rail for rail in shown.rails}
    assert list(rails) == ["bitcoinOnchain", "lightning", "arbitrumUsdt", *(token.rail for token in TOKENS.values())]
    assert (shown.is_configured, shown.error, shown.channels) == (True, "", frozenset(TOKENS))
    assert "BOLT11" in rails["lightning"].summary
    assert rails["baseCbbtc"].address == rails["arbitrumUsdt"].address
    for code, token in TOKENS.items():
        rail = rails[token.rail]
        assert (rail.channel, rail.token) == (code, token.symbol)
        check_deposit(code, rail.chain_id or 0, rail.contract, rail.decimals or 0, rail.address)
    await service.control("POST", "/settings", configured=False)
    shown = await client.deposit_rails()
    # The live profile explains what is missing, without the description of Lightning.
    names = [rail.name for rail in shown.rails]
    assert (names, bool(shown.error)) in ((["bitcoinOnchain", "lightning"], False), (["bitcoinOnchain"], True))
    assert (shown.is_configured, shown.channels) == (False, frozenset())


async def test_the_services_figures_come_under_its_own_keys(service: SandboxService, client: SettlementClient) -> None:
    await client.place(await request(client))
    stats = await client.platform_stats()
    assert {"totalOrders": 1, "totalVolumeIdr": 0}.items() <= stats.values.items()
    assert stats.fetched_at == service.clock.now
    await service.control("POST", "/settings", statsWithout=list(stats.values))
    assert (await client.platform_stats()).values == {}


@pytest.mark.parametrize(("kind", "number"), [(BANK, NUMBER), (EWALLET, "+6281234567890")])
async def test_a_lightning_order_is_placed_and_looked_up(client: SettlementClient, kind: str, number: str) -> None:
    wanted = await request(client, kind, number=number, holder="Sari Dewi")
    created = await client.place(wanted)
    assert created.bolt11
    assert created.btc_idr
    assert (created.idr, created.sats) == (50_000, sats_for_rupiah(50_000, created.btc_idr))
    assert bolt11.decode(created.bolt11).amount_msat == 1_000 * created.sats
    assert created.deposit is None
    report = await client.look_up(created.service_id)
    assert (report.service_id, report.sats, report.idr) == (created.service_id, created.sats, created.idr)
    assert (report.bank_code, report.bank_name) == wanted.method.pair
    assert report.bolt11 == created.bolt11
    assert report.recipient
    assert report.created_at
    assert report.paid_at is report.completed_at is None
    assert report.expires_at == created.expires_at


async def test_an_order_may_be_given_in_sats(client: SettlementClient) -> None:
    created = await client.place(await request(client, amount=Amount("SAT", 29_412)))
    assert created.sats == 29_412
    assert created.idr > 0


@pytest.mark.parametrize("channel", TOKENS)
async def test_a_deposit_order_says_where_to_pay_in_its_answer_and_in_its_record(
    client: SettlementClient, channel: str
) -> None:
    created = await client.place(await request(client, channel=channel))
    report = await client.look_up(created.service_id)
    assert created.bolt11 is None
    assert created.deposit_uri
    for deposit in (created.deposit, report.deposit):
        assert deposit is not None
        check_deposit(channel, deposit.chain_id, deposit.token_address, deposit.decimals, deposit.to_address)
    assert report.deposit
    assert created.deposit
    assert report.deposit.to_address == created.deposit.to_address
    assert report.channel == channel


async def test_an_order_is_followed_from_creation_to_its_end(service: SandboxService, client: SettlementClient) -> None:
    states: list[str] = []
    created = await client.place(await request(client, holder="Sari Dewi"))
    await service.control("POST", "/pay", bolt11=created.bolt11)
    report = await wait_for_order(
        client,
        created.service_id,
        on_update=lambda report: states.append(report.state),
        clock=service.clock.seconds,
        sleep=service.clock.sleep,
    )
    assert report.state == "COMPLETED"
    assert states[0] in {"LN_INVOICE_PAID", "LN_SWAP_PENDING"}
    assert len(states) == len(set(states)) > 3
    assert report.paid_at
    assert report.completed_at
    assert (await client.newest()).reports == (report,)
    assert {entry["status"] for entry in await service.list_requests("GET", f"{ORDERS}/{created.service_id}")} == {200}


async def test_an_order_is_delivered_with_all_its_details(service: SandboxService, client: SettlementClient) -> None:
    created = await client.place(await request(client))
    before = (await client.look_up(created.service_id)).record
    assert (before.partner_redeem_id, before.ln_swap_tx_hash) == (None, None)
    assert before.btc_idr_fetched_at
    await service.control("POST", "/pay", orderId=created.service_id)
    await service.control("POST", "/advance", orderId=created.service_id, state="COMPLETED")
    record = (await client.look_up(created.service_id)).record
    names = {field.name for field in fields(ServiceRecord)} - {"merchant_name"}
    assert None not in {getattr(record, name) for name in names}
    assert record.partner_amount_idr == created.idr


async def test_the_newest_orders_come_first_with_the_services_own_time(
    service: SandboxService, client: SettlementClient
) -> None:
    await service.control("POST", "/settings", clockSkewSeconds=600)
    made = []
    for _ in range(3):
        service.clock.now += timedelta(seconds=1)
        made.append((await client.place(await request(client))).service_id)
    newest = await client.newest()
    assert [report.service_id for report in newest.reports] == made[::-1]
    assert newest.served_at == newest.reports[0].created_at == service.clock.now + timedelta(minutes=10)
    assert len((await client.newest(2)).reports) == 2


async def test_a_refused_order_says_why_and_was_not_created(service: SandboxService, client: SettlementClient) -> None:
    bad = await request(client)
    with pytest.raises(Refused) as refused:
        await client.place(replace(bad, method=replace(bad.method, name="ANOTHER BANK")))
    assert refused.value.reason
    assert bad.number not in str(refused.value)
    assert await service.orders_made() == 0


async def test_a_bad_wallet_number_is_refused_by_the_one_and_unclear_from_the_other(
    service: SandboxService, client: SettlementClient
) -> None:
    with pytest.raises(SettlementFailure) as caught:
        await client.place(await request(client, EWALLET, number="+62-not-a-number"))
    profile = (await service.control("GET", "/settings"))["profile"]
    assert type(caught.value) is {"documented": Refused, "live": ServerError}[profile]
    assert caught.value.reason


async def test_a_request_that_has_no_form_is_refused_before_it_is_sent(
    service: SandboxService, client: SettlementClient
) -> None:
    with pytest.raises(Refused):
        await client.place(await request(client, number=""))
    assert await service.list_requests("POST", ORDERS) == []


@pytest.mark.parametrize("header", ["x-api-key", "authorization"])
async def test_either_header_carries_the_key(service: SandboxService, header: KeyHeader) -> None:
    async with service.client(header=header) as client:
        await client.quote()
    async with service.client("pk_live_sandbox.wrong", header=header) as client:
        with pytest.raises(KeyRefused) as caught:
            await client.quote()
    assert caught.value.reason


async def test_a_revoked_key_is_rejected_by_every_call(service: SandboxService, client: SettlementClient) -> None:
    wanted = await request(client)
    await service.control("POST", "/keys/revoke", keyId=SANDBOX_API_KEY.partition(".")[0])
    calls = (client.quote, client.payout_methods, client.deposit_rails, client.platform_stats, client.newest)
    for call in (*calls, lambda: client.look_up("svc-1"), lambda: client.place(wanted)):
        with pytest.raises(KeyRefused):
            await call()
    assert await service.orders_made() == 0


@pytest.mark.parametrize("service_id", ["nobodys", "", ".", "..", "a/../b", "a/b", "ü?", "%2e%2e", "%00"])
async def test_an_order_that_is_none_is_not_found(client: SettlementClient, service_id: str) -> None:
    with pytest.raises(OrderNotFound):
        await client.look_up(service_id)


async def test_one_order_is_read_once_a_second_and_others_at_once(service: SandboxService) -> None:
    pauses = list[float]()

    async def sleep(seconds: float) -> None:
        pauses[-1] = seconds

    async with service.client(clock=lambda: 100.0, sleep=sleep) as client:
        one, other = [(await client.place(await request(client))).service_id for _ in range(2)]
        for service_id in (one, one, one, other):
            pauses.append(0)
            await client.look_up(service_id)
            service.clock.now += timedelta(seconds=2)
    first, second, third, of_another = pauses
    assert (first, of_another) == (0, 0)
    assert 1 < second < 2 < third < 3, "each waits for a turn of its own"


async def test_an_order_that_another_process_reads_too_is_refused_with_a_time_to_wait(
    service: SandboxService, client: SettlementClient
) -> None:
    created = await client.place(await request(client))
    async with service.client(retry=RetryPolicy()) as other:
        await other.look_up(created.service_id)
        with pytest.raises(SlowDown) as caught:
            await client.look_up(created.service_id)
        assert caught.value.retry_after == 1
        await client.look_up(created.service_id)
        await other.look_up(created.service_id, retry=True)
    assert service.clock.seconds() >= 1


@pytest.mark.parametrize(
    ("fault", "kind", "made"),
    [
        ("drop_before", NoAnswer, 0),
        ("drop_after", NoAnswer, 1),
        ("500_before", ServerError, 0),
        ("500_after", ServerError, 1),
        ("503", ServerError, 0),
        ("html", NotUnderstood, 1),
        ("truncated", NotUnderstood, 1),
        ("400", Refused, 0),
        ("429", SlowDown, 0),
    ],
)
async def test_after_a_failed_post_the_type_says_what_is_known_and_it_was_sent_once(
    service: SandboxService, fault: str, kind: type[SettlementFailure], made: int
) -> None:
    async with service.client(retry=RetryPolicy()) as client:
        wanted = await request(client)
        await service.fault(fault)
        with pytest.raises(kind) as caught:
            await client.place(wanted)
    assert NUMBER not in str(caught.value)
    assert await service.orders_made() == made
    assert len(await service.list_requests("POST", ORDERS)) <= 1


@pytest.mark.parametrize("fault", ["drop_before", "drop_after", "500_before", "503", "html", "truncated", "429"])
async def test_a_read_outlives_every_fault_that_passes(service: SandboxService, fault: str) -> None:
    async with service.client(retry=RetryPolicy()) as client:
        await service.fault(fault, method="GET", times=3)
        assert (await client.quote()).source
    assert len(await service.list_requests("GET", "/v1/quote/btc-idr")) == 4


async def test_a_failed_read_says_how_and_polls_are_sent_once(service: SandboxService) -> None:
    async with service.client(retry=RetryPolicy()) as client:
        created = await client.place(await request(client))
        await service.fault("429", method="GET", times=None, retryAfter=7)
        with pytest.raises(SlowDown) as caught:
            await client.look_up(created.service_id)
        assert caught.value.retry_after == 7
        with pytest.raises(SlowDown):
            await client.newest()
    assert len(await service.list_requests("GET", f"{ORDERS}/{created.service_id}")) == 1


async def test_an_empty_list_is_a_list_and_proves_nothing(service: SandboxService, client: SettlementClient) -> None:
    created = await client.place(await request(client))
    await service.fault("empty_list", method="GET", path=ORDERS)
    emptied, whole = await client.newest(), await client.newest()
    assert (emptied.reports, emptied.skipped) == ((), 0)
    assert [report.service_id for report in whole.reports] == [created.service_id]


async def test_a_service_that_is_not_there_created_nothing(service: SandboxService, client: SettlementClient) -> None:
    wanted = await request(client)
    away = SandboxService("http://127.0.0.1:9", service.clock, service.control_client)
    async with away.client() as nobody:
        for call in (nobody.quote, lambda: nobody.place(wanted)):
            with pytest.raises(NeverReached):
                await call()
