"""The review before the service is asked: the amount, the price and the recipient, with the number last."""

from datetime import tzinfo

from bot.checkout.buttons import DraftAction, LightningButton, draft_data
from bot.checkout.draft import OrderDraft
from bot.checkout.screens.formatting import format_draft_line, format_holder
from bot.infra.i18n import Html, Translator
from bot.infra.telegram.ui.formatting import format_clock
from bot.infra.telegram.ui.screen import Button, Keyboard, Screen
from bot.orders.order import Order
from bot.orders.screens.formatting import format_channel, format_order_line, format_price
from bot.payments.tokens import LIGHTNING
from bot.rates.quote import Estimate, estimate
from bot.recipients.formatting import format_full_method, group_digits
from bot.users.screens.phrase import SHOW as SHOW_PHRASE


def screen(
    t: Translator,
    draft: OrderDraft,
    worth: Estimate,
    zone: tzinfo,
    *,
    is_first: bool = False,
    time_needed: str | None = None,
    phrase: str | None = None,
) -> Screen:
    """Return the review. Users without an order can read what Lightning is, and can change the suggested `phrase`.

    `time_needed` says how long a transfer takes, if that is known. The number and its warning come last, beside the
    buttons.
    """
    parts = (
        f"{t('checkout.review.title')}\n{_format_figures(t, draft, worth, zone)}",
        *_explain_sum(t, draft, worth),
        *((time_needed,) if time_needed else ()),
        _explain_confirming(t, phrase),
        _format_recipient(t, draft),
        t("checkout.review.irreversible"),
    )
    explains = is_first and draft.channel == LIGHTNING
    return Screen("\n\n".join(parts), _keyboard(t, draft, worth, explains=explains, offers_phrase=phrase is not None))


def confirmed(t: Translator, order: Order, *, phrase: str | None = None) -> Screen:
    """Return what replaces the confirmed review: one line with the order's reference, and the phrase, if any."""
    done = t("checkout.review.confirmed", line=format_order_line(t, order))
    if phrase is not None:
        done = Html(f"{done}\n\n{t('checkout.phrase.above_the_first', phrase=phrase)}")
    return Screen(done)


def choose_change(t: Translator, draft: OrderDraft, *, other_ways: bool) -> Screen:
    """Return the question which answer is to be changed."""

    def change(field: str) -> Button:
        return Button(t.plain(f"checkout.review.edit.{field}"), data=draft_data(draft, DraftAction.EDIT, field))

    ways = (change("channel"),) if other_ways or draft.channel != LIGHTNING else ()
    # The review shows the number in groups. The button copies the digits alone.
    copy = (Button(t.plain("checkout.review.copy_number"), copy=draft.number),) if draft.number else ()
    back = Button(t.plain("users.button.back"), data=draft_data(draft, DraftAction.SHOW))
    text = f"{format_draft_line(t, draft)}\n\n{t('checkout.review.what_to_change')}"
    rows = ((change("amount"), change("method")), (change("number"), change("holder")), (*ways, *copy), (back,))
    return Screen(text, tuple(row for row in rows if row))


def _explain_sum(t: Translator, draft: OrderDraft, worth: Estimate) -> tuple[Html, ...]:
    """Return why the sum of a deposit is another one than the amount that was typed."""
    if draft.channel == LIGHTNING or draft.amount is None:
        return ()
    least = estimate(draft.amount, worth.quote).sats
    if worth.sats > least:
        taken, asked = (format_price(t, sats, draft.channel) for sats in (least, worth.sats))
        return (t("checkout.review.other_sum", taken=taken, sats=asked),)
    if draft.amount.currency == "IDR" and worth.idr > draft.amount.value:
        unit = format_price(t, 1, draft.channel)
        return (t("checkout.review.whole_sats", amount=t.rupiah(draft.amount.value), unit=unit),)
    return ()


def _explain_confirming(t: Translator, phrase: str | None) -> str:
    """Return what happens at the confirmation. A phrase is in the same paragraph, so that all fits on a phone."""
    locks = t("checkout.review.locks")
    return locks if phrase is None else f"{locks}\n{t('checkout.review.phrase', phrase=phrase)}"


def _format_figures(t: Translator, draft: OrderDraft, worth: Estimate, zone: tzinfo) -> Html:
    in_sats = draft.channel != LIGHTNING or (draft.amount is not None and draft.amount.currency == "SAT")
    rupiah, price = t.rupiah(worth.idr), format_price(t, worth.sats, draft.channel)
    return t(
        "checkout.review.figures",
        amount=t.plain("checkout.review.about", amount=rupiah) if in_sats else rupiah,
        fee=t.rupiah(worth.fee_idr),
        rate=t.rate(worth.quote.btc_idr),
        at=format_clock(t, worth.quote.fetched_at, zone),
        pay=price if in_sats else t.plain("checkout.review.about", amount=price),
        channel=format_channel(t, draft.channel),
    )


def _format_recipient(t: Translator, draft: OrderDraft) -> Html:
    return t(
        "checkout.review.recipient",
        bank=format_full_method(draft.method),
        holder=format_holder(t, draft),
        number=group_digits(draft.number or ""),
    )


def _keyboard(t: Translator, draft: OrderDraft, worth: Estimate, *, explains: bool, offers_phrase: bool) -> Keyboard:
    is_invoice = draft.channel == LIGHTNING
    label = "checkout.review.confirm" if is_invoice else "checkout.review.confirm_deposit"
    confirm = draft_data(draft, DraftAction.CONFIRM, "" if is_invoice else str(worth.sats))
    change = Button(t.plain("checkout.review.change"), data=draft_data(draft, DraftAction.CHANGE))
    help_row = (Button(t.plain("checkout.button.help_lightning"), data=LightningButton().pack()),) if explains else ()
    phrase_row = (Button(t.plain("checkout.button.other_words"), data=SHOW_PHRASE),) if offers_phrase else ()
    return (
        (Button(t.plain(label), data=confirm, style="success"),),
        (change, *help_row),
        (Button(t.plain("checkout.button.cancel"), data=draft_data(draft, DraftAction.CANCEL)), *phrase_row),
    )
