"""News of the rate: the buttons by which people ask for a daily quote, choose quiet hours, and stop it all."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from bot.core.time_of_day import MINUTES, read_span, read_time
from bot.infra.telegram.ui import questions
from bot.infra.telegram.ui.router import Routes
from bot.infra.telegram.ui.session import Session
from bot.rates import alert_handlers as alerting
from bot.rates.buttons import SubscriptionAction, SubscriptionButton
from bot.rates.screens import subscription

HOUR: Final = "daily_hour"
HUSH: Final = "quiet_hours"
POSTED: Final = frozenset({SubscriptionAction.OPEN, SubscriptionAction.END})
"""What leaves the message it was pressed under as it is."""


routes = Routes[Session]()


@routes.button(SubscriptionButton)
async def subscription_button(visit: Session, button: SubscriptionButton) -> None:
    """Do what a button of rate updates says."""
    # Pictures have no text that could become another screen's.
    if button.action in POSTED or not visit.has_text:
        visit.message_id = None
    taps, now, pressed = visit.desk.second_taps, visit.desk.clock.now(), button.pack()
    if visit.message_id is None and taps.is_second(visit.chat_id, pressed, now):
        await visit.acknowledge()
        return
    if not await ACTIONS[button.action](visit, button.argument):
        await visit.explain("stale.button")
    taps.answered(visit.chat_id, pressed, now)


async def hour_typed(visit: Session, _: str, text: str) -> None:
    """The time of the daily quote as it was typed, or the question again."""
    minute = read_time(text)
    if minute is None:
        visit.notice = visit.t("subscription.time_unreadable")
        await _ask_hour(visit)
        return
    await visit.desk.subscribing.daily(questions.answered(visit), minute)
    await _show_daily(visit)


async def hush_typed(visit: Session, _: str, text: str) -> None:
    """The quiet hours as they were typed, or the question again."""
    hours = read_span(text)
    if hours is None:
        visit.notice = visit.t("subscription.span_unreadable")
        await _ask_hush(visit)
        return
    await visit.desk.subscribing.quiet(questions.answered(visit), hours)
    await _show(visit)


async def _show(visit: Session, _: str = "") -> bool:
    await visit.acknowledge()
    await alerting.overview(visit)
    return True


async def _ask_hour(visit: Session, _: str = "") -> bool:
    await visit.acknowledge()
    wishes = await visit.desk.subscribing.wishes(visit.person.id)
    shown = subscription.daily(visit.t, wishes, visit.desk.clock.now(), visit.zone)
    await questions.ask(visit, HOUR, visit.with_resume(shown))
    return True


async def _take_hour(visit: Session, argument: str) -> bool:
    minute = None if argument == subscription.NONE else _minute(argument)
    if minute is None and argument != subscription.NONE:
        return False
    await visit.desk.subscribing.daily(visit.person, minute)
    if minute is None:
        return await _show(visit)
    await visit.acknowledge()
    await _show_daily(visit)
    return True


async def _show_daily(visit: Session) -> None:
    visit.notice = visit.t("subscription.daily_set")
    await alerting.overview(visit)


async def _ask_hush(visit: Session, _: str = "") -> bool:
    await visit.acknowledge()
    shown = subscription.quiet(visit.t, await visit.desk.subscribing.wishes(visit.person.id))
    await questions.ask(visit, HUSH, visit.with_resume(shown))
    return True


async def _take_hush(visit: Session, argument: str) -> bool:
    hours = tuple(minute for part in argument.split("-") if (minute := _minute(part)) is not None)
    match hours:
        case (start, end) if start != end:
            await visit.desk.subscribing.quiet(visit.person, (start, end))
        case () if argument == subscription.NONE:
            await visit.desk.subscribing.quiet(visit.person, None)
        case _:
            return False
    return await _show(visit)


async def _stop(visit: Session, _: str) -> bool:
    """Everything, in one tap. Whoever had nothing on learns that it is off, too."""
    await visit.desk.subscribing.stop(visit.person.id)
    await visit.acknowledge(visit.t.plain("subscription.stopped_short"))
    visit.notice = visit.t("subscription.stopped")
    await alerting.overview(visit)
    return True


def _minute(text: str) -> int | None:
    """A minute of the day in a button's data; None for what no button of ours could have."""
    minute = int(text) if text.isdecimal() and len(text) < len(str(MINUTES)) + 1 else MINUTES
    return minute if minute < MINUTES else None


ACTIONS: Mapping[SubscriptionAction, Callable[[Session, str], Awaitable[bool]]] = {
    SubscriptionAction.SHOW: _show,
    SubscriptionAction.OPEN: _show,
    SubscriptionAction.DAILY: _ask_hour,
    SubscriptionAction.TIME: _take_hour,
    SubscriptionAction.QUIET: _ask_hush,
    SubscriptionAction.HUSH: _take_hush,
    SubscriptionAction.STOP: _stop,
    SubscriptionAction.END: _stop,
    SubscriptionAction.ALERT: alerting.ask,
    SubscriptionAction.AT: alerting.chosen,
    SubscriptionAction.SET: alerting.set_alert,
    SubscriptionAction.DROP: alerting.drop,
}
"""What a button does; whether there was such a thing."""
