"""Keys and tenants of the sandbox service (settlement API, 5)."""

from __future__ import annotations

import asyncio
import sqlite3
from typing import TYPE_CHECKING

import pytest

from bot.sandbox import keys_cli
from bot.sandbox.service.errors import ControlRefusal
from bot.sandbox.settlement import SANDBOX_API_KEY
from tests.sandbox.settlement_system import BCA, ORDERS, SettlementSystem, error_of

if TYPE_CHECKING:
    from pathlib import Path

QUOTE = "/v1/quote/btc-idr"


@pytest.mark.parametrize("path", [QUOTE, "/v1/payout/methods", "/v1/deposit/rails", "/v1/platform/stats", ORDERS])
async def test_every_path_needs_a_key(path: str) -> None:
    async with SettlementSystem() as system:
        answer = await system.http.get(path)
        assert answer.status_code == 401
        assert error_of(answer)


@pytest.mark.parametrize(
    "headers",
    [
        {"x-api-key": SANDBOX_API_KEY},
        {"authorization": f"Bearer {SANDBOX_API_KEY}"},
        {"authorization": f"bEARER {SANDBOX_API_KEY}"},
        {"x-api-key": SANDBOX_API_KEY, "authorization": "Bearer pk_live_other.nonsense-nonsense"},
    ],
)
async def test_either_header_opens_and_x_api_key_wins(headers: dict[str, str]) -> None:
    async with SettlementSystem(profile="live") as system:
        assert (await system.http.get(QUOTE, headers=headers)).status_code == 200


@pytest.mark.parametrize(
    ("headers", "said"),
    [
        ({}, "Missing API key"),
        ({"x-api-key": "sk_test_1"}, "Invalid API key format"),
        ({"authorization": "Basic abc"}, "Invalid API key format"),
        ({"x-api-key": "pk_live_nobody.0123456789abcdef"}, "Invalid or revoked API key"),
        ({"x-api-key": SANDBOX_API_KEY[:-1] + "0"}, "Invalid or revoked API key"),
        ({"x-api-key": "pk_live_nobody.0123456789abcdef", "authorization": f"Bearer {SANDBOX_API_KEY}"}, "Invalid or"),
    ],
)
async def test_the_live_service_says_three_things_about_bad_keys(headers: dict[str, str], said: str) -> None:
    async with SettlementSystem(profile="live") as system:
        answer = await system.http.get(QUOTE, headers=headers)
        assert answer.status_code == 401
        assert error_of(answer).startswith(said)


async def test_a_revoked_key_is_refused_at_once_and_revoking_again_is_no_error() -> None:
    async with SettlementSystem() as system:
        await system.control("keys/revoke", keyId=SANDBOX_API_KEY.partition(".")[0])
        assert (await system.get(QUOTE)).status_code == 401
        await system.control("keys/revoke", keyId=SANDBOX_API_KEY.partition(".")[0])


async def test_a_rotated_key_keeps_the_tenant_and_its_orders() -> None:
    async with SettlementSystem() as system:
        order_id = (await system.place())["orderId"]
        issued = await system.control("keys/rotate", keyId="pk_live_sandbox")
        assert (await system.get(QUOTE)).status_code == 401
        answer = await system.http.get(f"{ORDERS}/{order_id}", headers={"x-api-key": issued["apiKey"]})
        assert answer.json()["id"] == order_id


async def test_another_tenant_sees_nothing_of_an_order_and_has_an_address_of_its_own() -> None:
    async with SettlementSystem() as system:
        order_id = (await system.place())["orderId"]
        other = {"x-api-key": (await system.control("keys", tenant="other-wallet"))["apiKey"]}
        answer = await system.http.get(f"{ORDERS}/{order_id}", headers=other)
        assert answer.status_code == 404
        assert error_of(answer) == "order not found"
        assert (await system.http.get(ORDERS, headers=other)).json()["orders"] == []
        body = {"idrAmount": 50_000, "depositChannel": "btcb", **BCA}
        theirs = (await system.http.post(ORDERS, headers=other, json=body)).json()["deposit"]["toAddress"]
        assert theirs != (await system.place(depositChannel="btcb"))["deposit"]["toAddress"]


async def test_the_poll_limiter_of_one_tenant_does_not_touch_another() -> None:
    async with SettlementSystem(polls=1) as system:
        order_id = (await system.place())["orderId"]
        other = {"x-api-key": (await system.control("keys", tenant="other-wallet"))["apiKey"]}
        assert (await system.get(f"{ORDERS}/{order_id}")).status_code == 200
        assert (await system.http.get(f"{ORDERS}/{order_id}", headers=other)).status_code == 404
        assert (await system.get(f"{ORDERS}/{order_id}")).status_code == 429


def test_commands_on_the_file_reach_a_running_server_and_leave_no_secret_in_it(tmp_path: Path) -> None:
    state = tmp_path / "service.db"
    system = SettlementSystem(state_path=state)

    async def status(api_key: str) -> int:
        return (await system.http.get(QUOTE, headers={"x-api-key": api_key})).status_code

    first = keys_cli.issue_key(state, "shop")
    assert asyncio.run(status(first)) == 200
    second = keys_cli.rotate_key(state, first.partition(".")[0])
    assert (asyncio.run(status(first)), asyncio.run(status(second))) == (401, 200)
    keys_cli.revoke_key(state, second.partition(".")[0])
    assert asyncio.run(status(second)) == 401
    shown = [key for key in keys_cli.list_keys(state) if key["tenant"] == "shop"]
    assert len(shown) == 2
    assert all(key["revokedAt"] for key in shown)
    system.stop()
    kept = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    for key in (first, second, SANDBOX_API_KEY):
        assert key.partition(".")[2].encode() not in kept
        assert key.partition(".")[2] not in str(shown)


def test_a_key_that_was_revoked_stays_so_over_a_restart(tmp_path: Path) -> None:
    system = SettlementSystem(state_path=tmp_path / "service.db")
    keys_cli.revoke_key(tmp_path / "service.db", "pk_live_sandbox")
    system.stop()
    system.start()
    assert asyncio.run(system.get(QUOTE)).status_code == 401
    system.stop()


@pytest.mark.parametrize("tenant", ["", "Two Words", "x" * 64])
def test_a_tenant_must_be_a_short_plain_word(tmp_path: Path, tenant: str) -> None:
    with pytest.raises(ControlRefusal):
        keys_cli.issue_key(tmp_path / "service.db", tenant)


def test_an_unknown_key_cannot_be_rotated_and_nothing_is_issued(tmp_path: Path) -> None:
    with pytest.raises(ControlRefusal):
        keys_cli.rotate_key(tmp_path / "service.db", "pk_live_nobody")
    with sqlite3.connect(tmp_path / "service.db") as db:
        assert db.execute("SELECT COUNT(*) FROM keys").fetchone() == (0,)
    db.close()
