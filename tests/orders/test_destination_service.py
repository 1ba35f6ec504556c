"""How destinations do is read from the rows of orders, and alarms, reviews and wallet pages say the same of it."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from bot.checkout.steps.review import ReviewStep
from bot.infra.i18n import LOCALES
from bot.orders.destinations import screens
from bot.orders.destinations.screens import format_destination_health
from bot.settlement.model import PayoutMethod
from bot.staff.model import AlarmKind
from bot.staff.notifications import AlarmNotification
from tests.orders.destination_builders import keep, some_history
from tests.orders.known_destinations import (
    FAILING,
    SLOW,
    a_destination,
    every_destination,
    listed,
)
from tests.orders.order_system import OSCAR, OrderSystem
from tests.screens import JAKARTA, ScreenCase
from tests.screens import NOW as SHOWN_AT
from tests.settlement.builders import BCA, BRI, GOPAY, LISTED_BCA
from tests.texts import TRANSLATIONS, label, says, text

MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
EN = TRANSLATIONS.get("en")


class Reviewed:
    """The step of the review, with what it needs to say how long a transfer takes."""

    def __init__(self, system: OrderSystem) -> None:
        self._system = system

    async def says_of(self, method: PayoutMethod) -> str | None:
        step = ReviewStep(
            catalogue=self._system.catalogue,
            orders=self._system.orders,
            drafts=self._system.drafts,
            destinations=self._system.destinations,
            run_by="",
        )
        draft, session = await self._system.draft(method=method), _Reader(self._system)
        return await step._format_destination(session, draft)  # type: ignore[arg-type]  # what it uses of a session


class _Reader:
    def __init__(self, system: OrderSystem) -> None:
        self.t, self.now = EN, system.clock.now()


async def pass_a_minute(system: OrderSystem) -> list[str]:
    """Judge again, and return what operators have got."""
    system.clock.passes(seconds=61)
    await system.monitor.check()
    await system.deliver()
    return system.sender.kinds(OSCAR)


async def test_a_destination_made_slow_is_said_by_alarm_and_review_until_it_is_well(system: OrderSystem) -> None:
    now, review = system.clock.now(), Reviewed(system)
    for first, method in ((0, BCA), (200, BRI)):
        await keep(system.sql, *some_history(now, method=method, first=first))
    assert await pass_a_minute(system) == []
    usual = text("orders.destinations.usual", name="BCA", length="5 minutes")
    assert await review.says_of(BCA) == usual
    assert await review.says_of(GOPAY) is None
    orders = [await place_and_pay(system, chat_id, method) for chat_id in range(1001, 1006) for method in (BCA, BRI)]
    for order in orders:
        if order.method == BRI:
            await move(system, order.service_id, "COMPLETED")
    await pass_time(system, 13)
    assert await pass_a_minute(system) == []
    assert await review.says_of(BCA) == usual
    await pass_time(system, 27)
    assert await pass_a_minute(system) == [AlarmNotification.RAISED]
    (alarm,) = [each for each in await system.alarms.find_open() if each.kind is AlarmKind.DESTINATION_SLOW]
    assert (alarm.subject, alarm.facts["destination"]) == (BCA.key(), "BCA")
    assert (alarm.facts["hits"], alarm.facts["count"], alarm.facts["usual"]) == (5, 5, 5)
    assert alarm.facts["longer"] is True
    length = f"{alarm.facts['minutes']} minutes"
    assert await review.says_of(BCA) == text("orders.destinations.slow_longer", name="BCA", length=length)
    assert await review.says_of(BRI) == text("orders.destinations.usual", name="BRI", length="4 minutes")
    for order in orders:
        if order.method == BCA:
            await move(system, order.service_id, "COMPLETED")
    again = [await place_and_pay(system, chat_id, BCA) for chat_id in range(1011, 1014)]
    for order in again:
        await move(system, order.service_id, "COMPLETED")
    await pass_time(system, 15)
    assert await pass_a_minute(system) == [AlarmNotification.RAISED, AlarmNotification.CLEARED]
    assert await review.says_of(BCA) == usual


async def place_and_pay(system: OrderSystem, chat_id: int, method: PayoutMethod) -> Any:
    order = await system.place(chat_id, method=method, number=f"86{chat_id}0000")
    await move(system, order.service_id, "LN_INVOICE_PAID")
    return order


async def move(system: OrderSystem, service_id: str | None, state: str) -> None:
    """Move an order at the service, and let the bot see it."""
    assert service_id is not None
    system.service.becomes(service_id, state)
    await system.poll(after=2)


async def pass_time(system: OrderSystem, minutes: int) -> None:
    """Let minutes pass in which orders are polled."""
    for _ in range(minutes):
        await system.poll(after=60)


@pytest.mark.parametrize("locale", LOCALES)
def test_a_sender_is_told_what_matters_most(locale: str) -> None:
    t, known = TRANSLATIONS.get(locale), a_destination(LISTED_BCA)

    def told(health: Any) -> str | None:
        return format_destination_health(t, health, SHOWN_AT, t)

    four, forty = t.within(4 * MINUTE), t.within(40 * MINUTE)
    assert told(known) == text("orders.destinations.usual", locale, name="BCA", length=four)
    assert told(replace(known, slow=SLOW)) == text("orders.destinations.slow", locale, name="BCA", length=forty)
    longer = replace(known, slow=replace(SLOW, is_longer=True, length=40 * MINUTE + timedelta(seconds=59)))
    assert told(longer) == text("orders.destinations.slow_longer", locale, name="BCA", length=forty)
    assert told(replace(known, slow=SLOW, failing=FAILING)) == text("orders.destinations.failing", locale, name="BCA")
    few = replace(known, usual=replace(known.usual, sent=18))
    assert told(few) is None
    assert told(replace(known, usual=replace(known.usual, times=None))) is None


def test_the_list_has_figures_with_their_errors_and_what_is_wrong() -> None:
    shown = ScreenCase("", screens.show_destinations(EN, listed(*every_destination(LISTED_BCA) * 2), 1, JAKARTA))
    assert "4 (3 to 5) min" in shown.text
    assert says(shown.text, "orders.destinations.entry_slow", hits=8, count=10)
    assert [button.label for button in shown.buttons] == [
        label("orders.destinations.previous"),
        label("orders.button.refresh"),
    ]


async def test_a_destination_that_fails_is_said_by_alarm_and_review(system: OrderSystem) -> None:
    now, review = system.clock.now(), Reviewed(system)
    for first, method in ((0, BCA), (200, BRI)):
        await keep(system.sql, *some_history(now, method=method, first=first))
    for chat_id in range(1001, 1007):
        order = await place_and_pay(system, chat_id, BCA)
        await move(system, order.service_id, "FAILED")
    await pass_time(system, 5)
    kinds = await pass_a_minute(system)
    assert [each.kind for each in await system.alarms.find_open() if not each.kind.startswith("order_")] == [
        AlarmKind.DESTINATION_FAILING
    ]
    assert AlarmNotification.RAISED in kinds
    assert await review.says_of(BCA) == text("orders.destinations.failing", name="BCA")
    assert await review.says_of(BRI) == text("orders.destinations.usual", name="BRI", length="5 minutes")
