"""The answers of a draft as questions and messages show them."""

from bot.checkout.draft import OrderDraft
from bot.core.money import Amount
from bot.infra.i18n import Html, Translator
from bot.recipients.formatting import format_destination, format_method


def text_key(draft: OrderDraft, key: str) -> str:
    """Return the key of a text about a draft. Those about payment requests have their own."""
    return key if draft.terms is None else f"checkout.request.{key.removeprefix('checkout.')}"


def format_amount(t: Translator, amount: Amount) -> str:
    """Return an amount in its currency."""
    return t.sats(amount.value) if amount.currency == "SAT" else t.rupiah(amount.value)


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
