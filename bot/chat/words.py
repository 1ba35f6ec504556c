"""The few phrases that many screens share: whom an order is for, what was asked, how one pays."""

from datetime import datetime, tzinfo

from bot.actions.ports import Person
from bot.domain.draft import OrderDraft
from bot.domain.money import Amount
from bot.domain.order import Order
from bot.domain.payout import PayoutMethod, display_name, mask
from bot.i18n import Html, Translations, Translator, choose


def translator_for(translations: Translations, person: Person | None, default: str) -> Translator:
    """The language of a message is its reader's: chosen, else the app's, else the default."""
    if person is None:
        return translations.get(default)
    return translations.get(choose(person.locale, person.language_code, default))


def amount(t: Translator, wanted: Amount) -> str:
    """An amount as its currency is written."""
    return t.sats(wanted.value) if wanted.currency == "SAT" else t.rupiah(wanted.value)


def destination(method: PayoutMethod, number: str) -> str:
    """A recipient whose number isn't for everybody's eyes: "BCA ••••7890"."""
    return f"{display_name(method)} {mask(number)}"


def channel(t: Translator, name: str) -> str:
    """How one pays, in words."""
    return t.plain(f"channel.{name}")


def order_line(t: Translator, order: Order) -> Html:
    """The line that every message about an order bears: amount, recipient, reference."""
    return t(
        "order.line",
        amount=t.rupiah(order.idr or order.expected_idr),
        destination=destination(order.method, order.number),
        reference=order.reference,
    )


def holder(t: Translator, draft: OrderDraft) -> str:
    """The holder's name, or that the bank knows it."""
    return draft.holder or t.plain("review.no_holder")


def moment(t: Translator, when: datetime, zone: tzinfo) -> Html:
    """A time of day that an app shows in its reader's own zone; others show the person's zone, named."""
    return Html(f'<tg-time unix="{int(when.timestamp())}" format="t">{t.clock(when, zone)}</tg-time>')
