"""Messages about a draft, and what the screens of the steps share: its answers, and their rows of buttons."""

from collections.abc import Sequence
from dataclasses import replace

from bot.checkout.buttons import DraftAction, StartOverButton, draft_data
from bot.checkout.draft import OrderDraft, Step
from bot.checkout.flow import is_complete
from bot.core.money import Amount
from bot.infra.i18n import Html, Translator
from bot.infra.telegram.ui.reader import Reader
from bot.infra.telegram.ui.screen import Button, Screen
from bot.orders.order import Order
from bot.orders.screens.formatting import format_price
from bot.orders.screens.order_lists import show_unpaid
from bot.payments.tokens import LIGHTNING_WALLETS
from bot.rates.model import Estimate
from bot.recipients.formatting import format_destination, format_method
from bot.users.buttons import NewOrderButton, send_row


def text_key(draft: OrderDraft, key: str) -> str:
    """Return the key of a text about a draft. Those about payment requests have their own."""
    return key if draft.terms is None else f"checkout.request.{key.removeprefix('checkout.')}"


def format_amount(t: Translator, amount: Amount) -> str:
    """Return an amount in its currency."""
    return t.sats(amount.value) if amount.currency == "SAT" else t.rupiah(amount.value)


def format_choice(t: Translator, amount: Amount, estimated: Estimate | None, channel: str) -> str:
    """Return an amount on its button: "Rp500,000 ≈ 31,243 sats", "25,000 sats ≈ Rp400,120". It can have no price."""
    shown = format_amount(t, amount)
    if estimated is None:
        return shown
    is_sats = amount.currency == "SAT"
    price = t.rupiah(estimated.idr) if is_sats else format_price(t, estimated.sats, channel)
    return t.plain("checkout.amount.price", amount=shown, price=price)


def format_draft_line(t: Translator, draft: OrderDraft) -> str:
    """Return the amount and the recipient of a draft, as far as they are known."""
    known = [t("checkout.draft.amount", amount=format_amount(t, draft.amount))] if draft.amount else []
    if draft.method is not None:
        where = format_destination(draft.method, draft.number) if draft.number else format_method(draft.method)
        known.append(t("checkout.draft.destination", destination=where))
    return " ".join(known)


def format_recipient_line(t: Translator, draft: OrderDraft) -> Html:
    """Return the recipient as it was typed, for the head of later questions."""
    key = "checkout.draft.recipient_named" if draft.holder else "checkout.draft.recipient"
    return t(key, name=format_method(draft.method), number=draft.number or "", holder=draft.holder or "")


def format_holder(t: Translator, draft: OrderDraft) -> str:
    """Return the name of the account's holder, or that the bank knows it."""
    return draft.holder or t.plain("recipients.review.no_holder")


def leave_row(t: Translator, draft: OrderDraft) -> tuple[Button, ...]:
    """Return the last row of every question: Cancel, and Back unless there is nothing to go back to."""
    cancel = Button(t.plain("checkout.button.cancel"), data=draft_data(draft, DraftAction.CANCEL))
    if draft.step is Step.DESTINATION and not is_complete(draft):
        return (cancel,)
    return (Button(t.plain("users.button.back"), data=draft_data(draft, DraftAction.BACK)), cancel)


def unfinished(t: Translator, draft: OrderDraft) -> Screen:
    """Return the choice between an open draft and a new one."""
    start_over = Button(t.plain("checkout.draft.start_over"), data=StartOverButton().pack())
    text = t(text_key(draft, "checkout.draft.unfinished"), line=Html(format_draft_line(t, draft)))
    return Screen(text, ((_resume(t, draft),), (start_over,)))


def with_resume(t: Translator, screen: Screen, draft: OrderDraft) -> Screen:
    """Return `screen` with a button back to the draft in place of the one for a new order."""
    new = NewOrderButton().pack()
    rows = tuple(row for row in screen.keyboard if not any(button.data == new for button in row))
    return replace(screen, keyboard=((_resume(t, draft),), *rows))


def cancelled(t: Translator, draft: OrderDraft) -> Screen:
    """Return the message that the draft was cancelled."""
    return Screen(t(text_key(draft, "checkout.draft.cancelled")), (send_row(t),))


def nothing_to_cancel(t: Translator) -> Screen:
    """Return the message that no draft is open."""
    return Screen(t("checkout.draft.nothing_to_cancel"), (send_row(t),))


def service_down(t: Translator, draft: OrderDraft) -> Screen:
    """Return the message that the service can't be reached. The draft is kept, and stays in sight."""
    again = Button(t.plain("orders.button.try_again"), data=draft_data(draft, DraftAction.SHOW), style="primary")
    about = format_draft_line(t, draft)
    text = t(text_key(draft, "checkout.service.down"))
    return Screen(f"{about}\n\n{text}" if about else text, ((again,), leave_row(t, draft)))


def limit_reached(reader: Reader, draft: OrderDraft, reason: Html, unpaid: Sequence[Order]) -> Screen:
    """Return why and until when the user can't order, with a button that shows the review once they can.

    Too many unpaid orders are listed.
    """
    t = reader.t
    listed = show_unpaid(reader, unpaid) if unpaid else Screen("")
    again = Button(t.plain("orders.button.try_again"), data=draft_data(draft, DraftAction.SHOW), style="primary")
    about = format_draft_line(t, draft)
    text = "\n\n".join(filter(None, (about, f"{reason} {t('checkout.limits.kept')}", listed.text)))
    return Screen(text, (*listed.keyboard, (again,), leave_row(t, draft)))


def expired(t: Translator, draft: OrderDraft) -> Screen:
    """Return the message that the draft has expired, with the button that resumes it."""
    resume = Button(t.plain("checkout.draft.continue"), data=draft_data(draft, DraftAction.RESUME), style="primary")
    about = format_draft_line(t, draft)
    text = t(text_key(draft, "checkout.draft.expired"))
    rows = ((resume,), send_row(t, "checkout.draft.start_over")) if draft.terms is None else ((resume,),)
    return Screen(f"{about}\n\n{text}" if about else text, rows)


def damaged(t: Translator) -> Screen:
    """Return the message that our record of the draft is damaged, and how to begin again."""
    return Screen(t("checkout.draft.unreadable"), (send_row(t),))


def _resume(t: Translator, draft: OrderDraft) -> Button:
    return Button(t.plain("checkout.draft.continue"), data=draft_data(draft, DraftAction.SHOW), style="primary")


def difference(t: Translator, order: Order, estimated: Estimate) -> Html:
    """Return the sentence above the new review. It compares with the price that `order` last showed."""
    sats, rupiah = order.last_price
    if order.amount.currency == "SAT":
        return _brings(t, rupiah, estimated.idr)
    return _costs(t, sats, estimated.sats, order.channel)


def _costs(t: Translator, before: int, after: int, channel: str) -> Html:
    if before == after:
        return t("checkout.requote.same")
    key = "checkout.requote.costs_more" if after > before else "checkout.requote.costs_less"
    shown = {"before": before, "after": after, "difference": abs(after - before)}
    return t(key, **{name: format_price(t, sats, channel) for name, sats in shown.items()})


def _brings(t: Translator, before: int, after: int) -> Html:
    if before == after:
        return t("checkout.requote.same")
    key = "checkout.requote.brings_more" if after > before else "checkout.requote.brings_less"
    return t(key, before=t.rupiah(before), after=t.rupiah(after), difference=t.rupiah(abs(after - before)))


def explain_lightning(t: Translator) -> Html:
    """Return what Lightning is, and wallets by name."""
    return t("checkout.help.lightning", wallets=", ".join(LIGHTNING_WALLETS))
