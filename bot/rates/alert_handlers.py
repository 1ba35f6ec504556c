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


async def overview(visit: Session) -> None:
    """All that the person has asked for."""
    wishes = await visit.desk.subscribing.wishes(visit.person.id)
    shown = subscription.screen(visit.t, wishes, visit.desk.clock.now(), visit.zone)
    await visit.show(visit.with_resume(shown))


async def ask(visit: Session, _: str = "") -> bool:
    """The question for the price."""
    await visit.acknowledge()
    quote = await _quote(visit)
    if quote is None:
        await visit.show(visit.with_resume(rate_alert.none(visit.t)))
        return True
    shown = rate_alert.ask(visit.t, quote, visit.zone)
    await questions.ask(visit, PRICE, visit.with_resume(shown))
    return True


async def price_typed(visit: Session, _: str, text: str) -> None:
    """A price or a change in percent: what is understood is shown, and the question stays open until it is taken."""
    quote = await _quote(visit)
    if quote is None:
        await visit.show(visit.with_resume(rate_alert.none(visit.t)))
        return
    try:
        threshold = read_threshold(text, quote.btc_idr)
    except Rejection as rejection:
        visit.notice = visit.reason(rejection)
        await visit.show(visit.with_resume(rate_alert.ask(visit.t, quote, visit.zone)))
        return
    await visit.show(rate_alert.options(visit.t, threshold, quote))


async def chosen(visit: Session, argument: str) -> bool:
    """A price that was one tap away."""
    quote = await _quote(visit)
    if quote is None:
        return await ask(visit)
    threshold = _price(argument)
    if threshold is None or not is_sensible(threshold, quote.btc_idr) or threshold == quote.btc_idr:
        return False
    await visit.acknowledge()
    await visit.show(rate_alert.options(visit.t, threshold, quote))
    return True


async def set_alert(visit: Session, argument: str) -> bool:
    """Keep the alert that the button names; a second tap keeps it once."""
    wish = _wish(argument)
    if wish is None:
        return False
    await visit.acknowledge()
    if await visit.desk.subscribing.alert(visit.person, wish):
        said = rate_alert.wish(visit.t, wish.threshold, is_above=wish.is_above)
        visit.notice = visit.t("subscription.alert_set", wish=said)
    else:
        visit.notice = visit.t("subscription.too_many")
    await overview(visit)
    return True


async def drop(visit: Session, alert_id: str) -> bool:
    """Delete an alert. One that is gone already is as good as deleted."""
    await visit.desk.subscribing.drop(visit.person.id, alert_id)
    await visit.acknowledge(visit.t.plain("subscription.alert_dropped"))
    await overview(visit)
    return True


async def _quote(visit: Session) -> Quote | None:
    """The rate of now; while the service is away, the last one that was recorded."""
    try:
        return await visit.desk.market.quote()
    except SettlementFailure:
        async with visit.desk.store.reading() as tx:
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
