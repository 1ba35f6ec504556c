"""Rate updates: set by buttons and by typing, sent at their hour and at their price, and ended in one tap."""

import asyncio
import re
from datetime import timedelta

import pytest

from tests.e2e.bot_database import change_rows
from tests.e2e.chat_user import ChatUser, text_of
from tests.e2e.local_times import hour_far_from_now, now_in_jakarta
from tests.e2e.new_users import new_user
from tests.e2e.rates.rate_updates import (
    DAILY,
    condition,
    daily_at,
    daily_falls_due,
    opens,
    price_comes,
    takes_a_daily_quote,
    updates_of,
)
from tests.e2e.system import System
from tests.texts import label, like, text
from tests.waiting import found

pytestmark = pytest.mark.asyncio(loop_scope="session")


NOON = 12
RATE = "|".join(
    like(f"rates.subscription.{key}", rate=re.compile(r"Rp[\d,.]+")) for key in ("daily_rate", "daily_rate_moved")
)


async def test_people_hear_of_the_rate_as_they_wish(shared_system: System) -> None:
    await asyncio.gather(
        daily_by_a_tap_and_by_words(shared_system),
        alert_set_only_oncehowever_often_tapped_and_rung(shared_system),
        stopped_in_one_tap_from_the_notification_itself(shared_system),
        unsubscribed_by_blocking(shared_system),
    )


async def daily_by_a_tap_and_by_words(shared_system: System) -> None:
    emma = await new_user(shared_system)
    await opens(emma)
    await emma.sees(like("rates.subscription.off"), anywhere=True)
    await emma.taps(label("rates.subscription.daily"))
    await emma.sees(like("rates.subscription.ask_daily"))
    await emma.says("tomorrow")
    await emma.sees(f"{like('rates.subscription.time_unreadable')}\n\n{like('rates.subscription.ask_daily')}")
    typed = hour_far_from_now(19, 7)
    await emma.says(f"7 {'pm' if typed > NOON else 'am'}")
    await emma.sees(daily_at(f"{typed:02}:00 WIB"))
    time_of_day = await takes_a_daily_quote(emma)
    await emma.taps(label("rates.subscription.quiet"))
    await emma.sees(like("rates.subscription.ask_quiet"))
    start, end = ((now_in_jakarta() + timedelta(hours=hours)).hour for hours in (-1, 3))
    await emma.says(f"{start}:00-{end}:00")
    await emma.sees(like("rates.subscription.text", quiet=re.compile(f"{start:02}:00–{end:02}:00.*")))  # noqa: RUF001  a dash
    await daily_falls_due(shared_system, emma)
    told = await emma.sees(DAILY)
    assert re.search(RATE, text_of(told))
    assert "Rp1,000,000 ≈" in text_of(told)
    assert told["sandbox"]["silent"]
    assert await emma.count(DAILY) == 1
    await emma.taps(label("rates.subscription.mine"), message=told)
    await emma.sees(daily_at(time_of_day))
    assert await emma.count(DAILY) == 1
    await emma.taps(label("rates.subscription.daily"))
    await emma.taps(label("rates.subscription.no_daily"))
    await emma.sees(like("rates.subscription.text", daily=text("rates.subscription.none")))


async def alert_set_only_oncehowever_often_tapped_and_rung(shared_system: System) -> None:
    sari = await new_user(shared_system, "id")
    only_once, every = label("rates.subscription.once", "id"), label("rates.subscription.again", "id", hours="6")
    await opens(sari, "id")
    await sari.taps(label("rates.subscription.alert", "id"))
    await sari.sees(like("rates.subscription.ask_alert", "id"))
    await sari.says("dua sapi")
    await sari.sees(
        f"{like('rates.subscription.alert_unreadable', 'id')}\n\n{like('rates.subscription.ask_alert', 'id')}"
    )
    await sari.says("+40%")
    shown = await sari.sees(like("rates.subscription.ask_how_often", "id", condition=condition("above", "id")))
    _, once = await sari.button(label("rates.subscription.for_days", "id", how=only_once, days="30"))
    await asyncio.gather(*(sari.presses(shown, once, force=True) for _ in range(2)))
    await sari.sees(
        "• " + like("rates.subscription.alert_line", "id", price=re.compile(r"▲ Rp[\d.]+"), how=only_once),
        anywhere=True,
    )
    await sari.taps(label("rates.subscription.alert", "id"))
    await sari.taps("−2%")  # noqa: RUF001  a minus
    await sari.sees(like("rates.subscription.ask_how_often", "id", condition=condition("below", "id")))
    await sari.taps(label("rates.subscription.for_days", "id", how=every, days="90"))
    await sari.sees("• " + like("rates.subscription.alert_line", "id", price=re.compile(r"▼ Rp[\d.]+"), how=every))
    assert updates_of(shared_system, sari) == (1, 2)
    await price_comes(shared_system, sari)
    above = like("rates.subscription.rings", "id", condition=condition("above", "id"))
    rung = await sari.sees(f"{above}(.|\n)*{like('rates.subscription.rang_once', 'id')}")
    await change_rows(shared_system, "DELETE FROM quotes WHERE source = 'test'", ())
    assert updates_of(shared_system, sari) == (1, 1)
    await sari.taps(label("rates.subscription.mine", "id"), message=rung)
    await sari.sees(like("rates.subscription.text", "id"))
    await sari.taps("🗑")
    await sari.sees(like("rates.subscription.text", "id", alerts=text("rates.subscription.none", "id")))
    assert updates_of(shared_system, sari) == (1, 0)


async def stopped_in_one_tap_from_the_notification_itself(shared_system: System) -> None:
    emma = await new_user(shared_system)
    await opens(emma)
    await takes_a_daily_quote(emma)
    await daily_falls_due(shared_system, emma)
    told = await emma.sees(DAILY)
    _, end = await emma.button(label("rates.subscription.stop"))
    for _ in range(2):
        await emma.presses(told, end, force=True)
    await emma.sees(like("rates.subscription.stopped"), anywhere=True)
    assert await emma.count(like("rates.subscription.stopped")) == 1
    assert await emma.count(DAILY) == 1
    assert updates_of(shared_system, emma) == (0, 0)


async def unsubscribed_by_blocking(shared_system: System) -> None:
    emma = await new_user(shared_system)
    await opens(emma)
    await takes_a_daily_quote(emma)
    await emma.blocks()
    await _until_gone(shared_system, emma)
    await emma.blocks(blocked=False)


async def _until_gone(shared_system: System, user: ChatUser) -> None:
    async def wishes() -> tuple[int, int]:
        return updates_of(shared_system, user)

    await found(wishes, lambda left: left == (0, 0), what="the end of all that they wished")
