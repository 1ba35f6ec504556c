"""The review before the service is asked: recipient, amount, fee, rate, and about how many sats."""

from dataclasses import replace
from datetime import tzinfo

from bot.checkout.buttons import DraftAction, LightningButton, draft_data
from bot.checkout.draft import OrderDraft
from bot.checkout.screens.formatting import format_holder
from bot.infra.i18n import Html, Translator
from bot.infra.telegram.ui.formatting import format_clock
from bot.infra.telegram.ui.screen import Button, Keyboard, Screen
from bot.orders.order import Order
from bot.orders.screens.formatting import format_channel
from bot.payments.tokens import LIGHTNING
from bot.rates.quote import Estimate, estimate
from bot.recipients.formatting import format_full_method, group_digits


def screen(
    t: Translator, draft: OrderDraft, worth: Estimate, zone: tzinfo, *, other_ways: bool, is_first: bool = False
) -> Screen:
    """Return the review. Each line can be changed, and users without an order can read what Lightning is."""
    parts = (
        t("checkout.review.title"),
        _format_facts(t, draft, worth, zone),
        *_explain_sum(t, draft, worth),
        t("checkout.review.irreversible"),
        t("checkout.review.locks"),
    )
    explains = is_first and draft.channel == LIGHTNING
    return Screen("\n\n".join(parts), _keyboard(t, draft, worth, other_ways=other_ways, explains=explains))


def confirmed(t: Translator, draft: OrderDraft, order: Order, zone: tzinfo, *, phrase: str | None = None) -> Screen:
    """Return what replaces the confirmed review: the agreed lines, the order's reference, and the phrase, if any."""
    done = t("checkout.review.confirmed", reference=order.reference)
    if phrase is not None:
        done = Html(f"{done}\n\n{t('checkout.phrase.above_the_first', phrase=phrase)}")
    if draft.amount is None or draft.quote is None:
        return Screen(done)
    agreed = replace(estimate(draft.amount, draft.quote), sats=order.expected_sats, idr=order.expected_idr)
    return Screen(f"{_format_facts(t, draft, agreed, zone)}\n\n{done}")


def _explain_sum(t: Translator, draft: OrderDraft, worth: Estimate) -> tuple[Html, ...]:
    """Return why the sum of a deposit is another one than the amount that was typed."""
    if draft.channel == LIGHTNING or draft.amount is None:
        return ()
    least = estimate(draft.amount, worth.quote).sats
    if worth.sats > least:
        return (t("checkout.review.other_sum", taken=t.sats(least), sats=t.sats(worth.sats)),)
    if draft.amount.currency == "IDR" and worth.idr > draft.amount.value:
        return (t("checkout.review.whole_sats", amount=t.rupiah(draft.amount.value)),)
    return ()


def _format_facts(t: Translator, draft: OrderDraft, worth: Estimate, zone: tzinfo) -> Html:
    in_sats = draft.channel != LIGHTNING or (draft.amount is not None and draft.amount.currency == "SAT")
    rupiah, sats = t.rupiah(worth.idr), t.sats(worth.sats)
    return t(
        "checkout.review.figures",
        amount=t.plain("checkout.review.about", amount=rupiah) if in_sats else rupiah,
        bank=format_full_method(draft.method),
        number=group_digits(draft.number or ""),
        holder=format_holder(t, draft),
        fee=t.rupiah(worth.fee_idr),
        rate=t.rate(worth.quote.btc_idr),
        at=format_clock(t, worth.quote.fetched_at, zone),
        pay=sats if in_sats else t.plain("checkout.review.about", amount=sats),
        channel=format_channel(t, draft.channel),
    )


def _keyboard(t: Translator, draft: OrderDraft, worth: Estimate, *, other_ways: bool, explains: bool) -> Keyboard:
    def change(field: str) -> Button:
        return Button(t.plain(f"checkout.review.edit.{field}"), data=draft_data(draft, DraftAction.EDIT, field))

    is_invoice = draft.channel == LIGHTNING
    label = "checkout.review.confirm" if is_invoice else "checkout.review.confirm_deposit"
    confirm = draft_data(draft, DraftAction.CONFIRM, "" if is_invoice else str(worth.sats))
    ways = (change("channel"),) if other_ways or not is_invoice else ()
    # The review shows the number in groups. The button copies the digits alone.
    copy = (Button(t.plain("checkout.review.copy_number"), copy=draft.number),) if draft.number else ()
    return (
        (Button(t.plain(label), data=confirm, style="success"),),
        (change("amount"), change("method")),
        (change("number"), change("holder")),
        (*ways, *copy),
        *(((Button(t.plain("checkout.button.help_lightning"), data=LightningButton().pack()),),) if explains else ()),
        (Button(t.plain("checkout.button.cancel"), data=draft_data(draft, DraftAction.CANCEL)),),
    )
