"""The screens of saved replies: the list, one reply in all languages, and its preview."""

from collections.abc import Mapping, Sequence

from bot.core import templates
from bot.infra.i18n import LOCALES, Html, Translator, as_html
from bot.infra.telegram.ui.reader import Reader
from bot.infra.telegram.ui.screen import Button, Screen, in_rows
from bot.orders.order import Order
from bot.recipients.formatting import format_destination
from bot.support.buttons import (
    ReplyChoiceAction,
    ReplyChoiceButton,
    SavedReplyAction,
    SavedReplyButton,
    WriteSavedReplyButton,
    button,
)
from bot.support.entries import with_quote
from bot.support.model import SavedReply, Ticket
from bot.support.saved_replies import VARIABLES, fits, hash_text
from bot.support.screens.case import format_order_state
from bot.support.screens.staff import private_chat_row


def list_replies(t: Translator, replies: Sequence[SavedReply]) -> Screen:
    """List all saved replies with buttons to show each, and to add one."""
    known = t("support.saved_reply.list", variables=templates.format_variables(VARIABLES))
    text = known if replies else Html(f"{known}\n\n{t('support.saved_reply.none')}")
    add = button(t, "support.saved_reply.add", SavedReplyButton(SavedReplyAction.ADD))
    return Screen(text, (*in_rows([_button(each.name, SavedReplyAction.SHOW, each.name) for each in replies]), (add,)))


def list_names(t: Translator, replies: Sequence[SavedReply], username: str) -> Screen:
    """List only the names, with a button to the private chat."""
    names = ", ".join(f"<code>{each.name}</code>" for each in replies) or t("support.saved_reply.none")
    return Screen(t("support.saved_reply.in_group", names=Html(names)), private_chat_row(t, username))


def show_reply(t: Translator, reply: SavedReply) -> Screen:
    """Show a saved reply in all languages, with its variables."""
    texts = [
        with_quote(
            t("support.saved_reply.language", language=t.language(locale)),
            reply.texts.get(locale) or t("support.saved_reply.no_text"),
        )
        for locale in LOCALES
    ]
    change = tuple(
        button(t, "support.saved_reply.change", WriteSavedReplyButton(reply.name, locale), language=t.language(locale))
        for locale in LOCALES
    )
    delete = _button(t.plain("support.saved_reply.delete"), SavedReplyAction.ASK_TO_DELETE, reply.name)
    text = "\n\n".join((t("support.saved_reply.one", name=reply.name), *texts))
    return Screen(text, (change, (delete, _button(t.plain("support.saved_reply.back"), SavedReplyAction.LIST))))


def ask_to_delete(t: Translator, name: str) -> Screen:
    """Ask whether to delete a saved reply."""
    yes = button(t, "support.saved_reply.delete", SavedReplyButton(SavedReplyAction.DELETE, name), "danger")
    return Screen(
        t("support.saved_reply.sure", name=name),
        ((yes, _button(t.plain("support.saved_reply.back"), SavedReplyAction.SHOW, name)),),
    )


def ask_name(t: Translator) -> Screen:
    """Ask for the name of a new saved reply."""
    return Screen(
        t("support.saved_reply.ask_name"), ((_button(t.plain("support.saved_reply.back"), SavedReplyAction.LIST),),)
    )


def ask_text(t: Translator, called: str, locale: str) -> Screen:
    """Ask for the text of a saved reply in one language."""
    asked = t(
        "support.saved_reply.ask_text",
        name=called,
        language=t.language(locale),
        variables=templates.format_variables(VARIABLES),
    )
    return Screen(asked, ((_button(t.plain("support.saved_reply.back"), SavedReplyAction.SHOW, called),),))


def ask_which(t: Translator, ticket: Ticket, replies: Sequence[SavedReply], locale: str) -> Screen:
    """Ask which saved reply to send in a ticket. Offer those in the language of the ticket's user."""
    usable = [each for each in replies if locale in each.texts]
    key = "support.saved_reply.choose" if usable else "support.saved_reply.choose_none"
    previews = (ReplyChoiceButton(ticket.reference, ReplyChoiceAction.PREVIEW, each.name) for each in usable)
    buttons = [Button(preview.name, data=preview.pack()) for preview in previews]
    return Screen(t(key, ticket=ticket.reference, language=t.language(locale)), in_rows(buttons))


def show_preview(
    reader: Reader, ticket: Ticket, called: str, filled: str, locale: str, *, order: Order | None
) -> Screen:
    """Show the text that the user would read and the state of the order now, with the button that sends the text."""
    t, state = reader.t, format_state(reader, called, order)
    text = t("support.saved_reply.preview", ticket=ticket.reference, name=called, language=t.language(locale))
    send = button(
        t,
        "support.saved_reply.send",
        ReplyChoiceButton(ticket.reference, ReplyChoiceAction.SEND, called, hash_text(filled + state)),
        "primary" if fits(called, order, reader.now) else None,
    )
    others = button(t, "support.saved_reply.others", ReplyChoiceButton(ticket.reference, ReplyChoiceAction.LIST_AGAIN))
    return Screen(f"{with_quote(text, filled)}\n{state}".strip(), ((send, others),))


def format_state(reader: Reader, called: str, order: Order | None) -> Html:
    """Return the state of the order now, with a warning if a saved reply is written for other states."""
    if order is None:
        return Html("")
    key = "support.saved_reply.state" if fits(called, order, reader.now) else "support.saved_reply.does_not_fit"
    return reader.t(key, order=format_order_state(reader, order))


def show_queued(reader: Reader, ticket: Ticket, called: str, filled: str, by: int) -> Screen:
    """Say that the reply was queued. A notification reports its delivery."""
    who = reader.format_staff(by)
    return Screen(
        with_quote(reader.t("support.saved_reply.handed_over", ticket=ticket.reference, name=called, by=who), filled)
    )


def variable_values(t: Translator, ticket: Ticket, order: Order | None) -> Mapping[str, Html]:
    """Return the values of the variables, in the language of `t`. Without an order, only the ticket's."""
    known = {"ticket": ticket.reference}
    if order is not None:
        known |= {
            "reference": order.reference,
            "amount": t.rupiah(order.idr or order.expected_idr),
            "destination": format_destination(order.method, order.number),
        }
    return {key: as_html(value) for key, value in known.items()}


def _button(label: str, action: SavedReplyAction, name: str = "") -> Button:
    return Button(label, data=SavedReplyButton(action, name).pack())
