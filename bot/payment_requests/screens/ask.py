"""The questions that only a payment request has, its review, and what replaces the confirmed review."""

from dataclasses import replace
from datetime import datetime
from typing import Final

from bot.checkout.buttons import DraftAction, draft_data
from bot.checkout.draft import OrderDraft, RequestTerms
from bot.checkout.screens.formatting import format_draft_line
from bot.checkout.screens.parts import leave_row
from bot.infra.i18n import Html, Translator
from bot.infra.telegram.ui.reader import Reader
from bot.infra.telegram.ui.screen import Button, Screen
from bot.payment_requests.buttons import AskOverButton, RequestsButton
from bot.payment_requests.model import MAX_NOTE_LENGTH, PaymentRequest
from bot.payment_requests.screens.formatting import format_line, format_sum, format_uses
from bot.recipients.formatting import format_full_method, group_digits
from bot.recipients.matching import mask_number

ONCE: Final = "once"
MANY: Final = "many"
DAYS: Final = (1, 7, 30, 0)
"""Days until the end, as buttons. 0 means no end."""


def add_open_sum(t: Translator, draft: OrderDraft, screen: Screen) -> Screen:
    """Return the question for the sum with the choice that the payer decides."""
    decides = Button(t.plain("payment_requests.ask.payer_decides"), data=draft_data(draft, DraftAction.SKIP))
    sums, leave = screen.keyboard[:-1], screen.keyboard[-1:]
    return replace(screen, keyboard=(*sums, (decides,), *leave))


def ask_note(t: Translator, draft: OrderDraft) -> Screen:
    """Return the question for a note."""
    skip = Button(t.plain("payment_requests.ask.no_note"), data=draft_data(draft, DraftAction.SKIP))
    text = t("payment_requests.ask.note", line=Html(format_draft_line(t, draft)), longest=MAX_NOTE_LENGTH)
    return Screen(text, ((skip,), leave_row(t, draft)))


def ask_uses(t: Translator, draft: OrderDraft) -> Screen:
    """Return the question how often the request can be paid."""
    once, many = (
        Button(t.plain(f"payment_requests.uses.{uses}"), data=draft_data(draft, DraftAction.USES, uses))
        for uses in (ONCE, MANY)
    )
    text = t("payment_requests.ask.uses", line=Html(format_draft_line(t, draft)))
    return Screen(text, ((once,), (many,), leave_row(t, draft)))


def ask_end(t: Translator, draft: OrderDraft) -> Screen:
    """Return the question until when the request can be paid."""
    buttons = [Button(format_days(t, days), data=draft_data(draft, DraftAction.END, str(days))) for days in DAYS]
    text = t("payment_requests.ask.end", line=Html(format_draft_line(t, draft)))
    return Screen(text, (tuple(buttons[:2]), tuple(buttons[2:]), leave_row(t, draft)))


def format_days(t: Translator, days: int) -> str:
    """Return the label of an end that is so many days ahead, or of no end."""
    return str(t.plural("payment_requests.end.days", days)) if days else t.plain("payment_requests.end.none")


def show_review(reader: Reader, draft: OrderDraft) -> Screen:
    """Return the review: what payers will see, the whole number for the asker alone, and what confirming means."""
    t, terms = reader.t, draft.terms or RequestTerms()
    seen = t(
        "payment_requests.review.seen",
        sum=format_sum(t, None if draft.amount is None else draft.amount.value),
        holder=draft.holder or "",
        bank=format_full_method(draft.method),
        number=mask_number(draft.number or ""),
        note=terms.note or t.plain("payment_requests.review.no_note"),
        uses=format_uses(t, is_reusable=bool(terms.is_reusable)),
        end=format_end(reader, terms.ends_at),
    )
    own = t("payment_requests.review.own", number=group_digits(draft.number or ""))
    confirm = Button(
        t.plain("payment_requests.review.confirm"), data=draft_data(draft, DraftAction.CONFIRM), style="success"
    )
    change = Button(t.plain("checkout.review.change"), data=draft_data(draft, DraftAction.CHANGE))
    cancel = Button(t.plain("checkout.button.cancel"), data=draft_data(draft, DraftAction.CANCEL))
    return Screen(f"{seen}\n\n{own}\n\n{t('payment_requests.review.consent')}", ((confirm,), (change, cancel)))


def format_end(reader: Reader, ends_at: datetime | None) -> str:
    """Return the end in the reader's zone, or that there is none."""
    return reader.t.plain("payment_requests.end.none") if ends_at is None else reader.format_time(ends_at)


def show_changes(t: Translator, draft: OrderDraft) -> Screen:
    """Return the question which answer is to be changed."""

    def change(field: str, label: str) -> Button:
        return Button(t.plain(label), data=draft_data(draft, DraftAction.EDIT, field))

    rows = (
        (change("amount", "checkout.review.edit.amount"), change("method", "checkout.review.edit.method")),
        (change("number", "checkout.review.edit.number"), change("holder", "checkout.review.edit.holder")),
        (change("note", "payment_requests.edit.note"), change("uses", "payment_requests.edit.uses")),
        (change("end", "payment_requests.edit.end"),),
        (Button(t.plain("users.button.back"), data=draft_data(draft, DraftAction.SHOW)),),
    )
    return Screen(f"{format_draft_line(t, draft)}\n\n{t('checkout.review.what_to_change')}", rows)


def show_confirmed(t: Translator, request: PaymentRequest) -> Screen:
    """Return what replaces the confirmed review: one line. The card follows as a message of its own."""
    return Screen(t("payment_requests.review.confirmed", line=format_line(t, request)))


def show_limit(t: Translator, reason: Html) -> Screen:
    """Return why the user can't make another request, with the way to the ones they have."""
    return Screen(reason, ((Button(t.plain("payment_requests.button.all"), data=RequestsButton().pack()),),))


def ask_to_replace(t: Translator, draft: OrderDraft) -> Screen:
    """Return the choice between the open draft and a payment request."""
    resume = Button(t.plain("checkout.draft.continue"), data=draft_data(draft, DraftAction.SHOW), style="primary")
    over = Button(t.plain("payment_requests.button.ask"), data=AskOverButton().pack())
    return Screen(t("payment_requests.ask.unfinished", line=Html(format_draft_line(t, draft))), ((resume,), (over,)))
