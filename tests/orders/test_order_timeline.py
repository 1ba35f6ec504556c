"""The timeline says what happened to an order in plain words: each thing once, and when it was seen."""

from dataclasses import replace
from datetime import datetime, timedelta
from itertools import combinations
from typing import Any

import pytest

from bot.infra.telegram.ui.reader import Reader
from bot.infra.telegram.ui.screen import Screen
from bot.orders.order import EventNote, Order, OrderEvent, Phase, advance
from bot.orders.screens import order_page
from bot.settlement.model import STEP_OF_STATE, OrderStep
from tests.orders.builders import an_open_order
from tests.screens import JAKARTA, NOW, ScreenCase
from tests.settlement.builders import a_report
from tests.texts import TRANSLATIONS, text

EN, ID = TRANSLATIONS.get("en"), TRANSLATIONS.get("id")
BEGAN = NOW - timedelta(minutes=30)
CONFIRMED = OrderEvent(reference="ABC2345", at=BEGAN, phase=Phase.INTENDED, state="", note=EventNote.INTENDED)
WAY = tuple(STEP_OF_STATE)
FOR_SUPPORT = frozenset({EventNote.PAYMENT, EventNote.INVOICE_REPLACED})


def event(minutes: int, phase: Phase = Phase.OPEN, state: str = "", note: str = "") -> OrderEvent:
    return OrderEvent(reference="ABC2345", at=BEGAN + timedelta(minutes=minutes), phase=phase, state=state, note=note)


def lived(*states: str, **changes: Any) -> tuple[Order, list[OrderEvent]]:
    """An order that was seen in these states, a minute apart, with its events as they are written."""
    order, events = an_open_order(state="", **changes), [CONFIRMED, event(1)]
    for minute, state in enumerate(states, 2):
        at = BEGAN + timedelta(minutes=minute)
        report = a_report(service_id="cm1", state=state, paid_at=at if order.is_paid else None)
        order, _ = advance(order, report, at)
        events.append(replace(event(minute, order.phase, order.state)))
    return order, events


def told(order: Order, events: list[OrderEvent], now: datetime = NOW, locale: str = "en") -> list[str]:
    shown = order_page.format_timeline(Reader(TRANSLATIONS.get(locale), JAKARTA, now), order, events)
    return ScreenCase("timeline", Screen(shown)).text.split("\n")


def keys(order: Order, events: list[OrderEvent]) -> list[str]:
    """What is said, without the times."""
    found = [key for _, key in order_page.build_entries(order, events)]
    shown = told(order, events)
    assert all(any(text(key) in line for line in shown) for key in found)
    return found


def at(clock: str, key: str) -> str:
    return text("orders.timeline.line", at=f"{clock} WIB", what=text(key))


def test_a_whole_way_is_told_in_the_five_steps_with_the_time_of_each_in_the_users_zone() -> None:
    order, events = lived(*WAY)
    assert told(order, events) == [
        at("09:35", "orders.timeline.confirmed"),
        at("09:36", "orders.step.created"),
        at("09:41", "orders.step.paid"),
        at("09:42", "orders.step.converting"),
        at("09:45", "orders.step.sending"),
        at("09:48", "orders.step.sent"),
    ]
    assert told(order, events, locale="id")[-1] == text(
        "orders.timeline.line", "id", at="09.48 WIB", what=text("orders.step.sent", "id")
    )


@pytest.mark.parametrize("left_out", [1, 2, 3])
def test_whichever_states_are_skipped_no_line_comes_twice_or_out_of_its_time(left_out: int) -> None:
    whole = keys(*lived(*WAY))
    for skipped in combinations(WAY[:-1], left_out):
        order, events = lived(*(state for state in WAY if state not in skipped))
        happened = [at for at, _ in order_page.build_entries(order, events)]
        assert happened == sorted(happened)
        found = keys(order, events)
        assert len({text(key) for key in found}) == len(found)
        assert [line for line in whole if line in found] == found
        assert {"orders.step.paid", "orders.step.sent"} <= set(found)


def test_a_payment_after_the_expiry_is_told_as_late_and_only_once() -> None:
    expired = event(10, note=EventNote.EXPIRED)
    order = an_open_order(
        expiry_notified=True, paid_at=BEGAN + timedelta(minutes=12), state="LN_SWAP_PENDING", step=OrderStep.CONVERTING
    )
    later = [event(12, state="LN_INVOICE_PAID"), event(13, state="LN_SWAP_PENDING")]
    assert keys(order, [CONFIRMED, event(1), expired, *later]) == [
        "orders.timeline.confirmed",
        "orders.step.created",
        "orders.step.expired",
        "orders.timeline.paid_late",
        "orders.step.converting",
    ]


def test_every_note_and_every_phase_has_its_sentence() -> None:
    for note in set(EventNote) - {EventNote.INTENDED, *FOR_SUPPORT}:
        assert len(keys(an_open_order(), [CONFIRMED, event(1, note=note)])) == 2
    for phase in Phase:
        [*_, last] = keys(an_open_order(phase=phase), [CONFIRMED, event(1, phase)])
        assert last != "orders.timeline.confirmed" or phase is Phase.INTENDED
    assert keys(an_open_order(), [CONFIRMED, event(1, note="of a later version")]) == [
        "orders.timeline.confirmed",
        "orders.step.created",
    ]
