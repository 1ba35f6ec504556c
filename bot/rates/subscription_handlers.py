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
async def subscription_button(session: Session, button: SubscriptionButton) -> None:
    """Do what a button of rate updates says."""
    # Pictures have no text that could become another screen's.
    if button.action in POSTED or not session.has_text:
        session.message_id = None
    taps, now, pressed = session.desk.second_taps, session.desk.clock.now(), button.pack()
    if session.message_id is None and taps.is_second(session.chat_id, pressed, now):
        await session.acknowledge()
        return
    if not await ACTIONS[button.action](session, button.argument):
        await session.explain("stale.button")
    taps.answered(session.chat_id, pressed, now)


async def hour_typed(session: Session, _: str, text: str) -> None:
    """The time of the daily quote as it was typed, or the question again."""
    minute = read_time(text)
    if minute is None:
        session.notice = session.t("subscription.time_unreadable")
        await _ask_hour(session)
        return
    await session.desk.subscribing.daily(questions.answered(session), minute)
    await _show_daily(session)


async def hush_typed(session: Session, _: str, text: str) -> None:
    """The quiet hours as they were typed, or the question again."""
    hours = read_span(text)
    if hours is None:
        session.notice = session.t("subscription.span_unreadable")
        await _ask_hush(session)
        return
    await session.desk.subscribing.quiet(questions.answered(session), hours)
    await _show(session)


async def _show(session: Session, _: str = "") -> bool:
    await session.acknowledge()
    await alerting.overview(session)
    return True


async def _ask_hour(session: Session, _: str = "") -> bool:
    await session.acknowledge()
    wishes = await session.desk.subscribing.wishes(session.person.id)
    shown = subscription.daily(session.t, wishes, session.desk.clock.now(), session.zone)
    await questions.ask(session, HOUR, session.with_resume(shown))
    return True


async def _take_hour(session: Session, argument: str) -> bool:
    minute = None if argument == subscription.NONE else _minute(argument)
    if minute is None and argument != subscription.NONE:
        return False
    await session.desk.subscribing.daily(session.person, minute)
    if minute is None:
        return await _show(session)
    await session.acknowledge()
    await _show_daily(session)
    return True


async def _show_daily(session: Session) -> None:
    session.notice = session.t("subscription.daily_set")
    await alerting.overview(session)


async def _ask_hush(session: Session, _: str = "") -> bool:
    await session.acknowledge()
    shown = subscription.quiet(session.t, await session.desk.subscribing.wishes(session.person.id))
    await questions.ask(session, HUSH, session.with_resume(shown))
    return True


async def _take_hush(session: Session, argument: str) -> bool:
    hours = tuple(minute for part in argument.split("-") if (minute := _minute(part)) is not None)
    match hours:
        case (start, end) if start != end:
            await session.desk.subscribing.quiet(session.person, (start, end))
        case () if argument == subscription.NONE:
            await session.desk.subscribing.quiet(session.person, None)
        case _:
            return False
    return await _show(session)


async def _stop(session: Session, _: str) -> bool:
    """Everything, in one tap. Whoever had nothing on learns that it is off, too."""
    await session.desk.subscribing.stop(session.person.id)
    await session.acknowledge(session.t.plain("subscription.stopped_short"))
    session.notice = session.t("subscription.stopped")
    await alerting.overview(session)
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
