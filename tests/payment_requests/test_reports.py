"""A payer reports a request with one tap, and operators close it, or all of its asker's. The audit log has it all."""

import pytest

from bot.infra.db.database import Database
from bot.infra.outbox.repository import OutboxRepository
from bot.payment_requests.links import new_token
from bot.payment_requests.model import ClosedBy, PaymentRequest
from bot.payment_requests.notifications import PaymentRequestNotification
from bot.payment_requests.reports import ReportService
from bot.payment_requests.repository import PaymentRequestRepository
from bot.payment_requests.rules import PaymentRequestRules
from bot.staff.repository import AuditRepository
from tests.infra.builders import an_infra
from tests.payment_requests.builders import a_request
from tests.settlement.fake_settlement import MovedClock
from tests.users.builders import EMMA, SARI

OSCAR, OLGA = 2001, 2002
OTHER = "f" * 16


@pytest.fixture
async def reports(store: Database) -> ReportService:
    async with store.transaction() as tx:
        await PaymentRequestRepository(tx).add(a_request())
        await PaymentRequestRepository(tx).add(a_request(OTHER, token=new_token()))
    return ReportService(an_infra(store, MovedClock()), PaymentRequestRules(operator_ids=frozenset({OSCAR, OLGA})))


async def queued(store: Database) -> list[tuple[int, str]]:
    """Return for whom which notifications wait."""
    async with store.reading() as tx:
        found = await OutboxRepository(tx).find_heads(MovedClock().now())
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
        await reports.report(payer, a_request().id)
    await reports.report(EMMA, "0" * 16)
    assert await queued(store) == [(each, PaymentRequestNotification.REPORTED) for each in (OSCAR, OLGA)]
    (listed,) = await reports.list_reported()
    assert (listed.request.id, listed.reports) == (a_request().id, 2)


async def test_each_look_at_a_reported_request_is_in_the_audit_log(store: Database, reports: ReportService) -> None:
    await reports.report(EMMA, a_request().id)
    assert await reports.look(OSCAR, a_request().id) == (a_request(), 1)
    assert await reports.look(OSCAR, "0" * 16) is None
    assert await audited(store) == [(OSCAR, "looked", f"payment_request:{a_request().id}", SARI, "")]


async def test_a_closed_request_stays_closed_and_its_asker_hears_of_it_once(
    store: Database, reports: ReportService
) -> None:
    for _ in range(2):
        closed = await reports.close(OSCAR, a_request().id)
        assert closed is not None
        assert closed.closed_by is ClosedBy.OPERATOR
    assert (await read(store, OTHER)).closed_by is None
    assert await queued(store) == [(SARI, PaymentRequestNotification.CLOSED)]
    assert await audited(store) == [(OSCAR, "closed", f"payment_request:{a_request().id}", SARI, "")]


async def test_all_requests_of_an_asker_are_closed_at_once(store: Database, reports: ReportService) -> None:
    assert await reports.close_all(OSCAR, a_request().id) == 2
    assert await reports.close_all(OSCAR, a_request().id) == 0
    assert {(await read(store, each)).closed_by for each in (a_request().id, OTHER)} == {ClosedBy.OPERATOR}
    assert await queued(store) == [(SARI, PaymentRequestNotification.CLOSED)]
    assert await audited(store) == [(OSCAR, "closed", f"payment_request:{a_request().id}", SARI, "all_of_user")]
