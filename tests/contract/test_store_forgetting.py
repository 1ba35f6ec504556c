"""A person is forgotten in every table and in every file; their orders keep a skeleton that leads to nobody."""

import sqlite3
from contextlib import closing
from dataclasses import fields, replace
from datetime import timedelta

import pytest

from bot.actions.news import FAREWELL
from bot.actions.ports import OrderEvent, Person, Receipt, Recipient
from bot.actions.privacy import Privacy
from bot.actions.retention import AT_ONCE, Retention
from bot.domain.draft import DraftStatus
from bot.domain.order import Deposit, Order, Phase
from bot.store import SqlStore
from bot.store.sealing import SEALED
from bot.store.tables import metadata
from tests.contract.on_disk import found_in
from tests.contract.store_builders import BCA, NOW, SECOND, a_draft, an_order, an_update, some_news
from tests.contract.test_store_sealing import every_text
from tests.unit.fake_settlement import MovedClock

DAY = timedelta(days=1)
EMMA, SARI = 1001, 1002
DONE = {"phase": Phase.DONE, "state": "COMPLETED", "ended_at": NOW, "paid_at": NOW}


def a_person(person_id: int = EMMA, **changes: object) -> Person:
    return Person(id=person_id, created_at=NOW, language_code="en", **changes)  # type: ignore[arg-type]


def a_recipient(recipient_id: str, person_id: int = EMMA, **changes: object) -> Recipient:
    known = {"method": BCA, "number": "7731004455", "holder": "SARI DEWI", "created_at": NOW, "used_at": NOW}
    return Recipient(id=recipient_id, person_id=person_id, **{**known, **changes})  # type: ignore[arg-type]


async def live(store: SqlStore, person_id: int, n: int = 0) -> Order:
    """A person who has left something in every table; their sent order."""
    deposit = Deposit("cbbtc", 8453, "Base", "cbBTC", "0xcb", "0xto", 8)
    order = an_order(
        f"R{person_id}N{n}",
        person_id=person_id,
        chat_id=person_id,
        number="7731004455",
        service_id=f"cm{person_id}.{n}",
        bolt11="lnbc1kopi",
        deposit=deposit,
        refusal="no 7731004455",
        page_token=f"t{person_id}.{n}",
        **DONE,
    )
    async with store.transaction() as tx:
        await tx.people.save(a_person(person_id, phrase="MANGO LAUT", locale="id"))
        await tx.recipients.save(a_recipient(f"r{person_id}.{n}", person_id, label="Ibu Kost"))
        await tx.orders.add(order)
        await tx.orders.add_event(OrderEvent(reference=order.reference, at=NOW, phase=Phase.DONE, state="COMPLETED"))
        await tx.receipts.add(
            Receipt(reference=order.reference, code=f"CODE-{person_id}", code_hash=f"{person_id}.{n}", created_at=NOW)
        )
        placed = a_draft(f"d{person_id}.{n}", chat_id=person_id, person_id=person_id, number="7731004455")
        await tx.drafts.add(replace(placed, status=DraftStatus.PLACED))
        await tx.outbox.add([some_news(f"order:{order.reference}", chat_id=person_id)])
        for news in await tx.outbox.heads(NOW):
            await tx.outbox.told(news.id, 5, NOW)
        update = person_id * 10 + n
        await tx.inbox.add([an_update(update, chat_id=person_id)])
        await tx.inbox.finish([update], NOW)
    return order


async def rows_that_name(store: SqlStore, person_id: int) -> list[str]:
    """The tables in which a person's id stands in any column."""
    found = []
    async with store._reader.connect() as connection:
        for name, table in metadata.tables.items():
            rows = (await connection.execute(table.select())).all()
            if any(str(value) in {str(person_id), f"person:{person_id}"} for row in rows for value in row):
                found.append(name)
    return found


@pytest.fixture
def privacy(store: SqlStore) -> Privacy:
    return Privacy(store, MovedClock(), 365)


async def test_nothing_leads_to_a_forgotten_person_and_everybody_else_keeps_theirs(
    store: SqlStore, privacy: Privacy, database: str
) -> None:
    mine, theirs = await live(store, EMMA), await live(store, SARI)
    sealed = [each for each in await every_text(database) if each.startswith("s1.")]
    async with store.reading() as tx:
        others = (await tx.orders.get(theirs.reference), await tx.recipients.of_person(SARI))
    assert (await privacy.delete(a_person())).is_over
    assert await rows_that_name(store, EMMA) == []
    async with store.reading() as tx:
        kept = await tx.orders.get(mine.reference)
        receipt = await tx.receipts.of_order(mine.reference)
        assert (await tx.orders.get(theirs.reference), await tx.recipients.of_person(SARI)) == others
        assert len(await tx.orders.events(mine.reference)) == 1
        assert not await tx.orders.by_page_token("t1001.0")
        assert await tx.orders.of_person(EMMA) == ()
    assert kept is not None
    forgotten = {"person_id": 0, "chat_id": 0, "number": "", "version": 1} | dict.fromkeys(
        ("holder", "refusal", "bolt11", "deposit", "page_token")
    )
    skeleton = {field.name: getattr(mine, field.name) for field in fields(Order)}
    assert {field.name: getattr(kept, field.name) for field in fields(Order)} == skeleton | forgotten
    assert not kept.has_recipient
    assert receipt is not None
    assert (receipt.code, receipt.code_hash) == ("", "1001.0")
    left = [each for each in await every_text(database) if each.startswith("s1.")]
    assert len(left) == len(sealed) / 2
    if database.startswith("sqlite"):
        assert found_in(database, set(sealed) - set(left)) == {}


async def test_among_thousands_of_rows_no_file_keeps_a_trace(store: SqlStore, privacy: Privacy, database: str) -> None:
    if not database.startswith("sqlite"):
        pytest.skip("PostgreSQL's files are its operator's")
    for n in range(60):
        await live(store, EMMA, n)
        await live(store, SARI, n)
    every = {each for each in await every_text(database) if each.startswith("s1.")}
    await privacy.delete(a_person())
    left = set(await every_text(database))
    assert found_in(database, every - left) == {}


async def test_a_reader_in_the_way_only_puts_the_erasing_off(store: SqlStore, privacy: Privacy, database: str) -> None:
    if not database.startswith("sqlite"):
        pytest.skip("PostgreSQL's files are its operator's")
    await live(store, EMMA)
    sealed = [each for each in await every_text(database) if each.startswith("s1.")]
    with closing(sqlite3.connect(database.removeprefix("sqlite:///"), isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM orders").fetchone()
        await privacy.delete(a_person())
        assert found_in(database, sealed)
    await privacy.tidy()
    assert found_in(database, sealed) == {}


async def test_someone_with_something_open_is_only_noted_and_may_take_it_back(
    store: SqlStore, privacy: Privacy
) -> None:
    await live(store, EMMA)
    async with store.transaction() as tx:
        await tx.orders.add(an_order("OPEN", phase=Phase.OPEN))
        emma = await tx.people.get(EMMA)
    assert emma is not None
    waits = await privacy.delete(emma)
    assert [order.reference for order in waits.orders] == ["OPEN"]
    assert await privacy.ready() == ()
    assert not await privacy.carry_out(EMMA)
    async with store.reading() as tx:
        noted = await tx.people.get(EMMA)
    assert noted is not None
    assert noted.delete_asked_at is not None
    await privacy.keep(noted)
    async with store.transaction() as tx:
        order = await tx.orders.get("OPEN")
        assert order is not None
        await tx.orders.save(replace(order, phase=Phase.DONE))
    assert await privacy.ready() == ()
    assert not await privacy.carry_out(EMMA)
    assert "people" in await rows_that_name(store, EMMA)


@pytest.mark.parametrize("phase", [Phase.INTENDED, Phase.UNKNOWN, Phase.UNRESOLVED, Phase.HELD, Phase.OPEN])
async def test_every_phase_that_is_no_end_is_waited_for(store: SqlStore, privacy: Privacy, phase: Phase) -> None:
    async with store.transaction() as tx:
        await tx.people.save(a_person())
        await tx.orders.add(an_order(phase=phase))
    assert not (await privacy.delete(a_person())).is_over


async def test_the_farewell_outlives_the_person_until_it_is_told(store: SqlStore, privacy: Privacy) -> None:
    await live(store, EMMA)
    async with store.transaction() as tx:
        await tx.people.save(a_person(delete_asked_at=NOW, locale="id"))
        await tx.outbox.add([some_news("order:LAST", "sent")])
    assert await privacy.ready() == (), "the last news of money comes first"
    async with store.transaction() as tx:
        (last,) = await tx.outbox.heads(NOW)
        await tx.outbox.told(last.id, 6, NOW)
        await tx.drafts.add(a_draft("open"))
    assert await privacy.ready() == (), "nobody is forgotten in the middle of a conversation"
    async with store.transaction() as tx:
        draft = await tx.drafts.get("open")
        assert draft is not None
        await tx.drafts.save(replace(draft, status=DraftStatus.LAPSED))
    assert await privacy.ready() == (EMMA,)
    assert await privacy.carry_out(EMMA)
    assert not await privacy.carry_out(EMMA), "a second time there is nobody"
    assert await rows_that_name(store, EMMA) == ["outbox"]
    await privacy.tidy()
    async with store.transaction() as tx:
        (farewell,) = await tx.outbox.heads(NOW + DAY * 4000)
        assert (farewell.kind, farewell.payload) == (FAREWELL, {"locale": "id", "language_code": "en"})
        await tx.outbox.told(farewell.id, 7, NOW)
    await privacy.tidy()
    assert await rows_that_name(store, EMMA) == []


async def test_whoever_read_an_order_before_cannot_write_its_recipient_back(
    store: SqlStore, other_store: SqlStore, privacy: Privacy
) -> None:
    order = await live(store, EMMA)
    async with other_store.reading() as tx:
        read_before = await tx.orders.get(order.reference)
    assert read_before is not None
    await privacy.delete(a_person())
    async with other_store.transaction() as tx:
        assert await tx.orders.save(read_before) is None
    async with store.reading() as tx:
        assert not (await tx.orders.get(order.reference)).has_recipient  # type: ignore[union-attr]


async def test_updates_that_wait_are_still_answered(store: SqlStore, privacy: Privacy) -> None:
    await live(store, EMMA)
    async with store.transaction() as tx:
        await tx.inbox.add([an_update(99_999)])
    await privacy.delete(a_person())
    async with store.reading() as tx:
        assert [item.update_id for item in await tx.inbox.waiting(EMMA)] == [99_999]


async def aged(store: SqlStore, reference: str, days: float, **changes: object) -> None:
    long_ago = NOW - DAY * days
    known = {**DONE, "created_at": long_ago, "ended_at": long_ago, **changes}
    async with store.transaction() as tx:
        await tx.orders.add(an_order(reference, **known))


async def with_recipient(store: SqlStore) -> set[str]:
    async with store.reading() as tx:
        return {order.reference for order in await tx.orders.of_person(EMMA, limit=5000) if order.has_recipient}


async def retention(store: SqlStore, days: int) -> int:
    clock, rested = MovedClock(), []
    clock.at = NOW

    async def rests(seconds: float) -> None:
        rested.append(seconds)

    return await Retention(store, clock, days, rests).run_once()


async def test_recipients_delete_themselves_after_the_set_time(store: SqlStore) -> None:
    await aged(store, "OLD", 31)
    await aged(store, "NEW", 29)
    await aged(store, "LATE", 31, ended_at=NOW - DAY)
    await aged(store, "REFUSED", 31, phase=Phase.REFUSED, ended_at=None, refusal="no 8620123456")
    for phase in (Phase.OPEN, Phase.HELD, Phase.UNRESOLVED):
        await aged(store, phase.name, 400, phase=phase, ended_at=None)
    async with store.transaction() as tx:
        await tx.recipients.save(a_recipient("old", used_at=NOW - DAY * 31))
        await tx.recipients.save(a_recipient("new", used_at=NOW - DAY * 29))
        await tx.receipts.add(Receipt(reference="OLD", code="CODE", code_hash="h", created_at=NOW))
    assert await retention(store, 30) == 3
    assert await with_recipient(store) == {"NEW", "LATE", "OPEN", "HELD", "UNRESOLVED"}
    async with store.reading() as tx:
        assert [each.id for each in await tx.recipients.of_person(EMMA)] == ["new"]
        old, refused = await tx.orders.get("OLD"), await tx.orders.get("REFUSED")
        receipt = await tx.receipts.of_order("OLD")
    assert old is not None
    assert refused is not None
    assert receipt is not None
    assert (old.person_id, old.given, old.refusal, refused.refusal) == (EMMA, an_order().given, None, None)
    assert (receipt.code, receipt.code_hash) == ("", "h")
    assert await retention(store, 30) == 0


async def test_zero_days_keep_them_for_ever(store: SqlStore) -> None:
    await aged(store, "OLD", 3000)
    async with store.transaction() as tx:
        await tx.recipients.save(a_recipient("old", used_at=NOW - DAY * 3000))
    assert await retention(store, 0) == 0
    assert await with_recipient(store) == {"OLD"}


@pytest.mark.parametrize(("days", "left"), [(0, {"open", "young"}), (30, {"open", "young"}), (1, {"open"})])
async def test_closed_drafts_are_kept_two_days_at_the_most(store: SqlStore, days: int, left: set[str]) -> None:
    old, young = NOW - timedelta(hours=48) - SECOND, NOW - timedelta(hours=30)
    statuses = (DraftStatus.PLACED, DraftStatus.CANCELLED, DraftStatus.LAPSED)
    async with store.transaction() as tx:
        for status in statuses:
            await tx.drafts.add(a_draft(status.name, status=status, expires_at=old))
        await tx.drafts.add(a_draft("young", status=DraftStatus.LAPSED, expires_at=young))
        await tx.drafts.add(a_draft("open", expires_at=old))
    await retention(store, days)
    async with store.reading() as tx:
        assert {draft.id for draft in await tx.drafts.of_person(EMMA)} == left


async def test_many_are_forgotten_in_small_transactions(store: SqlStore) -> None:
    async with store.transaction() as tx:
        for n in range(AT_ONCE * 2 + 3):
            await tx.orders.add(an_order(f"R{n}", **{**DONE, "created_at": NOW - DAY * 40, "ended_at": NOW - DAY * 40}))
    assert await retention(store, 30) == AT_ONCE * 2 + 3
    assert await with_recipient(store) == set()


async def test_whoever_blocked_the_bot_that_long_ago_is_forgotten_without_a_word(store: SqlStore) -> None:
    clock = MovedClock()
    clock.at = NOW
    privacy = Privacy(store, clock, 30)
    await live(store, EMMA)
    await live(store, SARI)
    async with store.transaction() as tx:
        await tx.people.save(a_person(EMMA, blocked_at=NOW - DAY * 31))
        await tx.people.save(a_person(SARI, blocked_at=NOW - DAY * 29))
    assert await privacy.long_away() == (EMMA,)
    assert await Privacy(store, clock, 0).long_away() == ()
    assert await privacy.forget_away(EMMA)
    assert await rows_that_name(store, EMMA) == []
    async with store.transaction() as tx:
        await tx.people.save(a_person(SARI))
    assert not await privacy.forget_away(SARI), "she has come back meanwhile"


def test_no_sealed_column_is_forgotten_by_the_forgetting() -> None:
    # Whoever seals a new column sees here that it has to be forgotten, too.
    assert {table: columns for table, (_, columns) in SEALED.items()} == {
        "people": ("phrase",),
        "inbox": ("body",),
        "drafts": ("number", "doubtful_number", "holder"),
        "orders": ("number", "holder", "refusal"),
        "recipients": ("number", "holder", "label"),
        "receipts": ("code",),
    }
