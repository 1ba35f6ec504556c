"""The card of a request: the texts of its picture, its caption, and its buttons. It is made for forwarding."""

from typing import Final

from bot.infra.i18n import Translator
from bot.infra.telegram.ui.screen import Button, Screen
from bot.payment_requests.buttons import RequestAction, RequestButton
from bot.payment_requests.card import CardFacts
from bot.payment_requests.links import make_link
from bot.payment_requests.model import PaymentRequest
from bot.payment_requests.screens.formatting import format_note, format_sum
from bot.payments.tokens import LIGHTNING_WALLETS
from bot.recipients.formatting import format_destination

BRAND: Final = "Kirim"
SHARED_CHARACTERS: Final = 8
"""Of a request's id, in the inline query that finds it."""


def build_facts(t: Translator, request: PaymentRequest, bot: str) -> CardFacts:
    """Return the texts of the picture."""
    return CardFacts(
        brand=BRAND,
        title=t.plain("payment_requests.card.title", holder=request.holder),
        amount=format_sum(t, request.idr),
        subtitle=format_destination(request.method, request.number),
        note=request.note or "",
        link=make_link(bot, request.token),
        hint=t.plain("payment_requests.card.hint"),
    )


def show_card(t: Translator, request: PaymentRequest, bot: str, *, inline: bool) -> Screen:
    """Return the caption and the buttons. With `inline` mode, one button shares the request in any chat."""
    link = make_link(bot, request.token)
    text = t(
        "payment_requests.card.caption",
        holder=request.holder,
        sum=format_sum(t, request.idr),
        destination=format_destination(request.method, request.number),
        note=format_note(t, request.note),
        link=link,
        wallets=", ".join(LIGHTNING_WALLETS),
    )
    share = Button(t.plain("payment_requests.button.share"), inline=format_query(request), style="primary")
    copy = Button(t.plain("payment_requests.button.copy"), copy=link)
    page = Button(t.plain("payment_requests.button.page"), data=RequestButton(request.id, RequestAction.SHOW).pack())
    return Screen(text, (*(((share,),) if inline else ()), (copy, page)))


def format_query(request: PaymentRequest) -> str:
    """Return the inline query that finds this request among the asker's."""
    return f"#{request.id[:SHARED_CHARACTERS]}"
