"""Rate updates: the daily quote, price alerts and quiet hours, by buttons and by typed answers."""

from collections.abc import Awaitable, Callable, Mapping
from decimal import Decimal
from typing import ClassVar, Final

from bot.core.errors import Rejection
from bot.core.time_of_day import MINUTES, read_span, read_time
from bot.infra.db.database import Database
from bot.infra.telegram.ui import questions
from bot.infra.telegram.ui.router import Routes
from bot.infra.telegram.ui.session import Session
from bot.rates.alerts import COOL_DOWNS, DAYS, is_sensible, read_threshold
from bot.rates.buttons import SubscriptionAction, SubscriptionButton
from bot.rates.repository import QuoteRepository
from bot.rates.screens import alert as rate_alert
from bot.rates.screens import subscription
from bot.rates.subscriptions import AlertWish, Subscribing
from bot.settlement.catalogue import Market
from bot.settlement.model import Quote, SettlementFailure

HOUR: Final = "daily_hour"
HUSH: Final = "quiet_hours"
PRICE: Final = "alert_price"
POSTED: Final = frozenset({SubscriptionAction.OPEN, SubscriptionAction.END})
"""What leaves the message it was pressed under as it is."""

_PARTS_OF_A_WISH: Final = 4
_MOST_DIGITS: Final = 15


_Action = Callable[["SubscriptionHandlers", Session, str], Awaitable[bool]]


class SubscriptionHandlers:
    """Let users subscribe to the rate, and stop it all."""

    def __init__(self, *, database: Database, market: Market, subscribing: Subscribing) -> None:
        self._database = database
        self._market = market
        self._subscribing = subscribing

    def routes(self) -> Routes[Session]:
        """Return the buttons."""
        routes = Routes[Session]()
        routes.add_button(SubscriptionButton, self.subscription_button)
        return routes

    def answers(self) -> Mapping[str, questions.Answer]:
        """Return who takes the typed answer to which question."""
        return {HOUR: self.hour_typed, HUSH: self.hush_typed, PRICE: self.price_typed}

    async def subscription_button(self, session: Session, button: SubscriptionButton) -> None:
        """Do what a button of rate updates says."""
        # Pictures have no text that could become another screen's.
        if button.action in POSTED or not session.has_text:
            session.message_id = None
        pressed = button.pack()
        if session.message_id is None and session.is_double_tap(pressed):
            await session.acknowledge()
            return
        if not await self.ACTIONS[button.action](self, session, button.argument):
            await session.explain("stale.button")
        session.record_tap(pressed)

    async def hour_typed(self, session: Session, _: str, text: str) -> None:
        """The time of the daily quote as it was typed, or the question again."""
        minute = read_time(text)
        if minute is None:
            session.notice = session.t("subscription.time_unreadable")
            await self._ask_hour(session)
            return
        await self._subscribing.daily(questions.answered(session), minute)
        await self._show_daily(session)

    async def hush_typed(self, session: Session, _: str, text: str) -> None:
        """The quiet hours as they were typed, or the question again."""
        hours = read_span(text)
        if hours is None:
            session.notice = session.t("subscription.span_unreadable")
            await self._ask_hush(session)
            return
        await self._subscribing.quiet(questions.answered(session), hours)
        await self._show(session)

    async def _ask_hour(self, session: Session, _: str = "") -> bool:
        await session.acknowledge()
        wishes = await self._subscribing.wishes(session.person.id)
        shown = subscription.daily(session.t, wishes, session.now, session.zone)
        await questions.ask(session, HOUR, session.with_resume(shown))
        return True

    async def _take_hour(self, session: Session, argument: str) -> bool:
        minute = None if argument == subscription.NONE else _minute(argument)
        if minute is None and argument != subscription.NONE:
            return False
        await self._subscribing.daily(session.person, minute)
        if minute is None:
            return await self._show(session)
        await session.acknowledge()
        await self._show_daily(session)
        return True

    async def _ask_hush(self, session: Session, _: str = "") -> bool:
        await session.acknowledge()
        shown = subscription.quiet(session.t, await self._subscribing.wishes(session.person.id))
        await questions.ask(session, HUSH, session.with_resume(shown))
        return True

    async def _take_hush(self, session: Session, argument: str) -> bool:
        hours = tuple(minute for part in argument.split("-") if (minute := _minute(part)) is not None)
        match hours:
            case (start, end) if start != end:
                await self._subscribing.quiet(session.person, (start, end))
            case () if argument == subscription.NONE:
                await self._subscribing.quiet(session.person, None)
            case _:
                return False
        return await self._show(session)

    async def _stop(self, session: Session, _: str) -> bool:
        """Everything, in one tap. Whoever had nothing on learns that it is off, too."""
        await self._subscribing.stop(session.person.id)
        await session.acknowledge(session.t.plain("subscription.stopped_short"))
        session.notice = session.t("subscription.stopped")
        await self._overview(session)
        return True

    async def _show(self, session: Session, _: str = "") -> bool:
        await session.acknowledge()
        await self._overview(session)
        return True

    async def _show_daily(self, session: Session) -> None:
        session.notice = session.t("subscription.daily_set")
        await self._overview(session)

    async def _overview(self, session: Session) -> None:
        """All that the person has asked for."""
        wishes = await self._subscribing.wishes(session.person.id)
        shown = subscription.screen(session.t, wishes, session.now, session.zone)
        await session.show(session.with_resume(shown))

    async def _ask_price(self, session: Session, _: str = "") -> bool:
        """The question for the price."""
        await session.acknowledge()
        quote = await self._quote()
        if quote is None:
            await session.show(session.with_resume(rate_alert.none(session.t)))
            return True
        shown = rate_alert.ask(session.t, quote, session.zone)
        await questions.ask(session, PRICE, session.with_resume(shown))
        return True

    async def price_typed(self, session: Session, _: str, text: str) -> None:
        """Show what is understood of a price, or of a change in percent. The question stays open until it is taken."""
        quote = await self._quote()
        if quote is None:
            await session.show(session.with_resume(rate_alert.none(session.t)))
            return
        try:
            threshold = read_threshold(text, quote.btc_idr)
        except Rejection as rejection:
            session.notice = session.reason(rejection)
            await session.show(session.with_resume(rate_alert.ask(session.t, quote, session.zone)))
            return
        await session.show(rate_alert.options(session.t, threshold, quote))

    async def _take_price(self, session: Session, argument: str) -> bool:
        """A price that was one tap away."""
        quote = await self._quote()
        if quote is None:
            return await self._ask_price(session)
        threshold = _price(argument)
        if threshold is None or not is_sensible(threshold, quote.btc_idr) or threshold == quote.btc_idr:
            return False
        await session.acknowledge()
        await session.show(rate_alert.options(session.t, threshold, quote))
        return True

    async def _set_alert(self, session: Session, argument: str) -> bool:
        """Keep the alert that the button names; a second tap keeps it once."""
        wish = _wish(argument)
        if wish is None:
            return False
        await session.acknowledge()
        if await self._subscribing.alert(session.person, wish):
            said = rate_alert.wish(session.t, wish.threshold, is_above=wish.is_above)
            session.notice = session.t("subscription.alert_set", wish=said)
        else:
            session.notice = session.t("subscription.too_many")
        await self._overview(session)
        return True

    async def _drop_alert(self, session: Session, alert_id: str) -> bool:
        """Delete an alert. One that is gone already is as good as deleted."""
        await self._subscribing.drop(session.person.id, alert_id)
        await session.acknowledge(session.t.plain("subscription.alert_dropped"))
        await self._overview(session)
        return True

    async def _quote(self) -> Quote | None:
        """The rate of now; while the service is away, the last one that was recorded."""
        try:
            return await self._market.quote()
        except SettlementFailure:
            async with self._database.reading() as tx:
                return await QuoteRepository(tx).latest()

    ACTIONS: ClassVar[Mapping[SubscriptionAction, "_Action"]] = {
        SubscriptionAction.SHOW: _show,
        SubscriptionAction.OPEN: _show,
        SubscriptionAction.DAILY: _ask_hour,
        SubscriptionAction.TIME: _take_hour,
        SubscriptionAction.QUIET: _ask_hush,
        SubscriptionAction.HUSH: _take_hush,
        SubscriptionAction.STOP: _stop,
        SubscriptionAction.END: _stop,
        SubscriptionAction.ALERT: _ask_price,
        SubscriptionAction.AT: _take_price,
        SubscriptionAction.SET: _set_alert,
        SubscriptionAction.DROP: _drop_alert,
    }
    """What a button does; it returns whether there was such a thing."""


def _minute(text: str) -> int | None:
    """A minute of the day in a button's data; None for what no button of ours could have."""
    minute = int(text) if text.isdecimal() and len(text) < len(str(MINUTES)) + 1 else MINUTES
    return minute if minute < MINUTES else None


def _wish(argument: str) -> AlertWish | None:
    """What a button of the last screen wrote; None for what no button of ours could have."""
    parts = argument.split(":")
    if len(parts) != _PARTS_OF_A_WISH or parts[0] not in {rate_alert.ABOVE, rate_alert.BELOW}:
        return None
    threshold, often, days = _price(parts[1]), parts[2], parts[3]
    ways = {rate_alert.ONCE: None} | {str(hours): hours for hours in COOL_DOWNS}
    if threshold is None or often not in ways or days not in map(str, DAYS):
        return None
    return AlertWish(is_above=parts[0] == rate_alert.ABOVE, threshold=threshold, cool_down=ways[often], days=int(days))


def _price(text: str) -> Decimal | None:
    return Decimal(text) if text.isdecimal() and text.isascii() and len(text) <= _MOST_DIGITS else None
