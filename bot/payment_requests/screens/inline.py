"""What inline queries show, and the messages that a result sends. Their buttons are links."""

from bot.infra.i18n import Translator
from bot.infra.telegram.ui.inline import InlineAnswer, InlineResult
from bot.infra.telegram.ui.screen import Button
from bot.payment_requests.links import make_link
from bot.payment_requests.model import PaymentRequest
from bot.payment_requests.screens.formatting import format_note, format_sum
from bot.payments.tokens import LIGHTNING_WALLETS
from bot.rates.model import Estimate
from bot.recipients.formatting import format_destination


def show_request(t: Translator, request: PaymentRequest, bot: str) -> InlineResult:
    """Return one's own request, and the message that asks for it in the asker's language."""
    amount, destination = format_sum(t, request.idr), format_destination(request.method, request.number)
    text = t(
        "payment_requests.inline.message",
        holder=request.holder,
        sum=amount,
        destination=destination,
        note=format_note(t, request.note),
        wallets=", ".join(LIGHTNING_WALLETS),
    )
    pay = Button(t.plain("payment_requests.inline.pay"), url=make_link(bot, request.token))
    description = " · ".join(filter(None, (destination, request.note)))
    return InlineResult(request.id, f"{amount} · {request.holder}", description, text, ((pay,),))


def show_price(t: Translator, worth: Estimate, bot: str) -> InlineResult:
    """Return the price of a sum."""
    amount, price = t.rupiah(worth.idr), t.sats(worth.sats)
    text = t("payment_requests.inline.price", sum=amount, sats=price, rate=t.rate(worth.quote.btc_idr))
    send = Button(t.plain("payment_requests.inline.send"), url=f"https://t.me/{bot}?start=send")
    description = t.plain("payment_requests.inline.price_of")
    return InlineResult(f"price-{worth.idr}", f"{amount} ≈ {price}", description, text, ((send,),))


def with_start(t: Translator, results: tuple[InlineResult, ...], word: str) -> InlineAnswer:
    """Return the answer. The button above the results leads to the private chat, to make a request."""
    return InlineAnswer(results, t.plain("payment_requests.inline.start"), word)
