"""Rows that weren't used for the retention period are deleted, and rows that are still needed aren't."""

from dataclasses import replace

from sqlalchemy import select

from bot.infra.db.database import Database
from bot.orders.order import Phase
from bot.orders.receipts.codes import Receipt
from bot.orders.receipts.repository import ReceiptRepository
from bot.orders.repository import OrderRepository
from bot.recipients.repository import RecipientRepository
from bot.settlement.model import OrderStep
from bot.support.model import TicketStatus
from bot.support.repository import TicketEntryRepository, TicketRepository
from bot.users.model import RecordedEvent
from bot.users.privacy import PrivacyService
from bot.users.repository import UserEventRepository, UserRepository
from bot.users.tables import user_events
from bot.users.workers import Retention
from tests.infra.builders import an_infra
from tests.orders.builders import an_order
from tests.recipients.builders import a_recipient
from tests.settlement.fake_settlement import MovedClock
from tests.times import DAY, NOW
from tests.users.builders import EMMA, SARI, a_user
from tests.users.stored_data import DONE, USER_DATA, fill_every_table, tables_that_name


async def aged(store: Database, reference: str, days: float, **changes: object) -> None:
    long_ago = NOW - DAY * days
    known = {**DONE, "created_at": long_ago, "ended_at": long_ago, **changes}
    async with store.transaction() as tx:
        await OrderRepository(tx).add(an_order(reference, **known))


async def with_recipient(store: Database) -> set[str]:
    async with store.reading() as tx:
        return {order.reference for order in await OrderRepository(tx).of_user(EMMA, limit=5000) if order.has_recipient}


async def retention(store: Database, days: int) -> int:
    clock, rested = MovedClock(), []
    clock.at = NOW

    async def rests(seconds: float) -> None:
        rested.append(seconds)

    return await Retention(an_infra(store, clock), USER_DATA, days, rests).run_once()


async def test_recipients_delete_themselves_after_the_set_time(store: Database) -> None:
    await aged(store, "OLD", 31)
    await aged(store, "NEW", 29)
    await aged(store, "LATE", 31, ended_at=NOW - DAY)
    await aged(store, "REFUSED", 31, phase=Phase.REFUSED, ended_at=None, refusal="no 8620123456")
    for phase in (Phase.OPEN, Phase.NEEDS_CONFIRMATION, Phase.UNRESOLVED):
        await aged(store, phase.name, 400, phase=phase, ended_at=None)
    async with store.transaction() as tx:
        await RecipientRepository(tx).save(a_recipient("old", last_used_at=NOW - DAY * 31))
        await RecipientRepository(tx).save(a_recipient("new", last_used_at=NOW - DAY * 29))
        await ReceiptRepository(tx).add(Receipt(reference="OLD", code="CODE", code_hash="h", created_at=NOW))
    assert await retention(store, 30) == 3
    assert await with_recipient(store) == {"NEW", "LATE", "OPEN", "NEEDS_CONFIRMATION", "UNRESOLVED"}
    async with store.reading() as tx:
        assert [each.id for each in await RecipientRepository(tx).find_by_user(EMMA)] == ["new"]
        old, refused = await OrderRepository(tx).get("OLD"), await OrderRepository(tx).get("REFUSED")
        receipt = await ReceiptRepository(tx).of_order("OLD")
    assert old is not None
    assert refused is not None
    assert receipt is not None
    assert (old.user_id, old.requested_amount, old.refusal, refused.refusal) == (
        EMMA,
        an_order().requested_amount,
        None,
        None,
    )
    assert (receipt.code, receipt.code_hash) == ("", "h")
    assert await retention(store, 30) == 0


async def test_zero_days_keep_them_for_ever(store: Database) -> None:
    await aged(store, "OLD", 3000)
    async with store.transaction() as tx:
        await RecipientRepository(tx).save(a_recipient("old", last_used_at=NOW - DAY * 3000))
    assert await retention(store, 0) == 0
    assert await with_recipient(store) == {"OLD"}


async def test_whoever_blocked_the_bot_that_long_ago_is_forgotten_without_a_word(store: Database) -> None:
    clock = MovedClock()
    clock.at = NOW
    privacy = PrivacyService(an_infra(store, clock), USER_DATA, 30)
    await fill_every_table(store, EMMA)
    await fill_every_table(store, SARI)
    async with store.transaction() as tx:
        await UserRepository(tx).save(a_user(EMMA, blocked_at=NOW - DAY * 31))
        await UserRepository(tx).save(a_user(SARI, blocked_at=NOW - DAY * 29))
    assert await privacy.find_long_blocked() == (EMMA,)
    assert await PrivacyService(an_infra(store, clock), USER_DATA, 0).find_long_blocked() == ()
    assert await privacy.delete_long_blocked(EMMA)
    assert await tables_that_name(store, EMMA) == []
    async with store.transaction() as tx:
        await UserRepository(tx).save(a_user(SARI))
    assert not await privacy.delete_long_blocked(SARI), "she has come back meanwhile"


async def test_what_was_written_in_a_ticket_goes_when_it_was_closed_long_ago(store: Database) -> None:
    await fill_every_table(store, EMMA)
    await fill_every_table(store, EMMA, 1)
    await fill_every_table(store, EMMA, 2)
    async with store.transaction() as tx:
        for n, days in ((0, 31), (1, 29)):
            ticket = await TicketRepository(tx).get(f"T-{EMMA}.{n}")
            assert ticket is not None
            closed_at = NOW - DAY * days
            await TicketRepository(tx).save(
                replace(ticket, status=TicketStatus.CLOSED, closed_at=closed_at, waiting_since=None)
            )
        await UserEventRepository(tx).add(RecordedEvent(user_id=EMMA, at=NOW - DAY * 31, event="blocked"))
    await retention(store, 0)
    assert await _entries(store) == [3, 3, 3], "for ever, where nothing deletes itself"
    assert await retention(store, 30) == 4
    assert await _entries(store) == [0, 3, 3]
    async with store.reading() as tx:
        assert (await tx.connection.execute(select(user_events.c.event))).scalars().all() == ["pressed.check"] * 3


async def _entries(store: Database) -> list[int]:
    async with store.reading() as tx:
        return [len(await TicketEntryRepository(tx).of_ticket(f"T-{EMMA}.{n}")) for n in range(3)]


async def test_orders_that_were_never_shown_are_deleted_after_ninety_days(store: Database) -> None:
    unpaid = {"state": "", "ended_at": None, "paid_at": None, "step": OrderStep.CREATED}
    hidden = {"phase": Phase.ABANDONED, **unpaid}
    await aged(store, "OLD1111", 91, **hidden, draft_id="1", service_id="s1")
    await aged(store, "OLD2222", 91, phase=Phase.REFUSED, draft_id="2", service_id=None, **unpaid)
    await aged(store, "NEW1111", 89, **hidden, draft_id="3", service_id="s3")
    await aged(store, "DONE111", 91, draft_id="4", service_id="s4")
    assert await retention(store, 0) == 2
    async with store.reading() as tx:
        assert {order.reference for order in await OrderRepository(tx).of_user(EMMA)} == {"NEW1111", "DONE111"}
