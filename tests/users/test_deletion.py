"""A deleted user is in no table and no file. Their orders stay, without anything that leads to the user."""

import json
from dataclasses import fields, replace

import pytest

from bot.checkout.draft import DraftStatus
from bot.checkout.repository import DraftRepository
from bot.infra.db.database import Database
from bot.infra.outbox.repository import OutboxRepository
from bot.orders.order import Order, Payer, Phase
from bot.orders.receipts.repository import ReceiptRepository
from bot.orders.repository import OrderRepository
from bot.orders.user_data import OpenOrders
from bot.recipients.repository import RecipientRepository
from bot.staff.repository import AuditRepository
from bot.support.notifications import StaffNotification
from bot.users.model import UserNotification
from bot.users.privacy import PrivacyService
from bot.users.repository import UserRepository
from tests.checkout.builders import a_draft
from tests.examples import examples
from tests.harness.databases import on_sqlite
from tests.infra.builders import a_notification, an_infra, due_heads
from tests.infra.on_disk import find_texts, read_all_values
from tests.orders.builders import an_order
from tests.settlement.fake_settlement import MovedClock
from tests.times import DAY, NOW
from tests.users.builders import EMMA, SARI, a_user
from tests.users.stored_data import GROUP, RINA, USER_DATA, fill_every_table, tables_that_name


@pytest.fixture
def privacy(store: Database) -> PrivacyService:
    return PrivacyService(an_infra(store, MovedClock()), USER_DATA, 365)


async def test_nothing_leads_to_a_forgotten_user_and_everybody_else_keeps_theirs(
    store: Database, privacy: PrivacyService, database: str
) -> None:
    mine, theirs = await fill_every_table(store, EMMA), await fill_every_table(store, SARI)
    sealed = [each for each in await read_all_values(database) if each.startswith("s1.")]
    async with store.reading() as tx:
        others = (await OrderRepository(tx).get(theirs.reference), await RecipientRepository(tx).find_by_user(SARI))
    assert (await privacy.delete(a_user())).is_empty
    assert await tables_that_name(store, EMMA) == []
    async with store.reading() as tx:
        kept = await OrderRepository(tx).get(mine.reference)
        receipt = await ReceiptRepository(tx).of_order(mine.reference)
        assert (
            await OrderRepository(tx).get(theirs.reference),
            await RecipientRepository(tx).find_by_user(SARI),
        ) == others
        assert len(await OrderRepository(tx).events(mine.reference)) == 1
        assert not await OrderRepository(tx).by_page_token(["t1001.0"])
        assert await OrderRepository(tx).of_user(EMMA) == ()
    assert kept is not None
    forgotten = {"payer": Payer(), "number": "", "version": 1, "evidence": ()} | dict.fromkeys(
        ("holder", "refusal", "bolt11", "deposit", "page_token")
    )
    skeleton = {field.name: getattr(mine, field.name) for field in fields(Order)}
    assert {field.name: getattr(kept, field.name) for field in fields(Order)} == skeleton | forgotten
    assert not kept.has_recipient
    assert receipt is not None
    assert (receipt.code, receipt.code_hash) == ("", "1001.0")
    left = [each for each in await read_all_values(database) if each.startswith("s1.")]
    assert len(left) == len(sealed) / 2
    if database.startswith("sqlite"):
        assert find_texts(database, set(sealed) - set(left)) == {}


@on_sqlite  # PostgreSQL's files belong to its operator
@pytest.mark.usefixtures("sqlite_in_the_loop")
async def test_among_many_rows_no_file_keeps_a_trace(store: Database, privacy: PrivacyService, database: str) -> None:
    for n in range(examples(20)):  # SQLite begins its log again at 1,000 pages, which this fills
        await fill_every_table(store, EMMA, n)
        await fill_every_table(store, SARI, n)
    every = {each for each in await read_all_values(database) if each.startswith("s1.")}
    await privacy.delete(a_user())
    left = set(await read_all_values(database))
    assert find_texts(database, every - left) == {}


@on_sqlite  # PostgreSQL's files belong to its operator
async def test_a_crash_between_deletion_and_erasing_is_made_up_for_at_the_next_start(
    store: Database, privacy: PrivacyService, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await fill_every_table(store, EMMA)
    sealed = [each for each in await read_all_values(database) if each.startswith("s1.")]

    async def crashes(_: Database) -> bool:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Database, "erase_deleted", crashes)
        with pytest.raises(KeyboardInterrupt):
            await privacy.delete(a_user())
    assert await tables_that_name(store, EMMA) == []
    assert find_texts(database, sealed), "the log has them, or this test shows nothing"
    await store.upgrade()
    assert find_texts(database, sealed) == {}


async def test_someone_with_something_open_is_only_noted_and_may_take_it_back(
    store: Database, privacy: PrivacyService
) -> None:
    await fill_every_table(store, EMMA)
    async with store.transaction() as tx:
        await OrderRepository(tx).add(an_order("OPEN", phase=Phase.OPEN))
        emma = await UserRepository(tx).get(EMMA)
    assert emma is not None
    waits = await privacy.delete(emma)
    (open_orders,) = waits.blockers
    assert isinstance(open_orders, OpenOrders)
    assert [order.reference for order in open_orders.orders] == ["OPEN"]
    assert await privacy.find_deletable() == ()
    assert not await privacy.delete_as_requested(EMMA)
    async with store.reading() as tx:
        noted = await UserRepository(tx).get(EMMA)
    assert noted is not None
    assert noted.deletion_requested_at is not None
    await privacy.cancel_deletion(noted)
    async with store.transaction() as tx:
        order = await OrderRepository(tx).get("OPEN")
        assert order is not None
        await OrderRepository(tx).save(replace(order, phase=Phase.DONE))
    assert await privacy.find_deletable() == ()
    assert not await privacy.delete_as_requested(EMMA)
    assert "users" in await tables_that_name(store, EMMA)


async def test_the_last_message_outlives_the_user_until_it_is_sent(store: Database, privacy: PrivacyService) -> None:
    await fill_every_table(store, EMMA)
    async with store.transaction() as tx:
        await UserRepository(tx).save(a_user(deletion_requested_at=NOW, locale="id"))
        await OutboxRepository(tx).add([a_notification("order:LAST", "sent")])
    assert await privacy.find_deletable() == (), "the last notification about money comes first"
    async with store.transaction() as tx:
        (last,) = await due_heads(tx, NOW)
        await OutboxRepository(tx).record_sent({last.id: 6}, NOW)
        await DraftRepository(tx).add(a_draft("open"))
    assert await privacy.find_deletable() == (), "nobody is forgotten in the middle of a conversation"
    async with store.transaction() as tx:
        draft = await DraftRepository(tx).get("open")
        assert draft is not None
        await DraftRepository(tx).save(replace(draft, status=DraftStatus.EXPIRED))
    assert await privacy.find_deletable() == (EMMA,)
    assert await privacy.delete_as_requested(EMMA)
    assert not await privacy.delete_as_requested(EMMA), "a second time there is nobody"
    assert await tables_that_name(store, EMMA) == ["outbox"]
    await privacy.clean_up()
    async with store.transaction() as tx:
        (last_message,) = [
            notification for notification in await due_heads(tx, NOW + DAY * 4000) if notification.chat_id == EMMA
        ]
        assert (last_message.kind, last_message.payload) == (
            UserNotification.DATA_DELETED,
            {"locale": "id", "language_code": "en"},
        )
        await OutboxRepository(tx).record_sent({last_message.id: 7}, NOW)
    await privacy.clean_up()
    assert await tables_that_name(store, EMMA) == []


async def test_whoever_read_an_order_before_cannot_write_its_recipient_back(
    store: Database, other_store: Database, privacy: PrivacyService
) -> None:
    order = await fill_every_table(store, EMMA)
    async with other_store.reading() as tx:
        read_before = await OrderRepository(tx).get(order.reference)
    assert read_before is not None
    await privacy.delete(a_user())
    async with other_store.transaction() as tx:
        assert await OrderRepository(tx).save(read_before) is None
    async with store.reading() as tx:
        assert not (await OrderRepository(tx).get(order.reference)).has_recipient  # type: ignore[union-attr]


async def test_what_support_s_chats_show_of_a_forgotten_user_is_to_be_taken_away(
    store: Database, privacy: PrivacyService
) -> None:
    await fill_every_table(store, EMMA)
    await fill_every_table(store, SARI)
    await privacy.delete(a_user())
    async with store.reading() as tx:
        (removal,) = await OutboxRepository(tx).find_by_subject(f"ticket:T-{EMMA}.0")
        assert len(await OutboxRepository(tx).find_by_subject(f"ticket:T-{SARI}.0")) == 1, "its own notifications stay"
        (trail, hers) = sorted(await AuditRepository(tx).page(), key=lambda entry: entry.user_id)
    assert (removal.chat_id, removal.kind, dict(removal.payload)) == (
        GROUP,
        StaffNotification.DELETED,
        {"ticket": f"T-{EMMA}.0", "chat": GROUP, "topics": [0], "messages": [EMMA * 10_000], "outside": []},
    )
    assert (trail.actor_id, trail.user_id, trail.detail) == (RINA, 0, "")
    assert (hers.user_id, hers.detail) == (SARI, "they asked about 7731004455")


async def test_what_one_takes_along_are_the_words_of_both_sides_and_no_notes(
    store: Database, privacy: PrivacyService
) -> None:
    await fill_every_table(store, EMMA)
    taken = json.loads(await privacy.export(a_user()))
    assert list(taken) == [
        "about",
        "made_at",
        "profile",
        "drafts",
        "missed_orders",
        "orders",
        "payment_requests",
        "recipients",
        "tickets",
        "payment_reminders",
        "rate_alerts",
        "subscriptions",
    ]
    (ticket,) = taken["tickets"]
    assert taken["missed_orders"] == [{"reference": f"R{EMMA}N0", "at": NOW.isoformat()}]
    assert [each["from"] for each in ticket["messages"]] == ["you", "support"]
    assert ticket["messages"][0]["html"] == "about 7731004455"
    assert (ticket["reference"], ticket["about_order"]) == (f"T-{EMMA}.0", f"R{EMMA}N0")
