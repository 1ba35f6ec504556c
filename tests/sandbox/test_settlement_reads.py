"""The reading endpoints of the documented service (settlement API, 4.1 to 4.4, 4.6, 4.7 and 8)."""

from __future__ import annotations

import itertools

import pytest

from tests.sandbox.settlement_world import ORDERS, World, error_of

QUOTE, METHODS, RAILS, STATS = "/v1/quote/btc-idr", "/v1/payout/methods", "/v1/deposit/rails", "/v1/platform/stats"


async def test_the_quote_stays_while_it_is_cached_and_then_moves_a_little() -> None:
    async with World() as world:
        first = (await world.get(QUOTE)).json()
        assert set(first) == {"btcIdr", "usdcIdr", "fetchedAt", "source"}
        world.clock.pass_seconds(29)
        assert (await world.get(QUOTE)).json() == first
        seen = []
        for _ in range(200):
            world.clock.pass_seconds(30)
            seen.append((await world.get(QUOTE)).json()["btcIdr"])
        assert len(set(seen)) == 200
        steps = [abs(after / before - 1) for before, after in itertools.pairwise(seen)]
        assert max(steps) < 0.005
        assert all(1.5e9 < rate < 1.7e9 for rate in seen)


async def test_the_same_seed_walks_the_same_way() -> None:
    walks = []
    for _ in range(2):
        async with World() as world:
            walk = []
            for _ in range(5):
                walk.append((await world.get(QUOTE)).json()["btcIdr"])
                world.clock.pass_seconds(60)
            walks.append(walk)
    assert walks[0] == walks[1]


async def test_a_creation_locks_the_quote_that_is_shown_and_can_be_made_to_lock_a_worse_one() -> None:
    async with World() as world:
        world.clock.pass_seconds(1000)
        shown = (await world.get(QUOTE)).json()
        world.clock.pass_seconds(20)
        made = await world.place()
        assert (made["btcIdr"], made["fetchedAt"]) == (shown["btcIdr"], shown["fetchedAt"])
        await world.control("quote", btcIdr=1_600_000_000)
        await world.control("settings", lockedPricePercent=25)
        worse = await world.place(idrAmount=1_600_000)
        assert (worse["satAmount"], worse["btcIdr"]) == (125_000, 1_280_000_000)


async def test_the_methods_list_follows_every_change_at_once() -> None:
    async with World() as world:
        rows = (await world.get(METHODS)).json()["data"]
        assert len(rows) == 110
        assert {row["kind"] for row in rows} == {"bank", "ewallet"}
        assert all(set(row) == {"bankCode", "bankName", "kind", "maxAmountTransfer"} for row in rows)
        assert "gopay" in {row["bankCode"] for row in rows}
        await world.control("methods", "DELETE", bankCode="014")
        assert "014" not in {row["bankCode"] for row in (await world.get(METHODS)).json()["data"]}
        given = [{"bankCode": "x1", "bankName": "Bank <b>X</b>", "kind": "bank", "maxAmountTransfer": "20000"}]
        await world.control("methods", methods=given)
        assert (await world.get(METHODS)).json()["data"] == given
        await world.control("methods", "DELETE")
        assert (await world.get(METHODS)).json()["data"] == rows
        assert (await world.try_control("methods", methods=[{"bankCode": "x"}])).status_code == 400
        assert (await world.try_control("methods", "DELETE", bankCode="nowhere")).status_code == 404


async def test_the_rails_name_both_chains_unless_no_wallet_seed_is_configured() -> None:
    async with World() as world:
        rails = (await world.get(RAILS)).json()
        assert (rails["baseCbbtc"]["chainId"], rails["baseCbbtc"]["depositChannel"]) == (8453, "cbbtc")
        assert (rails["bscBtcb"]["chainId"], rails["bscBtcb"]["decimals"]) == (56, 18)
        assert rails["arbitrumUsdt"]["chainId"] == 42161
        assert rails["baseCbbtc"]["safeAddress"] == (await world.place(depositChannel="cbbtc"))["deposit"]["toAddress"]
        await world.control("settings", configured=False)
        assert set((await world.get(RAILS)).json()) == {"configured", "bitcoinOnchain", "lightning"}


async def test_the_statistics_count_orders_and_what_was_paid_out() -> None:
    async with World() as world:
        await world.place()
        await world.states_by_hand((await world.place(idrAmount=50_000))["orderId"])
        stats = (await world.get(STATS)).json()
        assert (stats["totalOrders"], stats["completedOrders"], stats["totalVolumeIdr"]) == (2, 1, 50_000)
        assert stats["fetchedAt"]
        await world.control("settings", statsWithout=["totalOrders"])
        assert "totalOrders" not in (await world.get(STATS)).json()


async def test_the_list_is_newest_first_fifty_by_default_and_never_over_a_hundred() -> None:
    async with World() as world:
        ids = (await world.control("bulk", count=120))["orderIds"][::-1]
        assert [order["id"] for order in await world.listed()] == ids[:50]
        assert [order["id"] for order in await world.listed(limit=3)] == ids[:3]
        assert [order["id"] for order in await world.listed(limit=5000)] == ids[:100]
        assert (await world.listed(limit=1))[0] == await world.read(ids[0])
        assert (await world.get(ORDERS)).json()["fetchedAt"] == "2026-11-21T03:00:00.000Z"


@pytest.mark.parametrize("limit", ["0", "-1", "ten", "", "1.5", "²"])
async def test_a_limit_that_is_no_limit_is_refused(limit: str) -> None:
    async with World() as world:
        answer = await world.get(ORDERS, params={"limit": limit})
        assert answer.status_code == 400
        assert "limit" in error_of(answer)


async def test_an_order_is_read_at_most_once_a_second() -> None:
    async with World(polls=1) as world:
        first, second = (await world.place())["orderId"], (await world.place())["orderId"]
        await world.read(first)
        refused = await world.get(f"{ORDERS}/{first}")
        assert (refused.status_code, refused.headers["retry-after"]) == (429, "1")
        assert "too fast" in error_of(refused)
        await world.read(second)
        await world.listed()
        world.clock.pass_seconds(1)
        await world.read(first)


async def test_an_unknown_order_is_a_404() -> None:
    async with World() as world:
        answer = await world.get(f"{ORDERS}/nothing-like-it")
        assert (answer.status_code, error_of(answer)) == (404, "order not found")


async def test_an_unknown_path_and_a_wrong_method_still_speak_json() -> None:
    async with World() as world:
        assert (await world.get("/v1/nowhere")).status_code == 404
        assert error_of(await world.get("/v2/quote/btc-idr"))
        wrong = await world.http.delete(ORDERS)
        assert (wrong.status_code, error_of(wrong)) == (405, "method not allowed")


async def test_a_database_outage_empties_the_list_and_is_a_503_elsewhere() -> None:
    async with World() as world:
        order_id = (await world.place())["orderId"]
        await world.control("settings", databaseDown=True)
        assert await world.listed() == []
        assert (await world.get(f"{ORDERS}/{order_id}")).status_code == 503
        answer = await world.post(
            idrAmount=150_000, partnerBankCode="014", partnerBankName="BANK CENTRAL ASIA", recipientDetails="1234567890"
        )
        assert (answer.status_code, "database unavailable" in error_of(answer)) == (503, True)
        assert (await world.get(STATS)).status_code == 503
        await world.control("settings", databaseDown=False)
        assert [order["id"] for order in await world.listed()] == [order_id]


async def test_the_key_check_itself_can_be_out() -> None:
    async with World() as world:
        await world.control("settings", keyCheckDown=True)
        assert (await world.get(QUOTE)).status_code == 503
