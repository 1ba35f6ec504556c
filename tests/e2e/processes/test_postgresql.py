"""The main job on PostgreSQL, with a kill in the middle and a second process that goes on."""

import signal
from collections.abc import AsyncIterator, Iterator
from functools import partial
from pathlib import Path

import asyncpg  # type: ignore[import-untyped]  # it has no types
import pytest

from tests.e2e.faults import confirm_found_order, count_posts, hold_service, invoices_in, kill_and_restart
from tests.e2e.new_users import new_sender_at_review
from tests.e2e.orders.steps import ENDED, complete_order
from tests.e2e.programs import running_program
from tests.e2e.system import System, running_system
from tests.harness.databases import new_database
from tests.texts import label, like
from tests.waiting import found

END_WAITING = (
    "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
    " WHERE datname = current_database() AND wait_event_type = 'Lock'"
)
"""Ends sessions that wait for a lock, as a connection that is lost does, and returns how many."""


@pytest.fixture
def database(postgresql_server: str) -> Iterator[str]:
    with new_database(postgresql_server) as url:
        yield url


@pytest.fixture
async def kirim(tmp_path: Path, database: str) -> AsyncIterator[System]:
    async with running_system(tmp_path, DATABASE_URL=database) as made:
        yield made


async def test_rupiah_are_sent_on_postgresql_through_a_kill_and_a_change_of_process(
    kirim: System, tmp_path: Path
) -> None:
    sender = await new_sender_at_review(kirim)
    async with hold_service(kirim, "delay_after"):
        await sender.chat.taps(label("checkout.review.confirm"), wait=0)
    order = await sender.has_order()
    await kill_and_restart(kirim)
    await confirm_found_order(sender.chat)
    await sender.chat.sees(like("orders.status_message.waiting"), anywhere=True)
    assert await invoices_in(sender.chat) == {order["invoiceBolt11"]}
    async with running_program(tmp_path, "run", environment=kirim.environment) as second:
        await second.says('"bot_started"')
        await kirim.service.pays(order)
        await kirim.kill_bot()
        await second.says('"leadership_gained"')
        paid = await sender.chat.sees(like("orders.notification.paid"), anywhere=True)
        await complete_order(kirim, order)
        await sender.chat.sees(like("orders.notification.sent_bank"), anywhere=True)
        final = await sender.chat.sees(ENDED, anywhere=True)
        assert final["message_id"] == paid["message_id"]
        assert await second.ends_on(signal.SIGTERM) == 0
    assert len(await sender.orders()) == 1
    assert await count_posts(kirim) <= 1


async def test_a_confirmation_whose_connection_is_lost_places_the_order_at_the_next_attempt(
    kirim: System, database: str
) -> None:
    sender = await new_sender_at_review(kirim)
    # A review that was shown again would have another rate, and the confirmation would be out of date.
    await kirim.service.keeps_its_quote(btc_idr=1_600_000_123)
    assert await kirim.stop_bot() == 0
    await kirim.start_bot()
    holder, killer = await asyncpg.connect(database), await asyncpg.connect(database)
    try:
        async with holder.transaction():
            await holder.execute("SELECT 1 FROM drafts FOR UPDATE")
            await sender.chat.taps(label("checkout.review.confirm"), wait=0)
            await found(partial(killer.fetchval, END_WAITING), bool, what="the transaction of the order")
    finally:
        await holder.close()
        await killer.close()
    await sender.chat.sees(like("orders.status_message.waiting"), anywhere=True)
    assert len(await sender.orders()) == 1
    assert await count_posts(kirim) == 1
    assert await sender.chat.count(like("checkout.review.title")) == 0
