"""Each kind of notification is read as it was saved, and an invalid row doesn't stop others."""

from collections.abc import AsyncIterator, Mapping
from datetime import UTC, datetime
from decimal import Decimal

import pytest

from bot.app import App
from bot.broadcasts.model import BroadcastMessage, BroadcastWarning, WaitingBroadcast
from bot.checkout.notifications import DraftPayload
from bot.infra.db.database import Database
from bot.infra.outbox.model import (
    NoPayload,
    Notification,
    NotificationKind,
    Queue,
    Undeliverable,
    format_mark,
    format_subject,
)
from bot.infra.outbox.repository import OutboxRepository, PayloadUnreadable, pack, unpack
from bot.orders.notifications import ABOUT_MONEY, AboutOrder, OrderNotification
from bot.orders.repository import MissedOrderRepository
from bot.payment_reminders.notifications import ReminderPayload
from bot.payment_requests.notifications import ClosedPayload, RequestPayload
from bot.payment_requests.paying.notifications import DayOfPayments, LinkNotification, LinkPayment
from bot.rates.notifications import DailyQuote, PriceReached
from bot.settlement.model import Quote
from bot.staff.model import Alarm, AlarmKind
from bot.staff.notifications import AlarmPayload, TakenPayload
from bot.staff.repository import AlarmRepository
from bot.support.notifications import AboutTicket, DeletedTicket, Remark
from bot.users.model import DeletedUser
from tests.app.built_app import built_app
from tests.infra.builders import a_notification, all_notifications
from tests.orders.order_system import EMMA
from tests.times import NOW

AT = datetime(2026, 3, 1, 9, 30, 0, 123456, tzinfo=UTC)
AT_TEXT = "2026-03-01T09:30:00.123456Z"
QUOTE = Quote(Decimal("1700123456.780000001"), AT, Decimal("16345.50"), "binance")
QUOTE_JSON = {
    "btc_idr": "1700123456.780000001",
    "fetched_at": AT_TEXT,
    "usdc_idr": "16345.50",
    "source": "binance",
}
BLOCKED = Undeliverable("bot was blocked by the user", whole_chat=True)
ALARM = Alarm(kind=AlarmKind.METHODS_SHRUNK, facts={"before": 1_500, "now": 12}, raised_at=AT)

STORED: tuple[tuple[object, Mapping[str, object]], ...] = (
    (NoPayload(), {}),
    (DeletedUser("id", None), {"locale": "id", "language_code": None}),
    (DraftPayload("d1", 7), {"draft": "d1", "message_id": 7}),
    (BroadcastMessage("0123456789"), {"broadcast": "0123456789"}),
    (
        WaitingBroadcast("0123456789", (BroadcastWarning.STALE, BroadcastWarning.JUMPED)),
        {"broadcast": "0123456789", "doubts": ["s", "j"]},
    ),
    (DailyQuote(QUOTE, Decimal("-1.50")), {"quote": QUOTE_JSON, "change": "-1.50"}),
    (
        PriceReached(QUOTE, is_above=True, threshold=Decimal(1_800_000_000), cooldown_until=None),
        {"quote": QUOTE_JSON, "is_above": True, "threshold": "1800000000", "cooldown_until": None},
    ),
    (AboutOrder("R2345AB"), {"reference": "R2345AB"}),
    (
        AlarmPayload(ALARM, by=2001),
        {
            "alarm": {
                "id": 0,
                "kind": "methods_shrunk",
                "subject": "",
                "facts": {"before": 1_500, "now": 12},
                "raised_at": AT_TEXT,
                "joined_until": None,
                "reminded_at": None,
                "cleared_at": None,
                "taken_by": None,
                "taken_at": None,
            },
            "by": 2001,
        },
    ),
    (TakenPayload(2001, AT), {"by": 2001, "at": AT_TEXT}),
    (
        AboutTicket("T-22222", 3, Remark.FAILED, 3001, why="blocked", since=AT),
        {
            "ticket": "T-22222",
            "entry": 3,
            "what": "failed",
            "who": 3001,
            "before": 0,
            "why": "blocked",
            "since": AT_TEXT,
        },
    ),
    (
        DeletedTicket("T-22222", -100_3001, (5,), (11, 12)),
        {"ticket": "T-22222", "chat": -100_3001, "topics": [5], "messages": [11, 12], "outside": []},
    ),
    (RequestPayload("7f3a2c9d"), {"request": "7f3a2c9d"}),
    (ClosedPayload("7f3a2c9d", is_all=True), {"request": "7f3a2c9d", "is_all": True}),
    (ReminderPayload("7f3a2c9d", AT), {"reminder": "7f3a2c9d", "due_at": AT_TEXT}),
    (LinkPayment("7f3a2c9d", 500_000), {"request": "7f3a2c9d", "idr": 500_000}),
    (DayOfPayments(AT, AT), {"since": AT_TEXT, "until": AT_TEXT}),
)
"""A payload of each type, and its JSON in the row. Rows survive upgrades, so a change needs a migration."""

KINDS = [kind for kinds in NotificationKind.__subclasses__() for kind in kinds]


@pytest.fixture
async def describe_payload(file: str) -> AsyncIterator[App]:
    async with built_app(file) as app:
        yield app


def test_no_two_kinds_have_one_name() -> None:
    assert len({kind.value for kind in KINDS}) == len(KINDS)


async def test_each_kind_comes_back_from_its_row_as_it_was_saved(store: Database) -> None:
    stored = [next(pair for pair in STORED if type(pair[0]) is kind.payload) for kind in KINDS]
    saved = [
        Notification(
            chat_id=chat_id,
            subject=format_subject("order", "R2345AB"),
            kind=kind,
            mark=format_mark("answer", 7),
            queue=Queue.EXTRA,
            payload=payload,
            due_at=NOW,
            created_at=NOW,
        )
        for chat_id, (kind, (payload, _)) in enumerate(zip(KINDS, stored, strict=True), EMMA)
    ]
    async with store.transaction() as tx:
        assert await OutboxRepository(tx).add(saved) == len(KINDS)
    async with store.reading() as tx:
        rows = await all_notifications(tx)
    for row, kind, (payload, json) in zip(sorted(rows, key=lambda row: row.chat_id), KINDS, stored, strict=True):
        assert (row.subject, row.kind, row.mark, row.payload) == ("order:R2345AB", kind.value, "answer.7", json)
        read = unpack(kind, row)
        assert (read.kind, read.payload) == (kind, payload)
        assert pack(read.payload) == pack(row.payload) == json


@pytest.mark.parametrize("payload", [{}, {"reference": None}, {"reference": ["R2345AB"]}, {"ticket": "T-22222"}])
def test_a_payload_of_another_form_is_refused_without_a_word_of_it(payload: dict[str, object]) -> None:
    with pytest.raises(PayloadUnreadable) as caught:
        unpack(OrderNotification.PAID, a_notification(payload=payload))
    assert (str(caught.value), caught.value.__cause__) == ("", None)


MAY_BE_MISSED: Mapping[str, str] = {
    "data_deleted": "there is nobody any more",
    "draft_expired": "a draft is no order",
    "payment_request_card": "its page has the link, and sends the picture again",
    "payment_request_reported": "the list of reports has it",
    "payment_request_closed": "its page says so, and nobody can pay it",
    "payment_reminder": "nothing was ordered, and the next one comes",
    "daily_quote": "a price is out of date at once",
    "rate_alert": "a price is out of date at once",
    "broadcast_waits": "the broadcast is in the list",
    "ticket_forgotten": "in a chat that the bot has left, Telegram lets it delete nothing",
    **dict.fromkeys(("alarm_raised", "alarm_reminder"), "an open alarm is repeated"),
    "alarm_taken": "the reminder and the status say who is on it",
    "alarm_over": "the alarm is no longer repeated",
}
"""The kinds without a follow-up, each with the reason why nobody loses anything without it."""


def test_each_notification_has_a_follow_up_or_a_reason_why_it_may_be_missed(describe_payload: App) -> None:
    followed = {kind.value for feature in describe_payload.features for kind in feature.follow_ups}
    assert {kind.value for kind in KINDS} - followed == set(MAY_BE_MISSED)


@pytest.mark.parametrize("is_blocked", [True, False])
async def test_a_message_about_money_that_is_given_up_is_missed_and_an_alarm_if_it_was_refused(
    describe_payload: App, *, is_blocked: bool
) -> None:
    result = BLOCKED if is_blocked else Undeliverable("message is too long")
    for chat_id, kind in enumerate([*ABOUT_MONEY, *LinkNotification], EMMA):
        reference = f"R{chat_id}"
        about = LinkPayment("7f3a", 500_000) if isinstance(kind, LinkNotification) else AboutOrder(reference)
        # The mark is that of what askers get.
        notification = a_notification(kind=kind, chat_id=chat_id, mark=reference, payload=about)
        _, follow_up = describe_payload.delivery._follow_ups[kind]
        async with describe_payload.database.transaction() as tx:
            await follow_up(tx, notification, result, NOW)
            (missed,) = await MissedOrderRepository(tx).of_user(chat_id)
            alarms = [alarm.kind for alarm in await AlarmRepository(tx).find_open() if alarm.subject == reference]
        assert (missed.link, missed.reference) in {("7f3a", "link:7f3a"), (None, reference)}, kind
        assert alarms == ([] if is_blocked else [AlarmKind.MESSAGE_REFUSED]), kind
