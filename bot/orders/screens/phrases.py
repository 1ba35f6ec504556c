"""The few phrases that many screens share: whom an order is for, what was asked, how one pays."""

from datetime import datetime, timedelta, tzinfo

from bot.checkout.draft import OrderDraft
from bot.core.errors import Rejection, Remark
from bot.core.money import Amount
from bot.core.text import plain
from bot.core.zones import PRESUMED
from bot.infra.i18n import Html, Translations, Translator, as_html, choose
from bot.orders.order import Order
from bot.payments.tokens import name_key
from bot.recipients.matching import mask
from bot.recipients.methods import display_name
from bot.recipients.model import SavedRecipient as Saved
from bot.recipients.saved import title
from bot.settlement.model import BANK, EWALLET, PayoutMethod
from bot.users.model import Person

LISTED_SHOWN = 120
NAME_SHOWN = 40
"""Characters. Live names have at most 33; a longer one must not push an invoice out of its caption."""
ON_BUTTON = 24
GROUP = 4


def translator_for(translations: Translations, person: Person | None, default: str) -> Translator:
    """The language of a message is its reader's: chosen, else the app's, else the default."""
    if person is None:
        return translations.get(default)
    return translations.get(choose(person.locale, person.language_code, default))


def clipped(text: str, longest: int = NAME_SHOWN) -> str:
    """`text`, its end left out where it is longer than that."""
    return text if len(text) <= longest else f"{text[: longest - 1].rstrip()}…"


def quoted(text: str) -> str:
    """The beginning of what somebody typed, on one line, without what would turn or hide the text around it."""
    return clipped(plain(text)) or "…"


def name(method: PayoutMethod | None) -> str:
    """What people call a destination; never empty, and never longer than a button."""
    return clipped(plain(display_name(method))) or "?" if method else ""


def full_name(method: PayoutMethod | None) -> str:
    """What people call a destination, and the live list's own name where that says more: "BCA · BANK CENTRAL ASIA"."""
    called = name(method)
    listed = clipped(plain(method.name), LISTED_SHOWN) if method else ""
    if clipped(listed) == called:
        return listed
    return called if called.casefold() in {listed.casefold(), ""} else f"{called} · {listed}"


def amount(t: Translator, wanted: Amount) -> str:
    """An amount as its currency is written."""
    return t.sats(wanted.value) if wanted.currency == "SAT" else t.rupiah(wanted.value)


def destination(method: PayoutMethod, number: str) -> str:
    """A recipient whose number isn't for everybody's eyes: "BCA ••••7890". A forgotten number leaves its bank alone."""
    return name(method) if not number else f"{name(method)} {mask(number)}"


def grouped(number: str) -> str:
    """Return an account or mobile number in groups of four, for checking by eye: "1234 5678 90"."""
    return " ".join(number[start : start + GROUP] for start in range(0, len(number), GROUP))


def saved(recipient: Saved) -> str:
    """A saved recipient on a button: "Ibu · BCA ••••7890", both parts short enough for the digits to be seen."""
    where = f"{clipped(name(recipient.method), ON_BUTTON)} {mask(recipient.number)}"
    called = clipped(plain(title(recipient)), ON_BUTTON)
    return f"{called} · {where}" if called else where


def channel(t: Translator, name: str) -> str:
    """How one pays, in words."""
    return t.plain(name_key(name))


def order_line(t: Translator, order: Order) -> Html:
    """The line that every message about an order bears: amount, recipient, reference."""
    return t(
        "order.line",
        amount=t.rupiah(order.idr or order.expected_idr),
        destination=destination(order.method, order.number),
        reference=order.reference,
    )


def phrase_line(t: Translator, person: Person | None) -> str:
    """What is added to what only the genuine bot can say; nothing for whom has no phrase."""
    return f"\n\n{t('pay.phrase', phrase=person.phrase)}" if person is not None and person.phrase else ""


def draft_line(t: Translator, draft: OrderDraft) -> str:
    """What is known of an order that isn't one yet; empty where nothing is."""
    known = [t("draft.amount", amount=amount(t, draft.amount))] if draft.amount else []
    if draft.method is not None:
        where = destination(draft.method, draft.number) if draft.number else name(draft.method)
        known.append(t("draft.destination", destination=where))
    return " ".join(known)


def recipient(t: Translator, draft: OrderDraft) -> Html:
    """The recipient as the sender has given them, at the head of the questions that follow."""
    key = "draft.recipient_named" if draft.holder else "draft.recipient"
    return t(key, name=name(draft.method), number=draft.number or "", holder=draft.holder or "")


def holder(t: Translator, draft: OrderDraft) -> str:
    """The holder's name, or that the bank knows it."""
    return draft.holder or t.plain("review.no_holder")


def moment(t: Translator, when: datetime, zone: tzinfo) -> Html:
    """A time of day in the person's zone, named. As long as that is presumed, an app that can shows its own instead."""
    clock = t.clock(when, zone)
    if zone is not PRESUMED:
        return as_html(clock)
    return Html(f'<tg-time unix="{int(when.timestamp())}" format="t">{clock}</tg-time>')


def when(t: Translator, moment: datetime, now: datetime, zone: tzinfo, *, up: bool = True) -> str:
    """A time in the person's zone, with its day where that isn't today; `up` to the full minute for a time to come."""
    if up and (moment.second or moment.microsecond):
        moment = moment.replace(second=0, microsecond=0) + timedelta(minutes=1)
    is_today = moment.astimezone(zone).date() == now.astimezone(zone).date()
    return t.clock(moment, zone) if is_today else t.date_time(moment, zone)


def facts(t: Translator, said: Rejection | Remark, now: datetime, zone: tzinfo) -> dict[str, object]:
    """What fills the sentence of `said`; times to come are written as the person reads them."""
    return {
        name: when(t, value, now, zone) if isinstance(value, datetime) else value
        for name, value in said.arguments.items()
    }


def day(t: Translator, when: datetime, now: datetime, zone: tzinfo) -> str:
    """The day of a moment in the person's zone: "today", "17 Aug", in another year "17 Aug 2025"."""
    that, today = when.astimezone(zone).date(), now.astimezone(zone).date()
    return t.plain("time.today") if that == today else t.date(when, zone, with_year=that.year != today.year)


def place(method: PayoutMethod) -> str:
    """Where the money arrives: "bank", or "ewallet"; sentences about that are told apart by it."""
    return EWALLET if method.kind == EWALLET else BANK
