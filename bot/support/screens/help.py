"""`/help` with its pages, and what the welcome answers to newcomers."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from bot.checkout.screens import explain_lightning
from bot.core.money import SETTLEMENT_FEE_IDR
from bot.infra.i18n import Html, Translator
from bot.infra.telegram.ui.screen import Button, Keyboard, Screen
from bot.orders.destinations.model import PayoutTimes
from bot.orders.destinations.screens import format_payout_times
from bot.orders.order import Order
from bot.orders.screens.formatting import format_failed_payout_policy
from bot.recipients.formatting import format_method
from bot.staff.staff_chat import SupportContacts
from bot.support.buttons import (
    HelpButton,
    HelpPage,
    NewTicketButton,
    UserTicketAction,
    UserTicketButton,
    button,
)
from bot.support.model import Ticket
from bot.support.screens.user import format_contact, format_other_contact
from bot.users import screens
from bot.users.buttons import send_row
from bot.users.model import UNNAMED, Provider, format_provider

PROFILE = "https://t.me/"


TOPICS: Final = (HelpPage.COST, HelpPage.TIME, HelpPage.LIGHTNING, HelpPage.TROUBLE)
"""The pages behind the first one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HelpFacts:
    """The facts on the pages: the limits in rupiah (0 is no limit), the payout times, and the contacts.

    `tokens_offered` says whether users can pay with a token.
    """

    minimum: int
    a_day: int
    times: PayoutTimes | None
    contacts: SupportContacts
    tokens_offered: bool = False


def show_first_page(
    t: Translator,
    contacts: SupportContacts,
    tickets: Sequence[Ticket] = (),
    orders: Mapping[str, Order] | None = None,
    run_by: Provider = UNNAMED,
    *,
    can_ask: bool = True,
) -> Screen:
    """Return the first page: how Kirim works, what to watch out for, and how to reach support.

    `tickets` are the reader's open tickets, and `orders` are their orders by reference.
    """
    parts: list[str] = [t("support.help.text", ask=" · /request" if can_ask else "")]
    if contacts.has_staff:
        parts.append(t("support.help.write"))
    if contacts.contact:
        parts.append(format_other_contact(t, contacts.contact, too=contacts.has_staff))
    parts += format_provider(t, run_by)
    write = ((button(t, "support.button.write_to_us", NewTicketButton()),),) if contacts.has_staff else ()
    mine = tuple((_ticket_button(t, ticket, (orders or {}).get(ticket.order_reference)),) for ticket in tickets)
    others = (
        Button(t.plain("users.settings.phrase"), data=screens.SHOW_PHRASE),
        Button(t.plain("users.button.settings"), data="s:show"),
    )
    first = (*mine, *write, send_row(t, style=None)) if tickets else (send_row(t), *write)
    return Screen("\n\n".join(parts), (*first, *_topic_rows(t), others))


def show_page(t: Translator, topic: HelpPage, facts: HelpFacts) -> Screen:
    """Return the page of a topic, with a button back."""
    back = button(t, "users.button.back", HelpButton(HelpPage.FIRST))
    return Screen(TEXTS[topic](t, facts), ((back,),))


def _topic_rows(t: Translator) -> Keyboard:
    """Return the buttons to the other pages, two in a row."""
    each = [button(t, f"checkout.button.help_{topic}", HelpButton(topic)) for topic in TOPICS]
    return (tuple(each[:2]), tuple(each[2:]))


def _ticket_button(t: Translator, ticket: Ticket, order: Order | None) -> Button:
    about = "" if order is None else f" · {format_method(order.method)} {t.rupiah(order.idr or order.expected_idr)}"
    return Button(
        f"🎫 {ticket.reference}{about}", data=UserTicketButton(ticket.reference, UserTicketAction.SHOW).pack()
    )


def _cost(t: Translator, facts: HelpFacts) -> Html:
    parts = [t("support.help.cost", fee=t.rupiah(SETTLEMENT_FEE_IDR), minimum=t.rupiah(facts.minimum))]
    if facts.a_day:
        parts.append(t("support.help.cost_day", limit=t.rupiah(facts.a_day)))
    return Html("\n".join((*parts, t("support.help.cost_banks"))))


def _time(t: Translator, facts: HelpFacts) -> Html:
    if facts.times is None:
        return t("support.help.time")
    return Html(f"{t('support.help.time')}\n\n{format_payout_times(t, facts.times)}")


def _lightning(t: Translator, _: HelpFacts) -> Html:
    return explain_lightning(t)


def _trouble(t: Translator, facts: HelpFacts) -> Html:
    """Return what can go wrong. It promises help only if there is a support agent or a contact."""
    whom, contact = facts.contacts.reached_by, format_contact(facts.contacts.contact)
    parts = [t("support.help.trouble"), t(f"support.help.trouble_{whom}", contact=contact)]
    parts += format_failed_payout_policy(t, facts.contacts.failed_payout_policy_url)
    if facts.tokens_offered:
        parts.append(Html(f"{t('support.help.deposit')} {t(f'support.help.deposit_{whom}', contact=contact)}"))
    return Html("\n\n".join(parts))


TEXTS: Final[Mapping[HelpPage, Callable[[Translator, HelpFacts], Html]]] = {
    HelpPage.COST: _cost,
    HelpPage.TIME: _time,
    HelpPage.LIGHTNING: _lightning,
    HelpPage.TROUBLE: _trouble,
}
