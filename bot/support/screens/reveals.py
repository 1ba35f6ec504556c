"""The screens of a reveal: the question for the reason, the full recipient, and the masked message."""

from bot.core.zones import PRESUMED
from bot.infra.i18n import Html, Translator
from bot.infra.telegram.ui.reader import format_clock
from bot.infra.telegram.ui.screen import Button, Screen
from bot.orders.order import Order
from bot.recipients.formatting import format_full_method
from bot.support.buttons import RevealAction, RevealButton, button
from bot.support.model import Reason, Reveal
from bot.support.screens.lookups import format_subject_line
from bot.support.screens.staff import private_chat_row
from bot.support.service_orders import MARK, ServiceOrder, Subject
from bot.users.model import User


def ask_reason(t: Translator, order: Subject) -> Screen:
    """Ask for the reason: a usual one, or one that is typed."""
    usual = [_choice(t, order, f"support.reveal.reason_{reason}", RevealAction.FOR_REASON, reason) for reason in Reason]
    other = _choice(t, order, "support.reveal.other", RevealAction.TYPE_REASON)
    return Screen(
        t("support.reveal.ask", line=format_subject_line(t, order)), tuple((each,) for each in (*usual, other))
    )


def ask_typed_reason(t: Translator, order: Subject) -> Screen:
    """Ask to type the reason."""
    return Screen(t("support.reveal.type", line=format_subject_line(t, order)))


def show_placeholder(t: Translator, order: Subject) -> Screen:
    """Return the message before the recipient is in it."""
    return Screen(t("support.reveal.opened", line=format_subject_line(t, order)))


def show_recipient(t: Translator, reveal: Reveal, order: Subject, user: User | None) -> Screen:
    """Show the full recipient, and until when it is shown."""
    zone = user.zone if user is not None else PRESUMED
    text = t(
        "support.reveal.shown_named" if order.holder else "support.reveal.shown",
        line=format_subject_line(t, order),
        name=format_full_method(order.method),
        number=order.number,
        holder=order.holder or "",
        until=format_clock(t, reveal.until, zone),
    )
    if isinstance(order, Order) and order.contact:
        text = Html(f"{text}\n\n{t('support.reveal.contact', contact=order.contact)}")
    hide = button(t, "support.reveal.hide", RevealButton(_name_to_hide(order), RevealAction.HIDE, reveal.id))
    return Screen(text, ((hide,),))


def show_masked(t: Translator, reveal: Reveal, order: Subject | None) -> Screen:
    """Show the order without its recipient. A deleted recipient can't be shown again."""
    line: Html | str = format_subject_line(t, order) if order is not None else reveal.reference.removeprefix(MARK)
    can_be_asked = order is not None and order.has_recipient
    again = button(t, "support.reveal.again", RevealButton(reveal.reference, RevealAction.ASK))
    return Screen(t("support.reveal.masked", line=line), ((again,),) if can_be_asked else ())


def explain_unreachable(t: Translator, username: str) -> Screen:
    """Explain that the bot can't write to the agent, who hasn't started the bot or has blocked it."""
    return Screen(t("support.reveal.unreachable"), private_chat_row(t, username))


def _name_to_hide(order: Subject) -> str:
    return MARK if isinstance(order, ServiceOrder) else order.reference


def _choice(t: Translator, order: Subject, label: str, action: RevealAction, argument: str = "") -> Button:
    return button(t, label, RevealButton(order.reference, action, argument))
