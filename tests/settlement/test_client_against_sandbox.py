"""The client works with the sandbox's service, in both of the service's profiles."""

from __future__ import annotations

from dataclasses import fields, replace
from datetime import timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from bot.core.money import Amount, sats_for_rupiah
from bot.payments import bolt11
from bot.payments.erc681 import check_deposit
from bot.payments.tokens import TOKENS
from bot.settlement.model import BANK, EWALLET, OrderRequest, ServiceRecord
from tests.sandbox.settlement_service import SandboxService, sandbox_service

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from bot.settlement.client import SettlementClient

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
