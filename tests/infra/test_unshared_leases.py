"""On SQLite one process has every chat and leads, without rows."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from bot.infra.leases import chat_leases
from bot.infra.leases.chat_leases import UnsharedLeases
from bot.infra.leases.leader import Leadership
from bot.infra.leases.repository import LEAD
from tests.waiting import TIMEOUT_SECONDS


async def test_what_was_received_before_the_process_began_may_have_ended_the_one_before() -> None:
    leases, before = UnsharedLeases("only"), datetime.now(UTC)
    leases.begin()
    assert leases.get(1) is None, "what waits in the chat is looked through first"
    (lease,) = await leases.claim([1])
    assert lease.is_held
    assert lease.was_left(before)
    assert not lease.was_left(datetime.now(UTC) + timedelta(seconds=1))
    assert leases.get(1) is lease


async def test_only_so_many_chats_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chat_leases, "MOST_UNSHARED", 2)
    leases = UnsharedLeases()
    leases.begin()
    assert len(await leases.claim([1, 2, 3])) == 3
    assert [leases.get(chat_id) is None for chat_id in (1, 2, 3)] == [True, False, False]


async def test_the_process_leads_at_once() -> None:
    leases = UnsharedLeases()
    leases.begin()
    leadership, led = Leadership(leases), asyncio.Event()

    async def lead() -> None:
        assert leadership.is_leading
        led.set()

    async with asyncio.timeout(TIMEOUT_SECONDS):
        await leadership.run(lead)
    assert led.is_set()
    assert not leadership.is_leading, "its work has ended"
    assert leases.get(LEAD) is not None
