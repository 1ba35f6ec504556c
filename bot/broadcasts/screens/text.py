"""A broadcast's message as readers get it. The preview and the delivery both use it."""

from dataclasses import replace

from bot.broadcasts.model import SUM_VARIABLES, WIDEST_QUOTE, Broadcast, has_variables
from bot.core.errors import Rejection
from bot.core.money import SETTLEMENT_FEE_IDR, sats_for_rupiah
from bot.core.templates import fill
from bot.core.text import plain
from bot.infra.i18n import Html, Translations, Translator, as_html
from bot.infra.telegram.outbound.truncate import CAPTION_UNITS, TEXT_UNITS, count_visible_units
from bot.infra.telegram.ui.formatting import clip, format_clock_of_device
from bot.infra.telegram.ui.screen import Keyboard
from bot.rates.screens import subscription
from bot.settlement.model import Quote
from bot.users.buttons import send_row

MAX_SOURCE_LENGTH = 24
NO_VALUE = "—"


def render_text(broadcast: Broadcast, t: Translator) -> str:
    """Return the message for readers of `t`'s language as Telegram's HTML, or the caption if there is a picture.

    All these readers get the same text. A time is Telegram's own entity, so each app shows it in its reader's zone.

    Raises:
        ValueError: the text shows a quote, and the broadcast has none.
    """
    own = broadcast.texts.get(t.locale)
    if not own:
        return render_default_text(t, _get_quote(broadcast))
    return fill(own, format_variables(t, _get_quote(broadcast))) if has_variables(own) else own


def build_keyboard(t: Translator) -> Keyboard:
    """Return the buttons of each broadcast: send rupiah, and change or end rate updates."""
    return (send_row(t), *subscription.update_rows(t))


def render_default_text(t: Translator, quote: Quote) -> Html:
    """Return the default text: the quote, and the sats for common sums."""
    values = format_variables(t, quote)
    usdc = "" if quote.usdc_idr is None else t("broadcasts.default_usdc", usdc=values["usdc"]) + "\n"
    return t(
        "broadcasts.default",
        rate=values["rate"],
        usdc=Html(usdc),
        sats_small=values["sats_100k"],
        sats_large=values["sats_1m"],
        fee=values["fee"],
        time=values["time"],
        source=values["source"],
    )


def format_variables(t: Translator, quote: Quote) -> dict[str, Html]:
    """Return the value of each variable as HTML, in the format of the reader's language."""
    sums = {name: as_html(t.sats(sats_for_rupiah(idr, quote.btc_idr))) for name, idr in SUM_VARIABLES.items()}
    return {
        **sums,
        "rate": as_html(t.rate(quote.btc_idr)),
        "usdc": as_html(NO_VALUE if quote.usdc_idr is None else t.rate(quote.usdc_idr)),
        "fee": as_html(t.rupiah(SETTLEMENT_FEE_IDR)),
        "time": format_clock_of_device(t, quote.fetched_at),
        "source": as_html(clip(plain(quote.source), MAX_SOURCE_LENGTH) or NO_VALUE),
    }


def check_length(broadcast: Broadcast, translations: Translations) -> None:
    """Check that the message in each language is short enough for Telegram with any quote.

    Raises:
        Rejection: a message is too long. It contains the limit.
    """
    limit = TEXT_UNITS if broadcast.picture is None else CAPTION_UNITS
    widest = replace(broadcast, quote=WIDEST_QUOTE)
    for locale in broadcast.languages:
        units = count_visible_units(render_text(widest, translations.get(locale)))
        if units > limit:
            key = "broadcasts.too_long" if broadcast.picture is None else "broadcasts.too_long_for_a_picture"
            raise Rejection(key, units=units, limit=limit)


def _get_quote(broadcast: Broadcast) -> Quote:
    if broadcast.quote is None:
        raise ValueError("a broadcast of the rate has no quote yet")
    return broadcast.quote
