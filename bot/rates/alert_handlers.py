"""Alerts on the rate: their price asked, typed or tapped, then how often and how long; listed and deleted."""

from decimal import Decimal
from typing import Final

from bot.core.errors import Rejection
from bot.infra.telegram.ui import questions
from bot.infra.telegram.ui.session import Session
from bot.rates.alerts import COOL_DOWNS, DAYS, is_sensible, read_threshold
from bot.rates.repository import QuoteRepository
from bot.rates.screens import alert as rate_alert
from bot.rates.screens import subscription
from bot.rates.subscriptions import AlertWish
from bot.settlement.model import Quote, SettlementFailure

PRICE: Final = "alert_price"
_PARTS_OF_A_WISH: Final = 4
_MOST_DIGITS: Final = 15


async def overview(session: Session) -> None:
    """All that the person has asked for."""
    wishes = await session.desk.subscribing.wishes(session.person.id)
    shown = subscription.screen(session.t, wishes, session.desk.clock.now(), session.zone)
    await session.show(session.with_resume(shown))


async def ask(session: Session, _: str = "") -> bool:
    """The question for the price."""
    await session.acknowledge()
    quote = await _quote(session)
    if quote is None:
        await session.show(session.with_resume(rate_alert.none(session.t)))
        return True
    shown = rate_alert.ask(session.t, quote, session.zone)
    await questions.ask(session, PRICE, session.with_resume(shown))
    return True


async def price_typed(session: Session, _: str, text: str) -> None:
    """A price or a change in percent: what is understood is shown, and the question stays open until it is taken."""
    quote = await _quote(session)
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


async def chosen(session: Session, argument: str) -> bool:
    """A price that was one tap away."""
    quote = await _quote(session)
    if quote is None:
        return await ask(session)
    threshold = _price(argument)
    if threshold is None or not is_sensible(threshold, quote.btc_idr) or threshold == quote.btc_idr:
        return False
    await session.acknowledge()
    await session.show(rate_alert.options(session.t, threshold, quote))
    return True


async def set_alert(session: Session, argument: str) -> bool:
    """Keep the alert that the button names; a second tap keeps it once."""
    wish = _wish(argument)
    if wish is None:
        return False
    await session.acknowledge()
    if await session.desk.subscribing.alert(session.person, wish):
        said = rate_alert.wish(session.t, wish.threshold, is_above=wish.is_above)
        session.notice = session.t("subscription.alert_set", wish=said)
    else:
        session.notice = session.t("subscription.too_many")
    await overview(session)
    return True


async def drop(session: Session, alert_id: str) -> bool:
    """Delete an alert. One that is gone already is as good as deleted."""
    await session.desk.subscribing.drop(session.person.id, alert_id)
    await session.acknowledge(session.t.plain("subscription.alert_dropped"))
    await overview(session)
    return True


async def _quote(session: Session) -> Quote | None:
    """The rate of now; while the service is away, the last one that was recorded."""
    try:
        return await session.desk.market.quote()
    except SettlementFailure:
        async with session.desk.store.reading() as tx:
            return await QuoteRepository(tx).latest()


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
