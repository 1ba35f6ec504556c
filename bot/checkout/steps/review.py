"""The review before the service is asked, and the order that it becomes when it is confirmed."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from datetime import tzinfo
from typing import Final

from bot.checkout.buttons import DraftAction, LightningButton, draft_data
from bot.checkout.confirmation import place_draft, review_draft
from bot.checkout.draft import OrderDraft, without_method
from bot.checkout.flow import EDITS
from bot.checkout.screens.formatting import format_draft_line, format_holder
from bot.checkout.sender import get_placed
from bot.checkout.service import DraftService
from bot.checkout.steps.channel import list_channels
from bot.checkout.steps.handler import OutOfDate, TakeAnswer
from bot.core.errors import Rejection
from bot.infra.i18n import Html, Translator
from bot.infra.telegram.ui.formatting import format_clock
from bot.infra.telegram.ui.screen import Button, Keyboard, Screen
from bot.orders.destinations.health import DestinationHealthService
from bot.orders.destinations.screens import format_destination_health
from bot.orders.order import Order
from bot.orders.placement.service import ConfirmationOutdated, MethodVanished, OrderService
from bot.orders.screens.formatting import format_channel, format_order_line, format_price
from bot.payments.tokens import LIGHTNING
from bot.rates.model import Estimate, estimate
from bot.recipients.formatting import format_full_method, format_method, group_digits
from bot.settlement.catalogue import ServiceCatalogue
from bot.settlement.model import ServiceDown
from bot.users.screens.phrase import SHOW as SHOW_PHRASE
from bot.users.session import Session, SessionKey
from bot.users.suggestions import suggest_phrase

CONFIRMED: Final = SessionKey[Order | None]("confirmed", None)
"""The order that this update has placed."""


class ReviewStep:
    """Show the review, and place the order that is confirmed."""

    def __init__(
        self,
        *,
        catalogue: ServiceCatalogue,
        orders: OrderService,
        drafts: DraftService,
        destinations: DestinationHealthService,
    ) -> None:
        self._catalogue = catalogue
        self._orders = orders
        self._drafts = drafts
        self._destinations = destinations

    @property
    def buttons(self) -> Mapping[DraftAction, TakeAnswer]:
        """Return what takes the answer of each button."""
        return {
            DraftAction.CHANGE: self._ask_what_to_change,
            DraftAction.EDIT: self._edit,
            DraftAction.CONFIRM: self._confirm,
        }

    async def show(self, session: Session, draft: OrderDraft) -> Screen:
        """Return the review at the current quote, which is saved with the draft: placing compares with it.

        Users without an anti-phishing phrase read the one that their invoice will have.
        """
        channels, _ = await asyncio.gather(list_channels(self._catalogue), self._catalogue.quote())
        offered = draft
        if draft.channel not in channels:
            session.notice = session.t("payments.channel.switched", channel=format_channel(session.t, draft.channel))
            offered = replace(draft, channel=LIGHTNING)
        placed = await get_placed(session)
        reviewed, worth = await review_draft(self._orders, offered, placed)
        if reviewed != draft:
            saved = await self._drafts.save(reviewed, session.update_id)
            if saved is None:
                raise OutOfDate
            reviewed = saved
        time_needed = await self._format_destination(session, reviewed)
        phrase = (await suggest_phrase(session)).text if session.user.phrase is None else None
        return show_review(
            session.t,
            reviewed,
            worth,
            session.zone,
            is_first=not placed,
            time_needed=time_needed,
            phrase=phrase,
        )

    async def take_typed(self, _: Session, __: OrderDraft, ___: str) -> OrderDraft:
        """Point to the buttons."""
        raise Rejection("checkout.review.press")

    async def build_confirmed_screen(self, session: Session, order: Order) -> Screen:
        """Return the confirmed review. For a first order it explains the phrase on the invoice."""
        is_first = all(each.reference == order.reference for each in await get_placed(session))
        phrase = session.user.phrase if is_first else None
        return show_confirmed(session.t, order, phrase=phrase)

    async def _format_destination(self, session: Session, draft: OrderDraft) -> str | None:
        """Return how long transfers to the draft's destination take, or what is wrong there. None if it isn't known."""
        health = await self._destinations.get()
        known = health.of(draft.method) if health is not None else None
        return format_destination_health(session.t, known, session.now, session.t) if known is not None else None

    async def _ask_what_to_change(self, session: Session, draft: OrderDraft, _: str) -> Screen:
        """Offer the answers that can be changed. The draft stays at its review."""
        channels = await list_channels(self._catalogue)
        return show_changes(session.t, draft, other_ways=len(channels) > 1)

    async def _edit(self, _: Session, draft: OrderDraft, name: str) -> OrderDraft:
        """Go to the question whose answer the user wants to change."""
        if name not in EDITS:
            raise OutOfDate
        return replace(draft, step=EDITS[name])

    async def _confirm(self, session: Session, draft: OrderDraft, argument: str) -> OrderDraft | Screen:
        """Place the order. Notifications report what follows. The button of a deposit names the reviewed sum."""
        if draft.channel not in await list_channels(self._catalogue):
            return draft
        reviewed_sats = int(argument) if argument.isascii() and argument.isdigit() else None
        return await self._place(session, replace(draft, message_id=session.message_id), reviewed_sats)

    async def _place(self, session: Session, draft: OrderDraft, reviewed_sats: int | None) -> OrderDraft | Screen:
        new_phrase = (await suggest_phrase(session)).text if session.user.phrase is None else None
        try:
            order = await place_draft(self._orders, draft, new_phrase, reviewed_sats)
        except ConfirmationOutdated:
            raise OutOfDate from None
        except MethodVanished:
            if not await self._catalogue.methods():  # an empty list says nothing about this destination
                raise ServiceDown from None
            session.notice = session.t("checkout.destination.vanished", name=format_method(draft.method))
            return without_method(draft)
        if new_phrase is not None:
            session.user = replace(session.user, phrase=new_phrase, suggested_phrase=None)
        session[CONFIRMED] = order
        return await self.build_confirmed_screen(session, order)


def show_review(
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


def show_confirmed(t: Translator, order: Order, *, phrase: str | None = None) -> Screen:
    """Return what replaces the confirmed review: one line with the order's reference, and the phrase, if any."""
    done = t("checkout.review.confirmed", line=format_order_line(t, order))
    if phrase is not None:
        done = Html(f"{done}\n\n{t('checkout.phrase.above_the_first', phrase=phrase)}")
    return Screen(done)


def show_changes(t: Translator, draft: OrderDraft, *, other_ways: bool) -> Screen:
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
