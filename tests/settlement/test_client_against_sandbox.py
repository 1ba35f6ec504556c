"""The client works with the sandbox's service, in both of the service's profiles."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

from bot.payments.tokens import TOKENS
from bot.sandbox.settlement import SANDBOX_API_KEY
from bot.settlement.client import (
    Answered,
    KeyHeader,
    KeyRefused,
    NoAnswer,
    NotFound,
    NotUnderstood,
    OrderInput,
    RateLimited,
    RetryPolicy,
    ServerError,
    SettlementClient,
    SettlementError,
    Unavailable,
    ValidationRejected,
    wait_for_order,
)
from bot.settlement.model import BANK, EWALLET
from tests.sandbox.settlement_service import SandboxService, sandbox_service

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

ORDERS = "/v1/offramp/orders"


@pytest.fixture(params=["documented", "live"])
async def service(request: pytest.FixtureRequest) -> AsyncIterator[SandboxService]:
    async with sandbox_service(request.param) as running:
        yield running


async def build_order_input(
    client: SettlementClient, kind: str = BANK, recipient: str = "1234567890", **more: str
) -> OrderInput:
    methods = (await client.payout_methods()).methods
    method = next(method for method in methods if method.kind == kind)
    return OrderInput(
        idr_amount=50_000,
        partner_bank_code=method.bank_code,
        partner_bank_name=method.bank_name,
        recipient_details=recipient,
        **more,
    )


async def test_every_read_is_understood_whole(service: SandboxService) -> None:
    async with service.client() as client:
        quote = await client.quote()
        listed = await client.payout_methods()
        rails = await client.deposit_rails()
        await client.platform_stats()
        page = await client.orders(100)
    assert quote.btc_idr > Decimal(1_000_000)
    assert listed.skipped == 0
    assert {method.kind for method in listed.methods} == {BANK, EWALLET}
    decimals = {code: rail.decimals for code, rail in rails.tokens.items() if rail is not None}
    assert decimals == {code: token.decimals for code, token in TOKENS.items()}
    assert (page.orders, page.skipped) == ((), 0)
    assert page.fetched_at == service.clock.now


async def test_a_lightning_order_is_followed_from_creation_to_its_end(service: SandboxService) -> None:
    states: list[str] = []
    async with service.client() as client:
        created = await client.create_order(await build_order_input(client, bank_account_name="Sari Dewi"))
        await service.control("POST", "/pay", bolt11=created.bolt11)
        order = await wait_for_order(
            client,
            created.order_id,
            on_update=lambda order: states.append(order.state),
            clock=service.clock.seconds,
            sleep=service.clock.sleep,
        )
        page = await client.orders()
    assert order.state == "COMPLETED"
    assert states[0] in {"LN_INVOICE_PAID", "LN_SWAP_PENDING"}
    assert len(states) == len(set(states)) > 3
    assert (order.id, order.sat_amount, order.idr_amount) == (created.order_id, created.sat_amount, 50_000)
    assert order.invoice_bolt11 == created.bolt11
    assert order.completed_at
    assert page.orders == (order,)
    assert {entry["status"] for entry in await service.list_requests("GET", f"{ORDERS}/{created.order_id}")} == {200}


async def test_an_order_may_be_wished_for_in_sats(service: SandboxService) -> None:
    async with service.client() as client:
        order_input = (await build_order_input(client)).model_copy(update={"idr_amount": None, "sat_amount": 29_412})
        created = await client.create_order(order_input)
    assert created.sat_amount == 29_412
    assert created.idr_amount > 0


@pytest.mark.parametrize(("channel", "chain_id", "decimals"), [("cbbtc", 8453, 8), ("btcb", 56, 18)])
async def test_deposit_instructions_are_understood(
    service: SandboxService, channel: str, chain_id: int, decimals: int
) -> None:
    async with service.client() as client:
        created = await client.create_order(await build_order_input(client, deposit_channel=channel))
        order = await client.order(created.order_id)
    assert created.bolt11 is None
    assert created.deposit
    assert (created.deposit.channel, created.deposit.chain_id, created.deposit.decimals) == (
        channel,
        chain_id,
        decimals,
    )
    assert order.deposit_to_address == created.deposit.to_address
    assert order.deposit_channel == channel


async def test_a_pair_that_does_not_match_is_refused_in_words(service: SandboxService) -> None:
    async with service.client() as client:
        order_input = (await build_order_input(client)).model_copy(update={"partner_bank_name": "No such bank"})
        with pytest.raises(ValidationRejected) as caught:
            await client.create_order(order_input)
    assert caught.value.error
    assert not caught.value.outcome_unknown
    assert await service.orders_made() == 0


async def test_a_bad_wallet_number_is_refused_by_the_one_and_unclear_from_the_other(service: SandboxService) -> None:
    async with service.client() as client:
        order_input = await build_order_input(client, EWALLET, "+62-not-a-number")
        with pytest.raises(Answered) as caught:
            await client.create_order(order_input)
    profile = (await service.control("GET", "/settings"))["profile"]
    expected = {"documented": (ValidationRejected, False), "live": (ServerError, True)}[profile]
    assert (type(caught.value), caught.value.outcome_unknown) == expected
    assert caught.value.error


@pytest.mark.parametrize("header", ["x-api-key", "authorization"])
async def test_either_header_carries_the_key(service: SandboxService, header: KeyHeader) -> None:
    async with service.client(header=header) as client:
        await client.quote()
    async with service.client("pk_live_sandbox.wrong", header=header) as client:
        with pytest.raises(KeyRefused) as caught:
            await client.quote()
    assert caught.value.error


async def test_a_revoked_key_is_refused(service: SandboxService) -> None:
    async with service.client() as client:
        created = await client.create_order(await build_order_input(client))
        await service.control("POST", "/keys/revoke", keyId=SANDBOX_API_KEY.partition(".")[0])
        with pytest.raises(KeyRefused):
            await client.order(created.order_id)


@pytest.mark.parametrize("order_id", ["nobody", "a/b", "ü?", "%2e%2e"])
async def test_an_order_that_is_none_is_not_found(service: SandboxService, order_id: str) -> None:
    async with service.client() as client:
        with pytest.raises(NotFound):
            await client.order(order_id)


async def test_reading_an_order_too_often_is_refused_with_a_time_to_wait(service: SandboxService) -> None:
    async with service.client() as client:
        created = await client.create_order(await build_order_input(client))
        await client.order(created.order_id)
        with pytest.raises(RateLimited) as caught:
            await client.order(created.order_id)
    assert caught.value.retry_after == 1


async def test_a_client_that_may_retry_waits_the_limiter_out(service: SandboxService) -> None:
    async with service.client(retry=RetryPolicy()) as client:
        created = await client.create_order(await build_order_input(client))
        await client.order(created.order_id)
        await client.order(created.order_id)
    assert service.clock.seconds() >= 1


@pytest.mark.parametrize(
    ("fault", "kind", "made"),
    [
        ("drop_before", NoAnswer, 0),
        ("drop_after", NoAnswer, 1),
        ("500_before", ServerError, 0),
        ("500_after", ServerError, 1),
        ("503", Unavailable, 0),
        ("html", NotUnderstood, 1),
        ("truncated", NotUnderstood, 1),
    ],
)
async def test_after_an_unclear_end_the_outcome_is_unknown_and_the_post_was_sent_once(
    service: SandboxService, fault: str, kind: type[SettlementError], made: int
) -> None:
    async with service.client(retry=RetryPolicy()) as client:
        order_input = await build_order_input(client)
        await service.fault(fault)
        with pytest.raises(kind) as caught:
            await client.create_order(order_input)
    assert caught.value.outcome_unknown
    assert await service.orders_made() == made
    assert len(await service.list_requests("POST", ORDERS)) == 1


@pytest.mark.parametrize(("fault", "kind"), [("400", ValidationRejected), ("429", RateLimited)])
async def test_after_a_clear_refusal_no_order_was_made(
    service: SandboxService, fault: str, kind: type[SettlementError]
) -> None:
    async with service.client(retry=RetryPolicy()) as client:
        order_input = await build_order_input(client)
        await service.fault(fault)
        with pytest.raises(kind) as caught:
            await client.create_order(order_input)
    assert not caught.value.outcome_unknown
    assert await service.orders_made() == 0


@pytest.mark.parametrize("fault", ["drop_before", "drop_after", "500_before", "503", "html", "truncated", "429"])
async def test_a_read_outlives_every_fault_that_passes(service: SandboxService, fault: str) -> None:
    async with service.client(retry=RetryPolicy()) as client:
        await service.fault(fault, method="GET", times=3)
        assert (await client.quote()).source
    assert len(await service.list_requests("GET", "/v1/quote/btc-idr")) == 4


async def test_an_empty_list_is_a_list_and_proves_nothing(service: SandboxService) -> None:
    async with service.client() as client:
        created = await client.create_order(await build_order_input(client))
        await service.fault("empty_list", method="GET", path=ORDERS)
        emptied, whole = await client.orders(), await client.orders()
    assert (emptied.orders, emptied.skipped) == ((), 0)
    assert [order.id for order in whole.orders] == [created.order_id]


async def test_a_service_whose_clock_is_wrong_says_so_in_its_list(service: SandboxService) -> None:
    await service.control("POST", "/settings", clockSkewSeconds=600)
    async with service.client() as client:
        await client.create_order(await build_order_input(client))
        page = await client.orders()
    assert page.fetched_at
    assert (page.fetched_at - service.clock.now).total_seconds() == 600
    assert page.orders[0].created_at == page.fetched_at
