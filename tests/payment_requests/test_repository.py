"""Payment requests on both databases: found by their link alone, closed for good, and gone with their asker."""

from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import select

from bot.infra.db.database import Database
from bot.infra.db.errors import RowUnreadable
from bot.infra.db.user_rows import count_rows, prune_rows
from bot.orders.order import Phase
from bot.orders.repository import OrderRepository
from bot.payment_requests import user_data
from bot.payment_requests.model import (
    ClosedBy,
    PaymentRequest,
    RequestState,
    RequestStatus,
    hash_token,
    make_link,
    new_token,
    read_token,
)
from bot.payment_requests.repository import PaymentRequestRepository, ReportRepository
from bot.payment_requests.tables import payment_requests
from tests.orders.builders import an_order
from tests.payment_requests.builders import TOKEN, a_report, a_request
from tests.times import DAY, NOW, SECOND
from tests.users.builders import EMMA, SARI
from tests.users.stored_data import delete_user

LATER = NOW + DAY


async def save(store: Database, *requests: PaymentRequest) -> None:
    """Save requests."""
    async with store.transaction() as tx:
        for request in requests:
            assert await PaymentRequestRepository(tx).add(request)


async def read(store: Database, request_id: str = "0123456789abcdef") -> PaymentRequest:
    """Return a saved request."""
    async with store.reading() as tx:
        found = await PaymentRequestRepository(tx).get(request_id)
    assert found is not None
    return found


@pytest.mark.parametrize("request_", [a_request(), a_request(idr=None, note=None, ends_at=LATER, is_reusable=True)])
async def test_a_request_is_found_by_its_token_as_it_was_saved(store: Database, request_: PaymentRequest) -> None:
    await save(store, request_)
    async with store.reading() as tx:
        requests = PaymentRequestRepository(tx)
        assert await requests.find_by_token(TOKEN) == request_
        assert await requests.of_draft(request_.draft_id) == request_
        assert await requests.find_by_token(TOKEN[::-1]) is None
        assert await requests.find_by_token(hash_token(TOKEN)) is None


async def test_a_draft_becomes_one_request(store: Database) -> None:
    await save(store, a_request())
    async with store.transaction() as tx:
        again = a_request("fedcba9876543210", token=new_token(), draft_id=a_request().draft_id)
        assert not await PaymentRequestRepository(tx).add(again)


async def test_no_column_shows_what_the_asker_wrote_or_the_link(store: Database) -> None:
    await save(store, a_request())
    async with store._reader.connect() as connection:
        row = (await connection.execute(select(payment_requests))).one()
    shown = " ".join(map(str, row))
    assert not any(text in shown for text in (TOKEN, "7731004455", "Sari Dewi", "Patungan"))


@pytest.mark.parametrize(
    "change",
    [
        {"idr": 15},
        {"user_id": EMMA},
        {"token_hash": hash_token("another")},
        {"is_reusable": True},
        {"ends_at": None},
        {"ends_at": LATER + SECOND},
        {"status": "open"},
        {"terms_seal": None},
    ],
)
async def test_a_row_that_was_changed_behind_the_bot_is_not_paid(store: Database, change: dict[str, object]) -> None:
    await save(store, a_request(status=RequestStatus.PAUSED, ends_at=LATER))
    async with store.transaction() as tx:
        await tx.connection.execute(payment_requests.update().values(**change))
    async with store.reading() as tx:
        with pytest.raises(RowUnreadable):
            await PaymentRequestRepository(tx).get(a_request().id)


async def test_a_closed_request_can_be_opened_by_no_change_of_its_row(store: Database) -> None:
    await save(store, a_request())
    async with store.transaction() as tx:
        assert await PaymentRequestRepository(tx).close(a_request().id, ClosedBy.OPERATOR, LATER)
        await tx.connection.execute(payment_requests.update().values(status="open", closed_by=None))
    async with store.reading() as tx:
        with pytest.raises(RowUnreadable):
            await PaymentRequestRepository(tx).get(a_request().id)


async def test_a_closed_row_is_closed_whatever_its_seal_says(store: Database) -> None:
    await save(store, a_request())
    async with store.transaction() as tx:
        await tx.connection.execute(payment_requests.update().values(status="closed", is_reusable=True))
    assert (await read(store)).state_at(NOW) is RequestState.CLOSED


async def test_requests_that_cannot_be_read_are_closed_counted_and_deleted(store: Database) -> None:
    await save(store, a_request(), a_request("f" * 16, token=new_token()))
    async with store.transaction() as tx:
        await tx.connection.execute(payment_requests.update().values(number="s1.no.key"))
        requests = PaymentRequestRepository(tx)
        assert await count_rows(tx, payment_requests, SARI) == 2
        assert await requests.count_open(SARI, NOW) == 2
        assert await requests.user_of(a_request().id) == SARI
        assert await requests.close(a_request().id, ClosedBy.PAYMENT, LATER)
        assert await requests.close_all(SARI, ClosedBy.OPERATOR, LATER) == 1
        await delete_user(tx, SARI)
        assert await count_rows(tx, payment_requests, SARI) == 0


async def test_a_payment_leaves_a_request_open_that_can_be_paid_many_times(store: Database) -> None:
    await save(store, a_request(is_reusable=True))
    async with store.transaction() as tx:
        assert not await PaymentRequestRepository(tx).close(a_request().id, ClosedBy.PAYMENT, LATER)
    assert (await read(store)).is_payable(NOW)


async def test_note_end_and_status_change_and_nothing_changes_after_the_close(store: Database) -> None:
    await save(store, a_request())
    async with store.transaction() as tx:
        requests = PaymentRequestRepository(tx)
        paused = replace(a_request(), note="Iuran", ends_at=LATER + DAY, status=RequestStatus.PAUSED)
        assert await requests.save(paused, LATER)
    paused = replace(paused, used_at=LATER)
    assert await read(store) == paused
    async with store.transaction() as tx:
        requests = PaymentRequestRepository(tx)
        assert await requests.close(a_request().id, ClosedBy.OPERATOR, LATER)
        assert not await requests.close(a_request().id, ClosedBy.ASKER, LATER)
        assert not await requests.save(a_request(), LATER)
        assert await requests.close_all(SARI, ClosedBy.ASKER, LATER) == 0
    assert await read(store) == replace(paused, status=RequestStatus.CLOSED, closed_by=ClosedBy.OPERATOR)


async def test_what_can_be_paid_counts_as_open(store: Database) -> None:
    several: tuple[dict[str, Any], ...] = (
        {},
        {"status": RequestStatus.PAUSED},
        {"ends_at": NOW},
        {"status": RequestStatus.CLOSED},
        {"user_id": EMMA},
    )
    for at, changes in enumerate(several):
        await save(store, a_request(f"{at:016}", token=new_token(), **changes))
    async with store.transaction() as tx:
        requests = PaymentRequestRepository(tx)
        assert await requests.count_open(SARI, NOW) == 2
        assert await requests.close_all(SARI, ClosedBy.DELETION, NOW) == 3
        assert await requests.count_open(SARI, NOW) == 0
        assert await requests.count_open(EMMA, NOW) == 1


async def test_the_newest_request_stands_first(store: Database) -> None:
    await save(store, a_request("1" * 16, created_at=NOW), a_request("2" * 16, token=new_token(), created_at=LATER))
    async with store.reading() as tx:
        assert [each.id for each in await PaymentRequestRepository(tx).of_user(SARI)] == ["2" * 16, "1" * 16]
        assert await PaymentRequestRepository(tx).of_user(EMMA) == ()


async def test_a_payer_reports_a_request_once_and_a_closed_one_is_no_longer_listed(store: Database) -> None:
    await save(store, a_request())
    async with store.transaction() as tx:
        reports = ReportRepository(tx)
        assert await reports.add(a_report())
        assert not await reports.add(a_report(at=LATER, reason="other"))
        assert await reports.add(a_report(EMMA + 7, at=NOW + SECOND, reason="other"))
        (listed,) = await reports.reported(limit=5)
        assert (listed.request, listed.reports, listed.last_at) == (a_request(), 2, NOW + SECOND)
        await PaymentRequestRepository(tx).close_all(SARI, ClosedBy.OPERATOR, LATER)
        assert await reports.reported(limit=5) == ()
        assert await reports.count(a_request().id) == {"other": 1, "scam": 1}


async def test_a_reported_request_that_cannot_be_read_hides_no_other(store: Database) -> None:
    await save(store, a_request(), a_request("f" * 16, token=new_token()))
    async with store.transaction() as tx:
        reports = ReportRepository(tx)
        await reports.add(a_report())
        await reports.add(replace(a_report(), request_id="f" * 16))
        await tx.connection.execute(
            payment_requests.update().where(payment_requests.c.id == "f" * 16).values(number="s1.no.key")
        )
        assert [each.request for each in await reports.reported(limit=5)] == [a_request()]


async def test_a_request_goes_with_its_reports_when_it_was_not_used_for_long(store: Database) -> None:
    await save(store, a_request(), a_request("f" * 16, token=new_token(), used_at=LATER))
    async with store.transaction() as tx:
        await ReportRepository(tx).add(a_report())
        assert await prune_rows(payment_requests.c.used_at, tx, NOW + DAY + SECOND, DAY, 10) == 1
        assert await ReportRepository(tx).count(a_request().id) == {}
        await PaymentRequestRepository(tx).record_use("f" * 16, LATER + DAY)
        assert await prune_rows(payment_requests.c.used_at, tx, LATER + DAY + SECOND, DAY, 10) == 0
    assert (await read(store, "f" * 16)).used_at == LATER + DAY


def test_the_state_of_a_link_follows_from_status_and_time() -> None:
    ending = a_request(ends_at=LATER)
    assert ending.state_at(LATER - SECOND) is RequestState.OPEN
    assert ending.state_at(LATER) is RequestState.ENDED
    paused = replace(ending, status=RequestStatus.PAUSED)
    assert (paused.state_at(NOW), paused.state_at(LATER)) == (RequestState.PAUSED, RequestState.ENDED)
    closed = replace(paused, status=RequestStatus.CLOSED, closed_by=ClosedBy.OPERATOR)
    assert (closed.state_at(NOW), closed.state_at(LATER)) == (RequestState.CLOSED, RequestState.CLOSED)
    assert replace(closed, closed_by=ClosedBy.PAYMENT).state_at(NOW) is RequestState.PAID
    assert [each.is_payable(NOW) for each in (ending, paused, closed)] == [True, False, False]


def test_a_link_carries_96_random_bits_that_telegram_accepts() -> None:
    tokens = {new_token() for _ in range(100)}
    assert len(tokens) == 100
    for token in tokens:
        assert len(token) == 16  # 6 bits each
        link = make_link("kirim_bot", token)
        assert link == f"https://t.me/kirim_bot?start=r_{token}"
        assert read_token(link.partition("=")[2]) == token


@pytest.mark.parametrize("word", ["", "r_", "r_short", f"r_{TOKEN}x", f"v_{TOKEN}", f"r_{TOKEN[:-1]}/", f"r_{TOKEN}\n"])
def test_a_word_of_another_form_is_no_token(word: str) -> None:
    assert read_token(word) is None


async def test_a_request_for_deletion_closes_all_links_for_good_and_waits_for_paid_orders_alone(
    store: Database,
) -> None:
    await save(store, a_request(), a_request("f" * 16, token=new_token()))
    unpaid = an_order("UNPAID1", user_id=EMMA, origin=a_request().id, phase=Phase.OPEN)
    paid = an_order("PAID222", user_id=EMMA, origin="f" * 16, phase=Phase.OPEN, paid_at=NOW)
    async with store.transaction() as tx:
        await OrderRepository(tx).add(unpaid)
        await user_data.begin_deletion(tx, SARI, LATER)
        assert await user_data.blocks_deletion(tx, SARI) is None
        await OrderRepository(tx).add(paid)
        assert await user_data.blocks_deletion(tx, SARI) == user_data.PaidOrders(1)
    assert {(await read(store, each)).closed_by for each in (a_request().id, "f" * 16)} == {ClosedBy.DELETION}


async def test_a_deleted_askers_number_is_in_no_order_of_their_links(store: Database) -> None:
    await save(store, a_request())
    async with store.transaction() as tx:
        await OrderRepository(tx).add(an_order("R234567", user_id=EMMA, origin=a_request().id, phase=Phase.OPEN))
        await delete_user(tx, SARI)
        order = await OrderRepository(tx).get("R234567")
        assert order is not None
        assert (order.number, order.holder) == ("", None)
        assert await PaymentRequestRepository(tx).get(a_request().id) is None
