"""A case shows what support needs in one message, and nothing that support must not see."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from bot.infra.i18n import LOCALES
from bot.infra.outbox.model import Notification, NotificationStatus, StoredNotification
from bot.infra.telegram.ui.reader import Reader
from bot.infra.telegram.ui.screen import TEXT_UNITS, Screen
from bot.orders.buttons import OrderAction
from bot.orders.notifications import OrderNotification
from bot.orders.order import EventNote, Order, OrderEvent, Phase, payer_on_page
from bot.settlement.model import OrderStep
from bot.support.cases import Anomaly, Case, DeliveryState, get_delivery_state
from bot.support.model import Cause, Ticket
from bot.support.screens import case as case_screens
from bot.users.model import RecordedEvent, User, UserEvent, press_event
from tests.examples import some
from tests.orders.builders import an_open_order, every_event_of, orders_in_each_state
from tests.screens import HOSTILE_NAMES, JAKARTA, NOW, ScreenCase
from tests.texts import TRANSLATIONS, name_of, readable, says, text

EN, ID = TRANSLATIONS.get("en"), TRANSLATIONS.get("id")
BEGAN = NOW - timedelta(minutes=30)
EMMA = User(id=1001, language_code="en", created_at=BEGAN)
BLOCKED = "Forbidden: bot was blocked by the user"


def event(seconds: int, phase: Phase = Phase.OPEN, state: str = "", note: str = "", **more: Any) -> OrderEvent:
    at = BEGAN + timedelta(seconds=seconds)
    return OrderEvent(reference="ABC2345", at=at, phase=phase, state=state, note=note, **more)


def notification(seconds: int, kind: str, **more: Any) -> StoredNotification:
    at = BEGAN + timedelta(seconds=seconds)
    known: dict[str, Any] = {"status": NotificationStatus.SENT, "message_id": 7, "sent_at": at, "payload": {}, **more}
    return Notification(chat_id=1001, subject="order:ABC2345", kind=kind, due_at=at, created_at=at, **known)


def act(seconds: int, what: str) -> RecordedEvent:
    return RecordedEvent(user_id=1001, reference="ABC2345", at=BEGAN + timedelta(seconds=seconds), event=what)


def a_case(order: Order | None = None, **more: Any) -> Case:
    return Case(user_id=1001, user=EMMA, order=order or an_open_order(), **more)


def shown(case: Case, locale: str = "en", before: str = "") -> ScreenCase:
    t = TRANSLATIONS.get(locale)
    return ScreenCase("case", Screen(case_screens.format_case(Reader(t, JAKARTA, NOW), case, before=before)))


def line(at: str, what: str) -> str:
    return text("support.case.line", at=at, what=what)


def told(notice: OrderNotification, reach: DeliveryState = DeliveryState.SENT) -> str:
    return text(
        "support.case.told", what=text(f"support.case.told.{notice}"), reach=text(f"support.case.reach.{reach}")
    )


def done_by_user(what: str) -> str:
    return text("support.case.did", what=text(f"support.user_event.{what}"))


def timeline_in(said: str) -> list[str]:
    """Return the lines of a case's timeline, without its heading."""
    heading = text("support.case.timeline", zone="WIB")
    assert heading in said
    return said.partition(f"{heading}\n")[2].split("\n")


def test_a_case_tells_what_the_service_said_what_the_user_was_told_and_what_they_did_in_one_order() -> None:
    clock = BEGAN - timedelta(seconds=3)
    paid = an_open_order(state="LN_INVOICE_PAID", step=OrderStep.PAID, paid_at=BEGAN + timedelta(seconds=40))
    case = a_case(
        paid,
        events=(
            event(0, Phase.INTENDED, note=EventNote.INTENDED),
            event(1),
            event(40, state="LN_INVOICE_PAID", service_at=clock),
        ),
        notifications=(
            notification(2, OrderNotification.INVOICE),
            notification(41, OrderNotification.PAID),
            notification(42, OrderNotification.EDIT_STATUS, mark="5", message_id=None),
            notification(43, OrderNotification.OVERDUE, message_id=None),
        ),
        user_events=(act(20, "pressed.check"), act(25, "pressed.check"), act(30, "pressed.help")),
    )
    looked = text(
        "support.case.line_repeated", at="09:35:20", until="09:35:25", what=done_by_user("pressed.check"), count=2
    )
    was_paid = text("support.case.state", what=text("orders.step.paid"), state="LN_INVOICE_PAID")
    assert timeline_in(shown(case).text) == [
        line("09:35:00", text("support.case.event.confirmed")),
        line("09:35:01", text("support.case.event.made")),
        line("09:35:02", told(OrderNotification.INVOICE)),
        looked,
        line("09:35:30", done_by_user("pressed.help")),
        line("09:35:40", was_paid + text("support.case.service_at", at="09:34:57")),
        line("09:35:41", told(OrderNotification.PAID)),
        line("09:35:42", told(OrderNotification.EDIT_STATUS)),
        line("09:35:43", told(OrderNotification.OVERDUE, DeliveryState.NOT_NEEDED)),
    ]


@pytest.mark.parametrize(
    ("changes", "reach", "said"),
    [
        ({}, DeliveryState.SENT, text("support.case.reach.sent")),
        ({"maybe_sent": True}, DeliveryState.SENT, text("support.case.reach.sent") + text("support.case.maybe_twice")),
        (
            {"sent_at": BEGAN + timedelta(minutes=5)},
            DeliveryState.SENT,
            text("support.case.reach.sent") + text("support.case.waited", duration="5 minutes"),
        ),
        ({"message_id": None}, DeliveryState.NOT_NEEDED, text("support.case.reach.needless")),
        (
            {"status": NotificationStatus.WAITING, "sent_at": None, "message_id": None},
            DeliveryState.WAITS,
            text("support.case.reach.waits"),
        ),
        (
            {"status": NotificationStatus.SENDING, "sent_at": None, "message_id": None},
            DeliveryState.SENDING,
            text("support.case.reach.under_way"),
        ),
        (
            {"status": NotificationStatus.UNDELIVERABLE, "sent_at": None, "message_id": None, "failure": BLOCKED},
            DeliveryState.BLOCKED,
            text("support.case.reach.blocked", why=BLOCKED),
        ),
        (
            {
                "status": NotificationStatus.UNDELIVERABLE,
                "sent_at": None,
                "message_id": None,
                "failure": "Bad <Request>",
            },
            DeliveryState.FAILED,
            text("support.case.reach.failed", why="Bad <Request>"),
        ),
    ],
)
def test_each_thing_that_was_told_says_what_became_of_it_and_never_that_it_was_read(
    changes: dict[str, Any], reach: DeliveryState, said: str
) -> None:
    piece = notification(0, OrderNotification.PAID, **changes)
    assert get_delivery_state(piece) is reach
    at = EN.seconds(piece.sent_at or piece.created_at, JAKARTA)
    mark = "⚠️ " if reach in {DeliveryState.BLOCKED, DeliveryState.FAILED} else ""
    what = mark + text("support.case.told", what=text("support.case.told.paid"), reach=said)
    assert timeline_in(shown(a_case(notifications=(piece,))).text) == [line(at, what)]


@pytest.mark.parametrize(
    ("changes", "more", "anomaly"),
    [
        ({"state": "FAILED", "step": OrderStep.PAID, "paid_at": NOW}, {}, Anomaly.FAILED_PAID),
        ({"step": OrderStep.PAID, "paid_at": NOW, "overdue_notified_at": NOW}, {}, Anomaly.STUCK),
        ({"step": OrderStep.PAID, "paid_at": NOW, "expiry_notified": True}, {}, Anomaly.LATE),
        ({}, {"events": (event(1, note=EventNote.INVOICE_REPLACED),)}, Anomaly.REPLACED),
        ({"phase": Phase.ABANDONED}, {"events": (event(1, Phase.ABANDONED),)}, Anomaly.NOT_AGREED),
        ({}, {"events": (event(1, Phase.NEEDS_CONFIRMATION),)}, Anomaly.PRICE_MOVED),
        ({}, {"events": (event(1, Phase.UNKNOWN),)}, Anomaly.UNKNOWN),
        ({"phase": Phase.REFUSED}, {}, Anomaly.REFUSED),
        (
            {},
            {
                "notifications": (
                    notification(1, OrderNotification.SENT, status=NotificationStatus.UNDELIVERABLE, failure=BLOCKED),
                )
            },
            Anomaly.NOT_SENT,
        ),
        ({}, {"user": replace(EMMA, blocked_at=NOW)}, Anomaly.BOT_BLOCKED),
        ({"number": ""}, {}, Anomaly.DELETED),
    ],
)
def test_what_is_unusual_is_said_once_at_the_head(
    changes: dict[str, Any], more: dict[str, Any], anomaly: Anomaly
) -> None:
    case = replace(a_case(an_open_order(**changes)), **more)
    assert case.anomalies == (anomaly,)
    for t in (EN, ID):
        assert case_screens.format_anomalies(t, case).split("\n")[1:] == [f"• {t(f'support.case.unusual.{anomaly}')}"]


def test_an_order_that_went_its_way_has_nothing_unusual() -> None:
    sent = an_open_order(state="COMPLETED", step=OrderStep.SENT, paid_at=NOW, phase=Phase.DONE)
    case = a_case(sent, events=(event(0, Phase.INTENDED, note=EventNote.INTENDED), event(1), event(2, state="IDLE")))
    assert case.anomalies == ()
    assert not says(shown(case).text, "support.case.unusual")


def test_neither_number_nor_holder_nor_what_the_service_said_of_them_stands_in_a_case() -> None:
    order = an_open_order(phase=Phase.REFUSED, refusal="no account 1234567890 of BUDI", holder="BUDI SANTOSO")
    seen = shown(a_case(order, events=tuple(every_event_of(order))))
    assert "1234567890" not in seen.text
    assert "BUDI" not in seen.text
    assert "BCA ••••7890" in seen.text


def test_the_language_to_write_in_is_the_one_that_the_user_reads() -> None:
    english, indonesian = name_of("en"), name_of("id")
    assert says(shown(a_case()).text, "support.case.person", user="1001", language=english)
    sari = replace(EMMA, language_code="ms", locale="id")
    assert says(shown(replace(a_case(), user=sari)).text, "support.case.person", user="1001", language=indonesian)
    in_indonesian = shown(a_case(), "id").text
    assert says(in_indonesian, "support.case.person", "id", language=name_of("en", "id"))


@pytest.mark.parametrize("locale", LOCALES)
def test_a_case_fits_one_message_whatever_the_order_has_been_through(locale: str) -> None:
    hostile = [("hostile", an_open_order(replace(an_open_order().method, name=name))) for name in HOSTILE_NAMES]
    for moment, order in some([*hostile, *orders_in_each_state()]):
        seen = shown(a_full_case(order), locale, before="B" * 500)
        assert seen.units <= TEXT_UNITS, moment
        assert seen.units > TEXT_UNITS - 200, f"{moment}: the room that there is must be used"
        assert not seen.text.endswith("…")


def test_the_oldest_routine_lines_are_left_out_first_and_never_the_unusual_ones() -> None:
    said = shown(a_full_case(an_open_order())).text
    assert says(said, "support.case.folded")
    assert says(said, "support.case.event.unknown")
    assert says(said, "support.case.event.invoice_replaced")
    *_, newest_but_one, newest = said.split("\n")
    assert newest_but_one.endswith(done_by_user("pressed.page"))
    assert newest.endswith(done_by_user("pressed.help"))


def test_where_even_the_unusual_is_too_much_the_newest_of_it_stays() -> None:
    storm = tuple(act(number, ("blocked", "came_back")[number % 2]) for number in range(2000))
    seen = shown(a_case(user_events=storm))
    assert TEXT_UNITS - 200 < seen.units <= TEXT_UNITS
    assert seen.text.endswith(done_by_user("came_back"))


def test_other_orders_and_tickets_of_the_user_are_named_and_more_of_them_are_not_hidden() -> None:
    others = tuple(an_open_order(reference=f"DEF234{number}") for number in range(6))
    mine = replace(Ticket.open(1001, NOW, order_reference="ABC2345"), reference="T-22222")
    claimed = replace(Ticket.open(1001, NOW, cause=Cause.STUCK), reference="T-33333", claimed_by=3001)
    case = a_case(others=others, tickets=(mine, claimed))
    said = case_screens.format_others(Reader(EN, JAKARTA, NOW), case, but="T-22222")
    assert "T-22222" not in said
    held = text("support.case.ticket.claimed", by="3001")
    assert text("support.case.ticket", reference="T-33333", status=held) in readable(said)
    assert said.count("DEF234") == case_screens.SHOWN
    assert said.endswith(EN("support.case.others_more"))
    assert case_screens.format_others(Reader(EN, JAKARTA, NOW), a_case()) == ""


def test_a_user_without_an_order_and_an_order_without_a_user_are_cases_too() -> None:
    alone = Case(user_id=1001, user=EMMA)
    assert shown(alone).text == text("support.case.person", user="1001", language=name_of("en"))
    forgotten = Case(user_id=0, user=None, order=an_open_order(number="", holder=None, user_id=0))
    assert says(shown(forgotten).text, "orders.payer.deleted")
    on_page = replace(forgotten, order=an_open_order(payer=payer_on_page("a secret")))
    assert says(shown(on_page).text, "orders.payer.page")
    from_link = replace(alone, order=an_open_order(origin="a link"))
    assert text("support.case.from_link") in shown(from_link).text
    assert text("support.case.from_link") not in shown(replace(alone, order=an_open_order())).text


@pytest.mark.parametrize("locale", LOCALES)
def test_everything_that_may_be_told_or_done_has_its_words(locale: str) -> None:
    t = TRANSLATIONS.get(locale)
    case = a_case(notifications=tuple(notification(0, kind, mark="3") for kind in case_screens.KNOWN_NOTIFICATIONS))
    assert len(case_screens.list_entries(t, case, JAKARTA)) == len(case_screens.KNOWN_NOTIFICATIONS)
    assert len({case_screens.format_user_event(t, what) for what in case_screens.KNOWN_USER_EVENTS}) == len(
        case_screens.KNOWN_USER_EVENTS
    )
    assert case_screens.format_user_event(t, "of a <later> version") == "of a &lt;later&gt; version"


def test_every_button_of_an_order_and_every_other_act_is_known() -> None:
    assert {*map(str, UserEvent), *map(press_event, OrderAction)} == case_screens.KNOWN_USER_EVENTS


def test_days_stand_over_their_lines_where_they_are_not_today() -> None:
    days = tuple(replace(act(0, "pressed.check"), at=NOW - timedelta(days=number)) for number in (400, 1, 0))
    case = a_case(
        user_events=tuple(replace(each, event=f"pressed.{name}") for each, name in zip(days, "abc", strict=True))
    )
    assert timeline_in(shown(case).text) == [
        "13 Jul 2025",
        line("10:05:00", text("support.case.did", what="pressed.a")),
        "16 Aug",
        line("10:05:00", text("support.case.did", what="pressed.b")),
        text("orders.timeline.today"),
        line("10:05:00", text("support.case.did", what="pressed.c")),
    ]


@pytest.mark.parametrize(
    ("days", "pieces", "is_said"),
    [(31, (), True), (31, (notification(0, OrderNotification.SENT),), False), (29, (), False)],
)
def test_where_it_is_not_kept_any_more_what_was_told_nobody_reads_that_nothing_was(
    days: int, pieces: tuple[StoredNotification, ...], *, is_said: bool
) -> None:
    case = a_case(an_open_order(created_at=NOW - timedelta(days=days)), events=(event(0),), notifications=pieces)
    assert says(shown(case).text, "support.case.news_forgotten", days=30) is is_said


def test_an_event_of_a_later_version_or_an_unknown_state_is_shown_as_it_is() -> None:
    case = a_case(events=(event(0, state="SOMETHING_NEW"), event(1, note="of a later version")))
    unknown = text("support.case.state", what="?", state="SOMETHING_NEW")
    assert line("09:35:00", f"⚠️ {unknown}") in timeline_in(shown(case).text)


def a_full_case(order: Order) -> Case:
    """Return a case with every event and notification, many times."""
    noted = tuple(
        replace(each, at=BEGAN + timedelta(seconds=number)) for number, each in enumerate(every_event_of(order))
    )
    pressed = ("pressed.check", "pressed.page")
    return a_case(
        order,
        events=noted,
        notifications=tuple(
            notification(100 + number, OrderNotification.EDIT_STATUS, mark=str(number)) for number in range(300)
        ),
        user_events=(*(act(500 + number, pressed[number % 2]) for number in range(300)), act(999, "pressed.help")),
        others=tuple(an_open_order(order.method, reference=f"DEF234{number}") for number in range(6)),
        tickets=tuple(Ticket.open(1001, NOW, order_reference=order.reference) for _ in range(6)),
    )
