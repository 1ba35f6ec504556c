"""The reading endpoints of the documented service (settlement API, 4.1 to 4.4, 4.6, 4.7 and 8)."""

from __future__ import annotations

import itertools

from tests.sandbox.settlement_system import ORDERS, SettlementSystem, error_of

QUOTE, METHODS, RAILS, STATS = "/v1/quote/btc-idr", "/v1/payout/methods", "/v1/deposit/rails", "/v1/platform/stats"


async def test_the_quote_stays_while_it_is_cached_and_then_moves_a_little() -> None:
    async with SettlementSystem() as system:
        first = (await system.get(QUOTE)).json()
        assert set(first) == {"btcIdr", "usdcIdr", "fetchedAt", "source"}
        system.clock.pass_seconds(29)
        assert (await system.get(QUOTE)).json() == first
        seen = []
        for _ in range(200):
            system.clock.pass_seconds(30)
            seen.append((await system.get(QUOTE)).json()["btcIdr"])
        assert len(set(seen)) == 200
        steps = [abs(after / before - 1) for before, after in itertools.pairwise(seen)]
        assert max(steps) < 0.005
        assert all(1.5e9 < rate < 1.7e9 for rate in seen)


async def test_a_creation_locks_the_quote_that_is_shown_and_can_be_made_to_lock_a_worse_one() -> None:
    async with SettlementSystem() as system:
        system.clock.pass_seconds(1000)
        shown = (await system.get(QUOTE)).json()
        system.clock.pass_seconds(20)
        made = await system.place()
        assert (made["btcIdr"], made["fetchedAt"]) == (shown["btcIdr"], shown["fetchedAt"])
        await system.control("quote", btcIdr=1_600_000_000)
        await system.control("settings", lockedPricePercent=25)
        worse = await system.place(idrAmount=1_600_000)
        assert (worse["satAmount"], worse["btcIdr"]) == (125_000, 1_280_000_000)


async def test_the_methods_list_follows_every_change_at_once() -> None:
    async with SettlementSystem() as system:
        rows = (await system.get(METHODS)).json()["data"]
        assert len(rows) == 110
        assert {row["kind"] for row in rows} == {"bank", "ewallet"}
        assert all(set(row) == {"bankCode", "bankName", "kind", "maxAmountTransfer"} for row in rows)
        assert "gopay" in {row["bankCode"] for row in rows}
        await system.control("methods", "DELETE", bankCode="014")
        assert "014" not in {row["bankCode"] for row in (await system.get(METHODS)).json()["data"]}
        given = [{"bankCode": "x1", "bankName": "Bank <b>X</b>", "kind": "bank", "maxAmountTransfer": "20000"}]
        await system.control("methods", methods=given)
        assert (await system.get(METHODS)).json()["data"] == given
        await system.control("methods", "DELETE")
        assert (await system.get(METHODS)).json()["data"] == rows
        assert (await system.try_control("methods", methods=[{"bankCode": "x"}])).status_code == 400
        assert (await system.try_control("methods", "DELETE", bankCode="nowhere")).status_code == 404


async def test_the_list_is_newest_first_fifty_by_default_and_never_over_a_hundred() -> None:
    async with SettlementSystem() as system:
        ids = (await system.control("bulk", count=120))["orderIds"][::-1]
        assert [order["id"] for order in await system.listed()] == ids[:50]
        assert [order["id"] for order in await system.listed(limit=3)] == ids[:3]
        assert [order["id"] for order in await system.listed(limit=5000)] == ids[:100]
        assert (await system.listed(limit=1))[0] == await system.read(ids[0])
        assert (await system.get(ORDERS)).json()["fetchedAt"] == "2026-11-21T03:00:00.000Z"


async def test_an_order_is_read_at_most_once_a_second() -> None:
    async with SettlementSystem(polls=1) as system:
        first, second = (await system.place())["orderId"], (await system.place())["orderId"]
        await system.read(first)
        refused = await system.get(f"{ORDERS}/{first}")
        assert (refused.status_code, refused.headers["retry-after"]) == (429, "1")
        assert "too fast" in error_of(refused)
        await system.read(second)
        await system.listed()
        system.clock.pass_seconds(1)
        await system.read(first)


async def test_a_database_outage_empties_the_list_and_is_a_503_elsewhere() -> None:
    async with SettlementSystem() as system:
        order_id = (await system.place())["orderId"]
        await system.control("settings", databaseDown=True)
        assert await system.listed() == []
        assert (await system.get(f"{ORDERS}/{order_id}")).status_code == 503
        answer = await system.post(
            idrAmount=150_000, partnerBankCode="014", partnerBankName="BANK CENTRAL ASIA", recipientDetails="1234567890"
        )
        assert (answer.status_code, "database unavailable" in error_of(answer)) == (503, True)
        assert (await system.get(STATS)).status_code == 503
        await system.control("settings", databaseDown=False)
        assert [order["id"] for order in await system.listed()] == [order_id]
