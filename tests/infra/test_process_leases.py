"""The leases of a process as one value: created together, and given back together."""

import asyncio

import pytest

from bot.infra.db.database import Database
from bot.infra.db.errors import StoreDown
from bot.infra.leases.process import ProcessLeases
from tests.harness.databases import on_postgresql


@on_postgresql
async def test_a_process_that_ends_leaves_its_chats_and_the_lead_to_others(store: Database) -> None:
    ending, other = ProcessLeases.create(store, "ending"), ProcessLeases.create(store, "other")
    woken: list[str] = []
    ending.lead_freed.share = lambda: woken.append("others")
    leads = asyncio.Event()

    async def lead() -> None:
        leads.set()
        await asyncio.Event().wait()

    leading = asyncio.create_task(ending.lead.run(lead))
    await leads.wait()
    await ending.chats.claim([1])
    assert not await other.chats.claim([1])
    leading.cancel()
    await asyncio.wait({leading})
    await ending.release()
    assert [lease.chat_id for lease in await other.chats.claim([1])] == [1]
    assert woken == ["others"]
    assert not ending.lead.is_leading


async def test_a_process_ends_also_if_the_database_is_gone(store: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    leases = ProcessLeases.create(store, "ending")
    await leases.chats.claim([1])

    async def fail() -> None:
        raise StoreDown

    monkeypatch.setattr(leases.chats, "release_all", fail)
    await leases.release()
