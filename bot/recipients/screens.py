"""The screens of saved recipients: the list, one recipient, and the questions for changes."""

import unicodedata
from collections.abc import Callable, Sequence
from datetime import datetime

from bot.core.errors import Rejection
from bot.core.text import plain
from bot.infra.i18n import Html, Translator, as_html
from bot.infra.telegram.ui.reader import clip, quote_input
from bot.infra.telegram.ui.screen import Button, Keyboard, Screen, Style
from bot.recipients.buttons import RecipientAction, RecipientButton, RecipientsButton
from bot.recipients.formatting import format_destination, format_full_method, format_method, format_recipient
from bot.recipients.model import SavedRecipient, recipient_title
from bot.users.buttons import send_row

PAGE_SIZE = 8
MAX_LABEL_LENGTH = 40
"""Characters."""


def show_list(t: Translator, recipients: Sequence[SavedRecipient], page: int = 0) -> Screen:
    """Return one page of the list, or that no recipient is saved."""
    if not recipients:
        return Screen(t("recipients.list.none"), (send_row(t),))
    pages = -(-len(recipients) // PAGE_SIZE)
    page = min(page, pages - 1)
    shown = recipients[page * PAGE_SIZE : (page + 1) * PAGE_SIZE]
    rows = tuple(
        (Button(format_recipient(each), data=RecipientButton(each.id, RecipientAction.PAGE).pack()),) for each in shown
    )
    return Screen(t("recipients.list.ask"), (*rows, *page_row(t, page, pages, lambda to: RecipientsButton(to).pack())))


def show_recipient(t: Translator, recipient: SavedRecipient, now: datetime, *, can_ask: bool) -> Screen:
    """Return all about one recipient. The number is shown in full, since the chat is private.

    `can_ask` is whether users can ask others for money to the account.
    """
    label, holder = recipient.label, recipient.holder
    rows: Keyboard = (
        (_button(t, recipient, "recipients.send", RecipientAction.SEND, "primary"),),
        *(((_button(t, recipient, "recipients.receive", RecipientAction.ASK),),) if can_ask else ()),
        (_button(t, recipient, "recipients.remind", RecipientAction.REMIND),),
        (
            _button(t, recipient, "recipients.rename" if label else "recipients.name", RecipientAction.EDIT_NAME),
            _button(t, recipient, "recipients.edit_holder", RecipientAction.EDIT_HOLDER),
        ),
        (_button(t, recipient, "recipients.delete", RecipientAction.DELETE),),
        (Button(t.plain("recipients.all"), data=RecipientsButton().pack()),),
    )
    text = t(
        "recipients.page",
        title=clip(plain(recipient_title(recipient))) or format_method(recipient.method),
        bank=format_full_method(recipient.method),
        number=recipient.number,
        holder=holder or t.plain("recipients.review.no_holder"),
        ago=t.ago(recipient.last_used_at, now),
    )
    return Screen(text, rows)


def masked_line(recipient: SavedRecipient) -> Html:
    """Return a recipient as a line of text with a masked number: "Ibu · BCA ••••7890"."""
    called = recipient.label or recipient.holder
    where = format_destination(recipient.method, recipient.number)
    return as_html(f"{quote_input(called)} · {where}" if called else where)


def ask_name(t: Translator, recipient: SavedRecipient) -> Screen:
    """Return the question for the user's own name of a recipient."""
    remove = ((_button(t, recipient, "recipients.unname", RecipientAction.REMOVE_NAME),),) if recipient.label else ()
    return Screen(t("recipients.ask_name", who=format_recipient(recipient)), (*remove, (_back_button(t, recipient),)))


def ask_holder(t: Translator, recipient: SavedRecipient) -> Screen:
    """Return the question for the holder's name."""
    remove = (
        ((_button(t, recipient, "recipients.no_holder", RecipientAction.REMOVE_HOLDER),),) if recipient.holder else ()
    )
    return Screen(t("recipients.ask_holder", who=format_recipient(recipient)), (*remove, (_back_button(t, recipient),)))


def ask_deletion(t: Translator, recipient: SavedRecipient) -> Screen:
    """Return the question before a recipient is deleted."""
    forget = _button(t, recipient, "recipients.delete_sure", RecipientAction.CONFIRM_DELETION, "danger")
    return Screen(
        t("recipients.ask_delete", who=format_recipient(recipient)), ((forget,), (_back_button(t, recipient),))
    )


def offer_row(t: Translator, recipient: SavedRecipient) -> tuple[Button, ...]:
    """Return the row under an order's message that asks for a name for its recipient."""
    return (_button(t, recipient, "recipients.offer", RecipientAction.SAVE),)


def clean_label(text: str) -> str | None:
    """Return the name in `text`. None, for a text without visible characters, removes the name.

    Raises:
        Rejection: `recipients.holder.one_line`, `recipients.name_too_long` (`longest`, `actual`).
    """
    if any(unicodedata.category(character) == "Cc" for character in text.strip()):
        raise Rejection("recipients.holder.one_line")
    label = plain(text)
    if len(label) > MAX_LABEL_LENGTH:
        raise Rejection("recipients.name_too_long", longest=MAX_LABEL_LENGTH, actual=len(label))
    return label or None


def page_row(t: Translator, page: int, pages: int, data_of: Callable[[int], str]) -> Keyboard:
    """Return the row that turns the pages of a list, if it has more than one. `data_of` is the data of a page."""
    if pages == 1:
        return ()
    here = Button(f"{page + 1} / {pages}", data=data_of(page))
    before = (Button(t.plain("recipients.destination.previous"), data=data_of(page - 1)),) if page else ()
    after = (Button(t.plain("recipients.destination.next"), data=data_of(page + 1)),) if page < pages - 1 else ()
    return ((*before, here, *after),)


def _back_button(t: Translator, recipient: SavedRecipient) -> Button:
    return Button(t.plain("users.button.back"), data=RecipientButton(recipient.id, RecipientAction.PAGE).pack())


def _button(
    t: Translator, recipient: SavedRecipient, label: str, action: RecipientAction, style: Style | None = None
) -> Button:
    return Button(t.plain(label), data=RecipientButton(recipient.id, action).pack(), style=style)
