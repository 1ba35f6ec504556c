"""The audit log records every lookup that showed something, and no other."""

from datetime import datetime
from typing import Any

import pytest
from telegram import Update

from bot.checkout.repository import DraftRepository
from bot.core.zones import zone_of
from bot.infra.db.database import Database
from bot.orders.order import Order
from bot.orders.repository import OrderRepository
from bot.settlement.catalogue import ServiceCatalogue
from bot.settlement.errors import NeverReached
from bot.settlement.model import PayoutMethod
from bot.staff.model import AuditAction
from bot.staff.repository import AuditRepository
from bot.support.cases import Case
from bot.support.lookup_model import PAGE_SIZE, OrderFilter
from bot.support.lookups import LookupService
from bot.support.model import CloseReason, Ticket, TicketFilter
from bot.support.repository import TicketRepository
from bot.support.session import TicketMessages, TicketPages
from bot.users.model import User
from bot.users.repository import UserRepository
from tests.checkout.builders import a_draft
from tests.infra.builders import an_infra
from tests.orders.builders import an_order, some_evidence
from tests.orders.order_system import EMMA, SARI
from tests.settlement.builders import BCA
from tests.settlement.fake_settlement import FakeSettlement
from tests.users.builders import load_sessions

RINA = 3001
JAKARTA = zone_of("Asia/Jakarta")
GONE = PayoutMethod("777", "BANK TEMPO DULU", "bank", None)


@pytest.fixture
def lookups(sqlite_store: Database, service: FakeSettlement) -> LookupService:
    return LookupService(sqlite_store, ServiceCatalogue(service, service.clock), service.clock)


async def keep(sqlite_store: Database, *rows: Order | Ticket | User) -> None:
    async with sqlite_store.transaction() as tx:
        for row in rows:
            if isinstance(row, Order):
                assert await OrderRepository(tx).add(row)
            elif isinstance(row, Ticket):
                assert await TicketRepository(tx).add(row)
            else:
                await UserRepository(tx).save(row)


async def view_ticket(sqlite_store: Database, ticket: Ticket, now: datetime) -> Case:
    return await TicketPages(sqlite_store, TicketMessages(sqlite_store)).view(RINA, ticket, now)


async def trail(sqlite_store: Database) -> list[tuple[int, AuditAction, str, int]]:
    async with sqlite_store.reading() as tx:
        entries = await AuditRepository(tx).page(limit=50)
    return [(each.actor_id, each.action, each.subject, each.user_id) for each in reversed(entries)]


async def test_pages_of_an_order_a_ticket_and_a_user_are_written_down_and_lists_are_not(
    sqlite_store: Database, lookups: LookupService, service: FakeSettlement
) -> None:
    ticket = Ticket.open(EMMA, service.clock.now(), order_reference="R2345AB")
    await keep(sqlite_store, an_order(), ticket, User(id=EMMA, created_at=service.clock.now()))
    assert await lookups.find_order("r2345ab")
    assert (await lookups.find_orders(OrderFilter(parts=("345A",)))).items
    assert (await lookups.find_orders(OrderFilter(code="014"))).items
    assert (await lookups.list_orders_of(EMMA)).items
    assert (await lookups.list_tickets_of(EMMA)).items
    assert (await lookups.list_tickets(TicketFilter.OPEN, RINA)).page.items
    assert await trail(sqlite_store) == []
    case = await lookups.view_order(RINA, "R2345AB")
    service.clock.passes(seconds=1)
    assert case is not None
    assert case.tickets == (ticket,)
    assert (await view_ticket(sqlite_store, ticket, service.clock.now())).order == case.order
    service.clock.passes(seconds=1)
    about = await lookups.view_user(RINA, EMMA)
    assert about is not None
    assert (about.counts.orders, about.tickets) == (1, (ticket,))
    assert await trail(sqlite_store) == [
        (RINA, AuditAction.LOOKED, "order:R2345AB", EMMA),
        (RINA, AuditAction.LOOKED, f"ticket:{ticket.reference}", EMMA),
        (RINA, AuditAction.LOOKED, "person:", EMMA),
    ]


async def test_who_saw_an_orders_evidence_is_written_down(sqlite_store: Database, lookups: LookupService) -> None:
    await keep(sqlite_store, an_order(evidence=some_evidence()), an_order("R2345AC"))
    assert await lookups.view_evidence(RINA, "R2345AC") is None
    assert await lookups.view_evidence(RINA, "NOSUCH2") is None
    order = await lookups.view_evidence(RINA, "R2345AB")
    assert order is not None
    assert order.payout_reference == "redeem_5f2c"
    assert await trail(sqlite_store) == [(RINA, AuditAction.LOOKED, "evidence:R2345AB", EMMA)]


async def test_what_is_not_there_is_not_written_down(sqlite_store: Database, lookups: LookupService) -> None:
    await keep(sqlite_store, an_order(user_id=0, number="", holder=None))
    assert await lookups.view_order(RINA, "NOSUCH2") is None
    assert await lookups.view_user(RINA, EMMA) is None
    assert await lookups.view_user(RINA, 0) is None, "the place of those who were deleted is nobody"
    assert await trail(sqlite_store) == []


async def test_nothing_is_shown_where_it_cannot_be_written_down(
    sqlite_store: Database, lookups: LookupService, monkeypatch: pytest.MonkeyPatch
) -> None:
    await keep(sqlite_store, an_order())

    async def broken(*_: Any) -> None:
        raise OSError("disk full")

    monkeypatch.setattr("bot.staff.repository.AuditRepository.add", broken)
    with pytest.raises(OSError, match="disk full"):
        await lookups.view_order(RINA, "R2345AB")


async def test_pages_follow_one_another_without_a_gap(sqlite_store: Database, lookups: LookupService) -> None:
    count = 2 * PAGE_SIZE + 1
    await keep(sqlite_store, *(an_order(f"R23450{chr(65 + number)}") for number in range(count)))
    pages = [await lookups.list_orders_of(EMMA, offset) for offset in range(0, count, PAGE_SIZE)]
    assert [len(page.items) for page in pages] == [PAGE_SIZE, PAGE_SIZE, 1]
    assert [page.has_more for page in pages] == [True, True, False]
    assert len({order.reference for page in pages for order in page.items}) == count


async def test_a_destination_is_understood_also_when_the_list_is_away_or_has_forgotten_it(
    sqlite_store: Database, lookups: LookupService, service: FakeSettlement
) -> None:
    await keep(sqlite_store, an_order(method=BCA), an_order("OLD2345", method=GONE, draft_id="d2"))
    assert (await lookups.parse_query("tempo dulu", JAKARTA)).wanted == OrderFilter(code="777")
    assert (await lookups.parse_query("tempo dulu", JAKARTA)).method == GONE
    assert (await lookups.parse_query("gopay", JAKARTA)).wanted == OrderFilter(code="gopay")
    away = FakeSettlement(service.clock)
    away.reads.extend([NeverReached("down")] * 3)
    without = LookupService(sqlite_store, ServiceCatalogue(away, service.clock), service.clock)
    assert (await without.parse_query("bca", JAKARTA)).wanted == OrderFilter(code="014")


async def test_today_is_the_readers_own(lookups: LookupService, service: FakeSettlement) -> None:
    service.clock.at = service.clock.at.replace(hour=18)  # one in the morning in Jakarta
    jakarta, utc = [(await lookups.parse_query("today", zone_of(name))).wanted for name in ("Asia/Jakarta", "UTC")]
    assert jakarta.since is not None
    assert utc.until is not None
    assert jakarta.since.hour == 17
    assert jakarta.since < utc.until < (jakarta.until or jakarta.since)


async def test_lists_of_tickets_say_how_many_the_others_hold(
    sqlite_store: Database, lookups: LookupService, service: FakeSettlement
) -> None:
    now = service.clock.now()
    waits, mine, others, over = (Ticket.open(user, now) for user in (EMMA, SARI, 1003, 1004))
    mine, others = mine.record_reply(RINA, now), others.record_reply(3002, now)
    over = over.close(RINA, CloseReason.SOLVED, now)
    await keep(sqlite_store, waits, mine, others, over)
    listed = await lookups.list_tickets(TicketFilter.MINE, RINA)
    assert [ticket for ticket, _ in listed.page.items] == [mine]
    assert listed.counts == {
        TicketFilter.OPEN: 3,
        TicketFilter.MINE: 1,
        TicketFilter.UNCLAIMED: 1,
        TicketFilter.CLOSED: 1,
    }


@pytest.mark.parametrize("called", ["emma_w", "@Emma_W", "t.me/emma_w", "https://t.me/EMMA_W", " @emma_w "])
async def test_a_name_is_taken_however_it_is_written(
    sqlite_store: Database, lookups: LookupService, called: str
) -> None:
    await keep(sqlite_store, User(id=EMMA, created_at=an_order().created_at, username="emma_w"))
    assert await lookups.find_users(called) == (EMMA,)


@pytest.mark.parametrize("called", ["", "@", "0", "-1", "99999999999999999999", "9223372036854775808", "emma%"])
async def test_what_is_nobodys_name_finds_nobody(sqlite_store: Database, lookups: LookupService, called: str) -> None:
    await keep(sqlite_store, User(id=EMMA, created_at=an_order().created_at, username="emma_w"))
    assert await lookups.find_users(called) == ()


async def test_a_public_name_is_known_as_it_was_when_its_user_was_last_here(
    sqlite_store: Database, lookups: LookupService, service: FakeSettlement
) -> None:
    sessions = load_sessions(an_infra(sqlite_store, service.clock))
    for name in ("Emma_W", "Emma_Baru", None, "emma_baru"):
        session = await sessions.load(written_by(EMMA, name))
        assert session is not None
        assert session.user.username == (name and name.lower())
        async with sqlite_store.transaction() as tx:
            await session._save_state(tx)  # as at the end of an update
            assert await UserRepository(tx).get(EMMA) == session.user
    assert await lookups.find_users("@emma_w") == ()
    assert await lookups.find_users("@emma_baru") == (EMMA,)


async def test_a_name_that_stays_costs_no_write(sqlite_store: Database, service: FakeSettlement) -> None:
    sessions = load_sessions(an_infra(sqlite_store, service.clock))
    first = await sessions.load(written_by(EMMA, "emma"))
    assert first is not None
    async with sqlite_store.transaction() as tx:
        await first._save_state(tx)
    service.clock.passes(hours=2)
    second = await sessions.load(written_by(EMMA, "Emma"))
    assert second is not None
    assert (second.user, second.has_new_profile) == (first.user, False)


def written_by(user_id: int, username: str | None) -> Update:
    user = {"id": user_id, "is_bot": False, "first_name": "Emma", **({"username": username} if username else {})}
    chat = {"id": user_id, "type": "private"}
    message = {"message_id": 7, "date": 1_790_000_000, "chat": chat, "from": user, "text": "halo"}
    update = Update.de_json({"update_id": 3, "message": message}, None)
    assert update is not None
    return update


async def test_a_draft_is_part_of_a_ticket_and_of_its_customers_page(
    sqlite_store: Database, lookups: LookupService, service: FakeSettlement
) -> None:
    ticket = Ticket.open(EMMA, service.clock.now())
    await keep(sqlite_store, ticket, User(id=EMMA, created_at=service.clock.now()))
    assert (await view_ticket(sqlite_store, ticket, service.clock.now())).draft is None
    draft = a_draft(chat_id=EMMA, user_id=EMMA)
    async with sqlite_store.transaction() as tx:
        assert await DraftRepository(tx).add(draft)
    assert (await view_ticket(sqlite_store, ticket, service.clock.now())).draft == draft
    about = await lookups.view_user(RINA, EMMA)
    assert about is not None
    assert about.draft == draft
