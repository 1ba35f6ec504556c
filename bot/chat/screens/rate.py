"""Today's rate, for somebody who only wants to know."""

from datetime import tzinfo

from bot.actions.ports import SettlementFailure
from bot.chat import words
from bot.chat.desk import Visit
from bot.chat.screen import Screen
from bot.chat.screens.parts import new_row
from bot.domain.money import SETTLEMENT_FEE_IDR, sats_for_rupiah
from bot.domain.quote import Quote
from bot.i18n import Translator

EXAMPLES = (100_000, 500_000, 1_000_000)


def screen(t: Translator, quote: Quote, zone: tzinfo) -> Screen:
    """The rate, its time, and what common sums come to."""
    lines = "\n".join(
        t("rate.example", amount=t.rupiah(idr), sats=t.sats(sats_for_rupiah(idr, quote.btc_idr))) for idr in EXAMPLES
    )
    text = t(
        "rate.text",
        rate=t.rate(quote.btc_idr),
        at=words.moment(t, quote.fetched_at, zone),
        fee=t.rupiah(SETTLEMENT_FEE_IDR),
    )
    return Screen(f"{text}\n\n{lines}", (new_row(t),))


async def show(visit: Visit) -> Screen:
    """The shared quote; where there's none, that."""
    try:
        quote = await visit.desk.market.quote()
    except SettlementFailure:
        return Screen(visit.t("rate.none"), (new_row(visit.t),))
    if quote.is_stale(visit.desk.clock.now()):
        text = visit.t("rate.stale", at=words.moment(visit.t, quote.fetched_at, visit.zone))
        return Screen(text, (new_row(visit.t),))
    return screen(visit.t, quote, visit.zone)
