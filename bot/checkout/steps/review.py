"""The review before the service is asked, with the way to pay, and the order that it becomes when it is confirmed."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import tzinfo
from typing import Final

from bot.checkout.buttons import DraftAction, LightningButton, draft_data
from bot.checkout.draft import OrderDraft, without_method
from bot.checkout.flow import edits_of, steps_of
from bot.checkout.open_draft import DRAFT, get_user_orders
from bot.checkout.screens import format_draft_line, format_holder
from bot.checkout.service import DraftService, place_order, review_draft
from bot.checkout.steps import OutOfDate, TakeAnswer
from bot.core.errors import Rejection
from bot.infra.i18n import Html, Translator
from bot.infra.telegram.ui.reader import format_clock
from bot.infra.telegram.ui.screen import Button, Keyboard, Screen, in_rows
from bot.orders.destinations.health import DestinationHealthService
from bot.orders.destinations.screens import format_destination_health
from bot.orders.order import Order
from bot.orders.placement.service import ConfirmationOutdated, OrderService
from bot.orders.screens.formatting import format_channel, format_full_price, format_price
from bot.orders.screens.order_messages import show_confirmed
from bot.payments.tokens import LIGHTNING, TOKENS
from bot.rates.model import Estimate, estimate
from bot.recipients.formatting import format_full_method, format_method, group_digits
from bot.settlement.catalogue import ServiceCatalogue
from bot.settlement.errors import MethodVanished, NotUnderstood, SettlementFailure
from bot.users.screens import SHOW_PHRASE
from bot.users.session import Session, SessionKey


async def list_channels(catalogue: ServiceCatalogue) -> Sequence[str]:
    """Return the ways to pay now. Lightning needs no rails, so it is offered even if the rails can't be read."""
    try:
        return await catalogue.channels()
    except SettlementFailure:
        return (LIGHTNING,)


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
        run_by: str,
    ) -> None:
        self._catalogue = catalogue
        self._orders = orders
        self._drafts = drafts
        self._destinations = destinations
        self._run_by = run_by

    @property
    def buttons(self) -> Mapping[DraftAction, TakeAnswer]:
        """Return what takes the answer of each button."""
        return {
            DraftAction.CHANGE: self._ask_what_to_change,
            DraftAction.EDIT: edit_answer,
            DraftAction.CHANNEL: self._choose_way,
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
        user_orders = await get_user_orders(session)
        reviewed, estimated = await review_draft(self._orders, offered, user_orders)
        if reviewed != draft:
            saved = await self._drafts.save(reviewed, session.update_id)
            if saved is None:
                raise OutOfDate
            reviewed = saved
        time_needed = await self._format_destination(session, reviewed)
        phrase = await session.find_new_phrase()
        return show_review(
            session.t,
            reviewed,
            estimated,
            session.zone,
            ways=channels,
            run_by=self._run_by,
            is_first=not user_orders,
            time_needed=time_needed,
            phrase=phrase,
        )

    async def take_typed(self, _: Session, __: OrderDraft, ___: str) -> OrderDraft:
        """Point to the buttons."""
        raise Rejection("checkout.review.press")

    async def _format_destination(self, session: Session, draft: OrderDraft) -> str | None:
        """Return how long transfers to the draft's destination take, or what is wrong there. None if it isn't known."""
        health = await self._destinations.get()
        known = health.of(draft.method) if health is not None else None
        return format_destination_health(session.t, known, session.now, session.t) if known is not None else None

    async def _ask_what_to_change(self, session: Session, draft: OrderDraft, _: str) -> Screen:
        """Offer the answers that can be changed. The draft stays at its review."""
        return show_changes(session.t, draft)

    async def _choose_way(self, _: Session, draft: OrderDraft, channel: str) -> OrderDraft:
        """Take one of the ways to pay that are on offer."""
        if channel not in await list_channels(self._catalogue):
            raise Rejection("payments.channel.gone")
        return replace(draft, channel=channel)

    async def _confirm(self, session: Session, draft: OrderDraft, argument: str) -> OrderDraft | Screen:
        """Place the order. Notifications report what follows. The button of a deposit names the reviewed sum."""
        if draft.channel not in await list_channels(self._catalogue):
            return draft
        reviewed_sats = int(argument) if argument.isascii() and argument.isdigit() else None
        return await self._place(session, replace(draft, message_id=session.message_id), reviewed_sats)

    async def _place(self, session: Session, draft: OrderDraft, reviewed_sats: int | None) -> OrderDraft | Screen:
        new_phrase = await session.find_new_phrase()
        try:
            order = await place_order(self._orders, draft, new_phrase, reviewed_sats)
        except ConfirmationOutdated:
            raise OutOfDate from None
        except MethodVanished:
            if not await self._catalogue.methods():  # an empty list says nothing about this destination
                raise NotUnderstood("the list is empty") from None
            session.notice = session.t("checkout.destination.vanished", name=format_method(draft.method))
            return without_method(draft)
        if new_phrase is not None:
            session.user = replace(session.user, phrase=new_phrase, suggested_phrase=None)
        session[DRAFT], session[CONFIRMED] = None, order
        return show_confirmed(session.t, order)


async def edit_answer(_: Session, draft: OrderDraft, name: str) -> OrderDraft:
    """Go to the question whose answer the user wants to change."""
    step = edits_of(steps_of(draft)).get(name)
    if step is None:
        raise OutOfDate
    return replace(draft, step=step)


def show_review(
    t: Translator,
    draft: OrderDraft,
    estimated: Estimate,
    zone: tzinfo,
    *,
    ways: Sequence[str] = (LIGHTNING,),
    run_by: str = "",
    is_first: bool = False,
    time_needed: str | None = None,
    phrase: str | None = None,
) -> Screen:
    """Return the review. The recipient and the warning are right below the amounts.

    Users without an order can read what Lightning is, and can change the suggested `phrase`. `time_needed` says how
    long a transfer takes, if that is known.
    """
    operator = t("users.provider.name", name=run_by) if run_by else None
    price = explain_price(t, estimated, zone, phrase)
    parts = (
        f"{t('checkout.review.title')}\n{_format_figures(t, draft, estimated)}",
        f"{_format_recipient(t, draft)}\n{t('checkout.review.irreversible')}",
        "\n".join(filter(None, (*_explain_sum(t, draft, estimated), price, time_needed, operator))),
    )
    explains = is_first and draft.channel == LIGHTNING
    keyboard = _keyboard(t, draft, estimated, ways, explains=explains, offers_phrase=phrase is not None)
    return Screen("\n\n".join(parts), keyboard)


def show_changes(t: Translator, draft: OrderDraft) -> Screen:
    """Return the question which answer is to be changed."""

    def change(field: str) -> Button:
        return Button(t.plain(f"checkout.review.edit.{field}"), data=draft_data(draft, DraftAction.EDIT, field))

    # The review shows the number in groups. The button copies the digits alone.
    copy = (Button(t.plain("checkout.review.copy_number"), copy=draft.number),) if draft.number else ()
    back = Button(t.plain("users.button.back"), data=draft_data(draft, DraftAction.SHOW))
    text = f"{format_draft_line(t, draft)}\n\n{t('checkout.review.what_to_change')}"
    of_order = (copy,) if copy else ()
    own = of_order if draft.terms is None else ((change("note"), change("uses")), (change("end"),))
    return Screen(text, ((change("amount"), change("method")), (change("number"), change("holder")), *own, (back,)))


def _explain_sum(t: Translator, draft: OrderDraft, estimated: Estimate) -> tuple[Html, ...]:
    """Return why the sum of a deposit is another one than the amount that was typed."""
    if draft.channel == LIGHTNING or draft.amount is None:
        return ()
    least = estimate(draft.amount, estimated.quote).sats
    if estimated.sats > least:
        taken, asked = (format_price(t, sats, draft.channel) for sats in (least, estimated.sats))
        return (t("checkout.review.other_sum", taken=taken, sats=asked),)
    if draft.amount.currency == "IDR" and estimated.idr > draft.amount.value:
        return (t("checkout.review.whole_sats", amount=t.rupiah(draft.amount.value)),)
    return ()


def explain_price(t: Translator, estimated: Estimate, zone: tzinfo, phrase: str | None) -> Html:
    """Return the fee and the rate, and what happens at the confirmation. `phrase` is the one of a first invoice."""
    quote = estimated.quote
    price = t(
        "checkout.review.price",
        fee=t.rupiah(estimated.fee_idr),
        rate=t.rate(quote.btc_idr),
        at=format_clock(t, quote.fetched_at, zone),
    )
    return price if phrase is None else Html(f"{price}\n{t('checkout.review.phrase', phrase=phrase)}")


def _format_figures(t: Translator, draft: OrderDraft, estimated: Estimate) -> Html:
    in_sats = draft.channel != LIGHTNING or (draft.amount is not None and draft.amount.currency == "SAT")
    rupiah, price = t.rupiah(estimated.idr), format_full_price(t, estimated.sats, draft.channel)
    return t(
        "checkout.review.figures",
        amount=t.plain("checkout.review.about", amount=rupiah) if in_sats else rupiah,
        pay=price if in_sats else t.plain("checkout.review.about", amount=price),
    )


def _format_recipient(t: Translator, draft: OrderDraft) -> Html:
    return t(
        "checkout.review.recipient",
        bank=format_full_method(draft.method),
        holder=format_holder(t, draft),
        number=group_digits(draft.number or ""),
    )


def _keyboard(
    t: Translator, draft: OrderDraft, estimated: Estimate, ways: Sequence[str], *, explains: bool, offers_phrase: bool
) -> Keyboard:
    is_invoice = draft.channel == LIGHTNING
    label = "checkout.review.confirm" if is_invoice else "checkout.review.confirm_deposit"
    confirm = draft_data(draft, DraftAction.CONFIRM, "" if is_invoice else str(estimated.sats))
    change = Button(t.plain("checkout.review.change"), data=draft_data(draft, DraftAction.CHANGE))
    cancel = Button(t.plain("checkout.button.cancel"), data=draft_data(draft, DraftAction.CANCEL))
    about = (Button(t.plain("checkout.button.help_lightning"), data=LightningButton().pack()),) if explains else ()
    words = (Button(t.plain("checkout.button.other_words"), data=SHOW_PHRASE),) if offers_phrase else ()
    others = tuple(
        Button(
            t.plain("checkout.review.use_way", way=TOKENS[way].symbol if way in TOKENS else format_channel(t, way)),
            data=draft_data(draft, DraftAction.CHANNEL, way),
        )
        for way in ways
        if way != draft.channel
    )
    return (
        (Button(t.plain(label), data=confirm, style="success"),),
        *in_rows(others),
        *in_rows((change, cancel, *about, *words)),
    )
