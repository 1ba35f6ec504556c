"""A payer reports a request and says why. Operators close it, or all of its asker's. The audit log has it all."""

from datetime import datetime
from typing import Any

import pytest
from sqlalchemy import select

from bot.core.errors import Rejection
from bot.infra.db.database import Database
from bot.infra.outbox.tables import outbox
from bot.orders.order import Phase, payer_in_chat
from bot.payment_requests.model import ClosedBy, PaymentRequest, PaymentRequestRules, new_token
from bot.payment_requests.notifications import PaymentRequestNotification
from bot.payment_requests.repository import PaymentRequestRepository, ReportRepository
from bot.payment_requests.service import ReportService
from bot.staff.repository import AuditRepository
from bot.users.model import User
from bot.users.repository import UserRepository
from tests.e2e.local_times import JAKARTA
from tests.infra.builders import an_infra, due_heads
from tests.orders.builders import an_order, insert_orders
from tests.payment_requests.builders import a_request
from tests.settlement.fake_settlement import MovedClock
from tests.times import NOW
from tests.users.builders import EMMA, SARI

OSCAR, OLGA = 2001, 2002
OTHER = "f" * 16


@pytest.fixture
def clock() -> MovedClock:
    return MovedClock()


@pytest.fixture
async def reports(store: Database, clock: MovedClock) -> ReportService:
    async with store.transaction() as tx:
        await PaymentRequestRepository(tx).add(a_request())
        await PaymentRequestRepository(tx).add(a_request(OTHER, token=new_token()))
    return ReportService(an_infra(store, clock), PaymentRequestRules(operator_ids=frozenset({OSCAR, OLGA})))


async def saved(store: Database, request_id: str, **changes: Any) -> str:
    """Save another request, and return its id."""
    async with store.transaction() as tx:
        assert await PaymentRequestRepository(tx).add(a_request(request_id, token=new_token(), **changes))
    return request_id


async def pay(store: Database, user_id: int, request_id: str) -> None:
    """Save a paid order of a user from a link."""
    async with store.transaction() as tx:
        await insert_orders(tx, [an_order(user_id=user_id, origin=request_id, phase=Phase.OPEN, paid_at=NOW)])


async def told(store: Database, operator_id: int) -> list[object]:
    """Return the messages about reports that an operator got, or will get."""
    async with store.reading() as tx:
        rows = await tx.connection.execute(select(outbox).where(outbox.c.chat_id == operator_id))
        return [row for row in rows if row.kind == str(PaymentRequestNotification.REPORTED)]


async def queued(store: Database) -> list[tuple[int, str]]:
    """Return for whom which notifications wait."""
    async with store.reading() as tx:
        found = await due_heads(tx, MovedClock().now())
    return sorted((each.chat_id, each.kind) for each in found)


async def audited(store: Database) -> list[tuple[int, str, str, int, str]]:
    """Return the entries of the audit log, the oldest first."""
    async with store.reading() as tx:
        found = await AuditRepository(tx).page(before="", actor_id=0, limit=10)
    return [(each.actor_id, str(each.action), each.subject, each.user_id, each.detail) for each in reversed(found)]


async def read(store: Database, request_id: str) -> PaymentRequest:
    async with store.reading() as tx:
        found = await PaymentRequestRepository(tx).get(request_id)
    assert found is not None
    return found


async def test_operators_hear_of_the_first_report_and_a_second_tap_adds_none(
    store: Database, reports: ReportService
) -> None:
    for payer in (EMMA, EMMA, EMMA + 7):
        await reports.report(payer_in_chat(payer), a_request().id, "scam")
    await reports.report(payer_in_chat(EMMA), "0" * 16, "scam")
    assert await queued(store) == [(each, PaymentRequestNotification.REPORTED) for each in (OSCAR, OLGA)]
    (listed,) = await reports.list_reported()
    assert (listed.request.id, listed.reports) == (a_request().id, 2)


@pytest.mark.parametrize("clock_time", ["03:00", "12:00"])
async def test_a_report_reaches_operators_at_once_day_and_night(
    store: Database, reports: ReportService, clock: MovedClock, clock_time: str
) -> None:
    async with store.transaction() as tx:
        await UserRepository(tx).save(User(id=OSCAR, created_at=clock.now(), time_zone="Asia/Jakarta"))
    clock.at = datetime.fromisoformat(f"2026-08-18T{clock_time}").replace(tzinfo=JAKARTA)
    await reports.report(payer_in_chat(EMMA), a_request().id, "scam")
    async with store.reading() as tx:
        due = [each for each in await due_heads(tx, clock.now()) if each.chat_id == OSCAR]
    assert [each.kind for each in due] == [PaymentRequestNotification.REPORTED]


async def test_the_status_counts_what_was_reported_until_an_operator_has_looked(
    store: Database, reports: ReportService
) -> None:
    async def count() -> int:
        async with store.reading() as tx:
            return await ReportRepository(tx).count_unseen_requests()

    for payer in (EMMA, EMMA + 7):
        await reports.report(payer_in_chat(payer), a_request().id, "scam")
    assert await count() == 1
    await reports.look(OSCAR, a_request().id)
    assert await count() == 0
    await reports.report(payer_in_chat(EMMA + 8), a_request().id, "scam")
    assert await count() == 1
    await reports.close(OSCAR, a_request().id)
    assert await count() == 0


async def test_nobody_reports_their_own_request(store: Database, reports: ReportService) -> None:
    with pytest.raises(Rejection, match=r"report\.own"):
        await reports.report(payer_in_chat(SARI), a_request().id, "scam")
    assert (await queued(store), await reports.list_reported()) == ([], ())


async def test_a_payer_reports_five_requests_a_day_but_always_one_that_they_have_paid(
    store: Database, reports: ReportService, clock: MovedClock
) -> None:
    for n in range(5):
        await reports.report(payer_in_chat(EMMA), await saved(store, f"{n:016}"), "scam")
    with pytest.raises(Rejection, match=r"report\.too_many"):
        await reports.report(payer_in_chat(EMMA), a_request().id, "scam")
    assert a_request().id not in [each.request.id for each in await reports.list_reported()]
    await pay(store, EMMA, OTHER)
    await reports.report(payer_in_chat(EMMA), OTHER, "scam")
    clock.passes(days=1)
    await reports.report(payer_in_chat(EMMA), a_request().id, "scam")
    assert {a_request().id, OTHER} < {each.request.id for each in await reports.list_reported()}


async def test_there_is_one_message_about_an_asker_until_an_operator_has_looked(
    store: Database, reports: ReportService, clock: MovedClock
) -> None:
    for payer, request_id in enumerate((a_request().id, OTHER, a_request().id), start=EMMA + 5):
        await reports.report(payer_in_chat(payer), request_id, "scam")
    assert len(await told(store, OSCAR)) == 1
    await reports.report(payer_in_chat(EMMA), await saved(store, "1" * 16, user_id=SARI + 900), "scam")
    assert len(await told(store, OSCAR)) == 2  # about another asker
    await reports.look(OLGA, a_request().id)
    clock.passes(seconds=1)
    await reports.report(payer_in_chat(EMMA + 5), OTHER, "other")
    assert len(await told(store, OSCAR)) == 3
    await reports.report(payer_in_chat(EMMA + 6), a_request().id, "scam")
    assert len(await told(store, OSCAR)) == 3


@pytest.mark.parametrize("by", [ClosedBy.PAYMENT, ClosedBy.ASKER, ClosedBy.OPERATOR])
async def test_the_report_of_a_payer_who_has_paid_reaches_operators_although_it_is_closed(
    store: Database, reports: ReportService, clock: MovedClock, by: ClosedBy
) -> None:
    await reports.report(payer_in_chat(EMMA), OTHER, "scam")
    await reports.report(payer_in_chat(EMMA), a_request().id, "not_for_me")
    await pay(store, EMMA, a_request().id)
    async with store.transaction() as tx:
        await PaymentRequestRepository(tx).close_all(SARI, by, clock.now())
    assert await reports.list_reported() == ()
    clock.passes(seconds=1)
    for _ in range(2):
        await reports.report(payer_in_chat(EMMA), a_request().id, "scam")
    assert len(await told(store, OSCAR)) == 2
    (listed,) = await reports.list_reported()
    assert (listed.request.id, listed.reports) == (a_request().id, 1)
    found = await reports.look(OSCAR, a_request().id)
    assert found is not None
    assert found[1] == {"paid_scam": 1}
    assert await reports.list_reported() == ()


async def test_each_look_at_a_reported_request_is_in_the_audit_log(store: Database, reports: ReportService) -> None:
    await reports.report(payer_in_chat(EMMA), a_request().id, "scam")
    assert await reports.look(OSCAR, a_request().id) == (a_request(), {"scam": 1})
    assert await reports.look(OSCAR, "0" * 16) is None
    assert await audited(store) == [(OSCAR, "looked", f"payment_request:{a_request().id}", SARI, "")]


async def test_a_closed_request_stays_closed_and_its_asker_hears_of_it_once(
    store: Database, reports: ReportService
) -> None:
    for closed in (1, 0):
        assert await reports.close(OSCAR, a_request().id) == closed
        assert (await read(store, a_request().id)).closed_by is ClosedBy.OPERATOR
    assert await reports.close(OSCAR, "0" * 16) is None
    assert (await read(store, OTHER)).closed_by is None
    assert await queued(store) == [(SARI, PaymentRequestNotification.CLOSED)]
    assert await audited(store) == [(OSCAR, "closed", f"payment_request:{a_request().id}", SARI, "")]


async def test_all_requests_of_an_asker_are_closed_at_once(store: Database, reports: ReportService) -> None:
    assert await reports.close(OSCAR, a_request().id, is_all=True) == 2
    assert await reports.close(OSCAR, a_request().id, is_all=True) == 0
    assert {(await read(store, each)).closed_by for each in (a_request().id, OTHER)} == {ClosedBy.OPERATOR}
    assert await queued(store) == [(SARI, PaymentRequestNotification.CLOSED)]
    assert await audited(store) == [(OSCAR, "closed", f"payment_request:{a_request().id}", SARI, "all_of_user")]
