"""News of the rate: the buttons by which people ask for a daily quote, choose quiet hours, and stop it all."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from telegram import Update
from telegram.ext import ApplicationHandlerStop, CallbackQueryHandler

from bot.core.time_of_day import MINUTES, read_span, read_time
from bot.infra.telegram.ui import callback_data as data
from bot.infra.telegram.ui import questions
from bot.infra.telegram.ui.handling import Context, Handler
from bot.infra.telegram.ui.session import SESSION, Session
from bot.rates import alert_handlers as alerting
from bot.rates.screens import subscription

HOUR: Final = "daily_hour"
HUSH: Final = "quiet_hours"
POSTED: Final = frozenset({"open", "end"})
"""What leaves the message it was pressed under as it is."""


def handlers() -> list[Handler]:
    """The buttons."""
    return [CallbackQueryHandler(_pressed, pattern=data.SUBSCRIPTION_PATTERN)]


async def _pressed(update: Update, _: Context) -> None:
    visit, query = SESSION.get(), update.callback_query
    pressed = (query.data or "") if query else ""
    action, argument = data.read_subscription_press(pressed)
    message = query.message if query else None
    # Pictures have no text that could become another screen's.
    if action in POSTED or not getattr(message, "text", None):
        visit.message_id = None
    taps, now = visit.desk.second_taps, visit.desk.clock.now()
    if visit.message_id is None and taps.is_second(visit.chat_id, pressed, now):
        await visit.acknowledge()
        raise ApplicationHandlerStop
    handle = ACTIONS.get(action)
    if handle is None or not await handle(visit, argument):
        await visit.explain("stale.button")
    taps.answered(visit.chat_id, pressed, now)
    raise ApplicationHandlerStop


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


ACTIONS: Mapping[str, Callable[[Session, str], Awaitable[bool]]] = {
    "show": _show,
    "open": _show,
    "daily": _ask_hour,
    "time": _take_hour,
    "quiet": _ask_hush,
    "hush": _take_hush,
    "stop": _stop,
    "end": _stop,
    "alert": alerting.ask,
    "at": alerting.chosen,
    "set": alerting.set_alert,
    "drop": alerting.drop,
}
"""What a button does; whether there was such a thing."""
