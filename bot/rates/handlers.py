"""Handle `/rate` with its chart, and rate updates: the daily quote, price alerts and quiet hours."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from decimal import Decimal
from typing import Final

from bot.core.errors import Rejection
from bot.core.money import Amount
from bot.core.time_of_day import MINUTES, read_span, read_time
from bot.infra.db.database import Database
from bot.infra.telegram.ui.routes import Menu, Routes
from bot.infra.telegram.ui.screen import Screen
from bot.rates import screens
from bot.rates.buttons import RateButton, SubscriptionAction, SubscriptionButton
from bot.rates.charts import Charts
from bot.rates.model import COOLDOWN_HOURS, DURATION_DAYS, AlertRequest, ChartPeriod, is_sensible, read_threshold
from bot.rates.repository import QuoteRepository
from bot.rates.service import SubscriptionService
from bot.settlement.catalogue import ServiceCatalogue
from bot.settlement.errors import SettlementFailure
from bot.settlement.model import Quote
from bot.users import questions
from bot.users.session import Session


class RateHandlers:
    """Show the rate and its chart."""

    def __init__(self, *, catalogue: ServiceCatalogue, charts: Charts, subscriptions: SubscriptionService) -> None:
        self._charts = charts
        self._catalogue = catalogue
        self._subscriptions = subscriptions

    def routes(self) -> Routes[Session]:
        """Return the command and the buttons."""
        routes = Routes[Session]()
        routes.add_command("rate", self.show_rate, menu={Menu.EVERYONE: 30, Menu.OPERATORS: 70})
        routes.add_button(RateButton, self.rate_button)
        return routes

    async def show_rate(self, session: Session, _: str) -> None:
        """Show the rate with the chart of the last day."""
        await session.show_below(session.with_resume(await self.make_rate(session)))

    async def make_rate(self, session: Session, amounts: Sequence[Amount] = ()) -> Screen:
        """Return the rate with the chart of the last day. With `amounts`, their prices take the chart's place."""
        quote = await self._quote()
        if quote is None:
            return screens.explain_no_rate(session.t, subscribed=await self._subscribed(session))
        if amounts and not quote.is_stale(session.now):
            return screens.show_prices(session.t, quote, session.zone, amounts)
        return await self._screen(session, ChartPeriod.DAY, quote)

    async def rate_button(self, session: Session, button: RateButton) -> None:
        """Show another period in the same message. Without a current rate the picture isn't changed."""
        quote = await self._quote()
        if quote is None or quote.is_stale(session.now):
            await session.acknowledge(session.t.plain("rates.none"), alert=True)
        else:
            await session.acknowledge()
            await session.show(session.with_resume(await self._screen(session, button.period, quote)))

    async def _quote(self) -> Quote | None:
        """Return the cached quote, or None."""
        try:
            return await self._catalogue.quote()
        except SettlementFailure:
            return None

    async def _screen(self, session: Session, period: ChartPeriod, quote: Quote) -> Screen:
        subscribed = await self._subscribed(session)
        if quote.is_stale(session.now):
            return screens.explain_stale_rate(session.t, quote, session.zone, subscribed=subscribed)
        chart = await self._charts.of(session.t, period, quote, session.zone)
        return screens.show_rate(session.t, quote, session.zone, chart, subscribed=subscribed)

    async def _subscribed(self, session: Session) -> bool:
        """Return whether the user gets any rate updates."""
        return not (await self._subscriptions.get_updates(session.user.id)).is_empty


DAILY_TIME: Final = "daily_hour"
QUIET_HOURS: Final = "quiet_hours"
ALERT_PRICE: Final = "alert_price"
NEW_MESSAGE_ACTIONS: Final = frozenset({SubscriptionAction.OPEN, SubscriptionAction.END})
"""The actions that answer with a new message."""

_ALERT_PARTS: Final = 4
_MAX_DIGITS: Final = 15

_Action = Callable[[Session, str], Awaitable[bool]]
"""Returns False for an argument that it can't read."""


class SubscriptionHandlers:
    """Let users set up rate updates, and end them."""

    def __init__(self, *, database: Database, catalogue: ServiceCatalogue, subscriptions: SubscriptionService) -> None:
        self._database = database
        self._catalogue = catalogue
        self._subscriptions = subscriptions

    def routes(self) -> Routes[Session]:
        """Return the buttons."""
        routes = Routes[Session]()
        actions: Mapping[SubscriptionAction, _Action] = {
            SubscriptionAction.SHOW: self._show,
            SubscriptionAction.OPEN: self._show,
            SubscriptionAction.ASK_DAILY: self._ask_daily_time,
            SubscriptionAction.SET_DAILY: self._set_daily_time,
            SubscriptionAction.ASK_QUIET: self._ask_quiet_hours,
            SubscriptionAction.SET_QUIET: self._set_quiet_hours,
            SubscriptionAction.STOP: self._end,
            SubscriptionAction.END: self._end,
            SubscriptionAction.ASK_PRICE: self._ask_price,
            SubscriptionAction.SET_PRICE: self._set_price,
            SubscriptionAction.SET_ALERT: self._set_alert,
            SubscriptionAction.DELETE_ALERT: self._delete_alert,
        }
        routes.add_actions(SubscriptionButton, self.subscription_button, actions)
        return routes

    def answers(self) -> Mapping[str, questions.AnswerHandler]:
        """Return the handler of the typed answer to each question."""
        return {
            DAILY_TIME: questions.accept_text(self.daily_time_typed),
            QUIET_HOURS: questions.accept_text(self.quiet_hours_typed),
            ALERT_PRICE: questions.accept_text(self.price_typed),
        }

    async def subscription_button(self, session: Session, button: SubscriptionButton, act: _Action) -> None:
        """Do the action of a button of rate updates."""
        # A picture has no text to replace.
        if button.action in NEW_MESSAGE_ACTIONS or not session.has_text:
            session.message_id = None
        pressed = button.pack()
        if session.message_id is None and session.is_double_tap(pressed):
            await session.acknowledge()
            return
        if not await act(session, button.argument):
            await session.explain("users.stale.button")
        session.record_tap(pressed)

    async def daily_time_typed(self, session: Session, _: str, text: str) -> None:
        """Set the typed time of the daily quote. Ask again if it can't be read."""
        minute = read_time(text)
        if minute is None:
            session.notice = session.t("rates.subscription.time_unreadable")
            await self._ask_daily_time(session)
            return
        await self._subscriptions.set_daily_time(questions.mark_answered(session), minute)
        await self._show_daily_set(session)

    async def quiet_hours_typed(self, session: Session, _: str, text: str) -> None:
        """Set the typed quiet hours. Ask again if they can't be read."""
        hours = read_span(text)
        if hours is None:
            session.notice = session.t("rates.subscription.span_unreadable")
            await self._ask_quiet_hours(session)
            return
        await self._subscriptions.set_quiet_hours(questions.mark_answered(session), hours)
        await self._show(session)

    async def price_typed(self, session: Session, _: str, text: str) -> None:
        """Show the options for a typed price or change in percent. The question stays open until the alert is set."""
        quote = await self._quote()
        if quote is None:
            await session.show(session.with_resume(screens.explain_no_alert(session.t)))
            return
        try:
            threshold = read_threshold(text, quote.btc_idr)
        except Rejection as rejection:
            session.notice = session.format_rejection(rejection)
            await session.ask(session.with_resume(screens.ask_price(session.t, quote, session.zone)))
            return
        await session.ask(screens.ask_frequency(session.t, threshold, quote))

    async def _show(self, session: Session, _: str = "") -> bool:
        await session.acknowledge()
        await self._show_overview(session)
        return True

    async def _show_daily_set(self, session: Session) -> None:
        session.notice = session.t("rates.subscription.daily_set")
        await self._show_overview(session)

    async def _show_overview(self, session: Session) -> None:
        updates = await self._subscriptions.get_updates(session.user.id)
        await session.show(session.with_resume(screens.show_updates(session.reader, updates)))

    async def _ask_daily_time(self, session: Session, _: str = "") -> bool:
        await session.acknowledge()
        updates = await self._subscriptions.get_updates(session.user.id)
        shown = screens.ask_daily_time(session.reader, updates)
        await questions.ask(session, DAILY_TIME, session.with_resume(shown))
        return True

    async def _set_daily_time(self, session: Session, argument: str) -> bool:
        minute = None if argument == screens.NO_VALUE else _parse_minute(argument)
        if minute is None and argument != screens.NO_VALUE:
            return False
        await self._subscriptions.set_daily_time(session.user, minute)
        if minute is None:
            return await self._show(session)
        await session.acknowledge()
        await self._show_daily_set(session)
        return True

    async def _ask_quiet_hours(self, session: Session, _: str = "") -> bool:
        await session.acknowledge()
        shown = screens.ask_quiet_hours(session.t, await self._subscriptions.get_updates(session.user.id))
        await questions.ask(session, QUIET_HOURS, session.with_resume(shown))
        return True

    async def _set_quiet_hours(self, session: Session, argument: str) -> bool:
        hours = tuple(minute for part in argument.split("-") if (minute := _parse_minute(part)) is not None)
        match hours:
            case (start, end) if start != end:
                await self._subscriptions.set_quiet_hours(session.user, (start, end))
            case () if argument == screens.NO_VALUE:
                await self._subscriptions.set_quiet_hours(session.user, None)
            case _:
                return False
        return await self._show(session)

    async def _ask_price(self, session: Session, _: str = "") -> bool:
        await session.acknowledge()
        quote = await self._quote()
        if quote is None:
            await session.show(session.with_resume(screens.explain_no_alert(session.t)))
            return True
        shown = screens.ask_price(session.t, quote, session.zone)
        await questions.ask(session, ALERT_PRICE, session.with_resume(shown))
        return True

    async def _set_price(self, session: Session, argument: str) -> bool:
        """Show the options for an alert at the price of a button."""
        quote = await self._quote()
        if quote is None:
            return await self._ask_price(session)
        threshold = _parse_price(argument)
        if threshold is None or not is_sensible(threshold, quote.btc_idr) or threshold == quote.btc_idr:
            return False
        await session.acknowledge()
        await session.ask(screens.ask_frequency(session.t, threshold, quote))
        return True

    async def _set_alert(self, session: Session, argument: str) -> bool:
        """Set the alert of a button. A second tap doesn't set another."""
        request = _parse_alert(argument)
        if request is None:
            return False
        await session.acknowledge()
        if await self._subscriptions.set_alert(session.user, request):
            condition = screens.format_condition(session.t, request.threshold, is_above=request.is_above)
            session.notice = session.t("rates.subscription.alert_set", condition=condition)
        else:
            session.notice = session.t("rates.subscription.too_many")
        await self._show_overview(session)
        return True

    async def _delete_alert(self, session: Session, alert_id: str) -> bool:
        """Delete an alert. If it no longer exists, the answer is the same."""
        await self._subscriptions.delete_alert(session.user.id, alert_id)
        await session.acknowledge(session.t.plain("rates.subscription.alert_dropped"))
        await self._show_overview(session)
        return True

    async def _end(self, session: Session, _: str) -> bool:
        """End all rate updates. The answer is the same for a user who had none."""
        await self._subscriptions.end(session.user.id)
        await session.acknowledge(session.t.plain("rates.subscription.stopped_short"))
        session.notice = session.t("rates.subscription.stopped")
        await self._show_overview(session)
        return True

    async def _quote(self) -> Quote | None:
        """Return the current quote, or the last recorded one if the service is down."""
        try:
            return await self._catalogue.quote()
        except SettlementFailure:
            async with self._database.reading() as tx:
                return await QuoteRepository(tx).get_latest()


def _parse_minute(text: str) -> int | None:
    """Return a minute of the day from a button's data, or None if the data is forged."""
    minute = int(text) if text.isdecimal() and len(text) < len(str(MINUTES)) + 1 else MINUTES
    return minute if minute < MINUTES else None


def _parse_alert(argument: str) -> AlertRequest | None:
    """Return the alert from a button's data, or None if the data is forged."""
    parts = argument.split(":")
    if len(parts) != _ALERT_PARTS or parts[0] not in {screens.ABOVE, screens.BELOW}:
        return None
    threshold, often, days = _parse_price(parts[1]), parts[2], parts[3]
    ways = {screens.ONCE: None} | {str(hours): hours for hours in COOLDOWN_HOURS}
    if threshold is None or often not in ways or days not in map(str, DURATION_DAYS):
        return None
    is_above = parts[0] == screens.ABOVE
    return AlertRequest(is_above=is_above, threshold=threshold, cooldown_hours=ways[often], days=int(days))


def _parse_price(text: str) -> Decimal | None:
    return Decimal(text) if text.isdecimal() and text.isascii() and len(text) <= _MAX_DIGITS else None
