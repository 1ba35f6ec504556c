"""The review before the service is asked: recipient, amount, fee, rate, and about how many sats."""

from datetime import tzinfo

from bot.checkout.buttons import DraftAction, LightningButton, draft_data
from bot.checkout.draft import OrderDraft
from bot.checkout.screens.formatting import format_holder
from bot.infra.i18n import Html, Translator
from bot.infra.telegram.ui.formatting import format_clock
from bot.infra.telegram.ui.screen import Button, Keyboard, Screen
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
        t("checkout.review.irreversible"),
        t("checkout.review.locks"),
    )
    explains = is_first and draft.channel == LIGHTNING
    return Screen("\n\n".join(parts), _keyboard(t, draft, other_ways=other_ways, explains=explains))


def confirmed(t: Translator, draft: OrderDraft, reference: str, zone: tzinfo, *, phrase: str | None = None) -> Screen:
    """Return what replaces the confirmed review: the agreed lines, the order's reference, and the phrase, if any."""
    done = t("checkout.review.confirmed", reference=reference)
    if phrase is not None:
        done = Html(f"{done}\n\n{t('checkout.phrase.above_the_first', phrase=phrase)}")
    if draft.amount is None or draft.quote is None:
        return Screen(done)
    return Screen(f"{_format_facts(t, draft, estimate(draft.amount, draft.quote), zone)}\n\n{done}")


def _format_facts(t: Translator, draft: OrderDraft, worth: Estimate, zone: tzinfo) -> Html:
    in_sats = draft.amount is not None and draft.amount.currency == "SAT"
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


def _keyboard(t: Translator, draft: OrderDraft, *, other_ways: bool, explains: bool) -> Keyboard:
    def change(field: str) -> Button:
        return Button(t.plain(f"checkout.review.edit.{field}"), data=draft_data(draft, DraftAction.EDIT, field))

    label = "checkout.review.confirm" if draft.channel == LIGHTNING else "checkout.review.confirm_deposit"
    ways = (change("channel"),) if other_ways or draft.channel != LIGHTNING else ()
    # The review shows the number in groups. The button copies the digits alone.
    copy = (Button(t.plain("checkout.review.copy_number"), copy=draft.number),) if draft.number else ()
    return (
        (Button(t.plain(label), data=draft_data(draft, DraftAction.CONFIRM), style="success"),),
        (change("amount"), change("method")),
        (change("number"), change("holder")),
        (*ways, *copy),
        *(((Button(t.plain("checkout.button.help_lightning"), data=LightningButton().pack()),),) if explains else ()),
        (Button(t.plain("checkout.button.cancel"), data=draft_data(draft, DraftAction.CANCEL)),),
    )
