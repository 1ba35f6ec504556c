"""Users with many rows: nobody waits for them, and nothing of theirs is left out."""

import asyncio
import json

import pytest
from sqlalchemy import text

from bot.infra.db.database import Database
from bot.infra.db.transaction import Transaction
from bot.infra.db.vault import Vault
from bot.orders.order import Order, Phase
from bot.orders.tables import orders
from bot.payment_requests.repository import PaymentRequestRepository
from bot.payment_requests.tables import payment_requests
from bot.users.privacy import PAGE, PrivacyService
from bot.users.repository import UserRepository
from bot.users.user_data import UserData
from tests.harness.databases import on_postgresql
from tests.infra.builders import an_infra
from tests.orders.builders import an_order, insert_orders
from tests.payment_requests.builders import a_request
from tests.settlement.fake_settlement import MovedClock
from tests.times import DAY, NOW
from tests.users.builders import EMMA, SARI, a_user
from tests.users.stored_data import USER_DATA

MANY = 40_000
"""More than the parameters of a statement on PostgreSQL."""

SOME = 10 * PAGE + 3
SEALED_IN_A_ROW = 12
"""More sealed columns than any row has, with those of its timeline and receipt."""


def privacy_of(store: Database, *more: UserData) -> PrivacyService:
    clock = MovedClock()
    clock.at = NOW
    return PrivacyService(an_infra(store, clock), (*USER_DATA, *more), 365)


async def add_requests(store: Database, user_id: int, count: int) -> None:
    """Add closed payment requests of a user. All but the first are copies, which don't open."""
    changes = {"id": "id || n", "token_hash": "token_hash || n", "draft_id": "draft_id || n"}
    names = [column.name for column in payment_requests.columns]
    values = ", ".join(changes.get(name, name) for name in names)
    copies = (
        f"INSERT INTO payment_requests ({', '.join(names)}) SELECT {values}"  # noqa: S608  our own names
        f" FROM payment_requests, generate_series(2, {count}) AS n"
    )
    async with store.transaction() as tx:
        await UserRepository(tx).save(a_user(user_id, deletion_requested_at=NOW))
        await PaymentRequestRepository(tx).add(a_request(user_id=user_id))
        await tx.connection.execute(text(copies))


async def add_orders(store: Database, count: int) -> list[Order]:
    """Add orders of Emma's that have ended."""
    added = [
        an_order(f"R{n:06}", draft_id=f"d{n}", phase=Phase.DONE, state="COMPLETED", ended_at=NOW, service_id=f"s{n}")
        for n in range(count)
    ]
    async with store.transaction() as tx:
        await UserRepository(tx).save(a_user())
        await insert_orders(tx, added)
    return added


@on_postgresql
async def test_forty_thousand_requests_of_one_user_hold_up_no_other_deletion(store: Database) -> None:
    await add_requests(store, SARI, MANY)
    async with store.transaction() as tx:
        await UserRepository(tx).save(a_user(EMMA, deletion_requested_at=NOW + DAY))
    privacy = privacy_of(store)
    assert await privacy.find_deletable() == (SARI, EMMA)
    assert (await privacy.find_blockers(SARI)).is_empty
    assert not await privacy.has_nothing(SARI)
    assert await privacy.delete_as_requested(SARI)
    async with store.reading() as tx:
        assert await tx.connection.scalar(text("SELECT count(*) FROM payment_requests")) == 0


class Turns:
    """Counts the sealed values that are opened while no other task gets its turn."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.opened, self.most, self.in_all = 0, 0, 0
        opens = Vault.open

        def count(vault: Vault, sealed: str, place: str) -> str:
            self.opened += 1
            self.in_all += 1
            return opens(vault, sealed, place)

        patch.setattr(Vault, "open", count)

    async def others(self) -> None:
        while True:
            self.most = max(self.most, self.opened)
            self.opened = 0
            await asyncio.sleep(0)


async def test_a_file_with_many_rows_lets_others_work_and_leaves_nothing_out(
    sqlite_store: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    await add_orders(sqlite_store, SOME)
    turns = Turns(monkeypatch)
    others = asyncio.create_task(turns.others())
    exported = json.loads(await privacy_of(sqlite_store).export(a_user()))
    others.cancel()
    assert len(exported["orders"]) == SOME
    assert len({each["reference"] for each in exported["orders"]}) == SOME
    assert turns.in_all > SOME
    assert turns.most <= PAGE * SEALED_IN_A_ROW


async def test_an_unreadable_order_ends_no_file(store: Database) -> None:
    await add_orders(store, 520)
    async with store.transaction() as tx:
        await tx.connection.execute(orders.update().where(orders.c.reference == "R000519").values(number="s1.bad"))
    exported = json.loads(await privacy_of(store).export(a_user()))
    assert len(exported["orders"]) == 519


async def fail_for_sari(tx: Transaction, user_id: int) -> None:
    """Fail as a statement does that the database rejects."""
    if user_id == SARI:
        await tx.connection.execute(text("SELECT * FROM nowhere"))


FAILING = UserData(blocks_deletion=fail_for_sari)


async def test_one_user_whose_rows_fail_stops_no_other_deletion(store: Database) -> None:
    long_ago = NOW - DAY * 400
    async with store.transaction() as tx:
        for user_id in (SARI, EMMA):
            await UserRepository(tx).save(a_user(user_id, deletion_requested_at=NOW, blocked_at=long_ago))
    privacy = privacy_of(store, FAILING)
    assert await privacy.find_deletable() == (EMMA,)
    assert await privacy.find_long_blocked() == (EMMA,)
