"""The last look before the service is asked: who, where, how much, the fee, the rate, about how many sats."""

import asyncio
from dataclasses import replace
from datetime import tzinfo

from bot.checkout.buttons import LightningButton
from bot.checkout.confirmation import place_draft, review_draft
from bot.checkout.draft import OrderDraft, without_method
from bot.checkout.flow import EDITS
from bot.checkout.screens.channel import on_offer
from bot.checkout.screens.formatting import format_holder
from bot.core.errors import Rejection
from bot.infra.i18n import Html, Translator
from bot.infra.telegram.ui import callback_data as data
from bot.infra.telegram.ui.formatting import format_clock
from bot.infra.telegram.ui.screen import Button, Keyboard, Screen
from bot.infra.telegram.ui.session import Session
from bot.orders.order import Order
from bot.orders.placement.service import ConfirmationOutdated, MethodVanished
from bot.orders.repository import OrderRepository
from bot.orders.screens.formatting import format_channel
from bot.payments.tokens import LIGHTNING
from bot.rates.quote import Estimate, estimate
from bot.recipients.formatting import format_full_method, format_method, group_digits
from bot.settlement.model import ServiceDown
from bot.users.phrase_suggestion import suggest_phrase
from bot.users.repository import UserRepository


def screen(
    t: Translator, draft: OrderDraft, worth: Estimate, zone: tzinfo, *, other_ways: bool, is_first: bool = False
) -> Screen:
    """Every line that the order will have; each can be changed. Who has no order yet can read what Lightning is."""
    parts = (t("review.title"), _figures(t, draft, worth, zone), t("review.irreversible"), t("review.locks"))
    explains = is_first and draft.channel == LIGHTNING
    return Screen("\n\n".join(parts), _keyboard(t, draft, other_ways=other_ways, explains=explains))


def confirmed(t: Translator, draft: OrderDraft, reference: str, zone: tzinfo, *, phrase: str | None = None) -> Screen:
    """What stays in the review's place for good: what was agreed to, the order's name, perhaps the person's phrase."""
    done = t("review.confirmed", reference=reference)
    if phrase is not None:
        done = Html(f"{done}\n\n{t('phrase.above_the_first', phrase=phrase)}")
    if draft.amount is None or draft.quote is None:
        return Screen(done)
    return Screen(f"{_figures(t, draft, estimate(draft.amount, draft.quote), zone)}\n\n{done}")


async def show(session: Session, draft: OrderDraft) -> Screen:
    """The review at today's quote; the quote it shows is kept with the draft, for the comparison when placing."""
    channels, _ = await asyncio.gather(on_offer(session), session.desk.market.quote())
    wished = draft
    if draft.channel not in channels:
        session.notice = session.t("channel.switched", channel=format_channel(session.t, draft.channel))
        wished = replace(draft, channel=LIGHTNING)
    reviewed, worth = await review_draft(session.desk.orders, wished)
    if reviewed != draft:
        saved = await session.desk.drafts.save(reviewed, session.update_id)
        if saved is None:
            raise Rejection("stale.button")
        reviewed = saved
    async with session.desk.store.reading() as tx:
        is_first = not await OrderRepository(tx).of_person(session.person.id, limit=1)
    return screen(session.t, reviewed, worth, session.zone, other_ways=len(channels) > 1, is_first=is_first)


async def refuse_typed(_: Session, __: OrderDraft, ___: str) -> OrderDraft:
    """Point to the buttons."""
    raise Rejection("review.press")


async def edit(_: Session, draft: OrderDraft, name: str) -> OrderDraft:
    """Go to the question whose answer is to be changed."""
    if name not in EDITS:
        raise Rejection("stale.button")
    return replace(draft, ask=EDITS[name])


async def confirm(session: Session, draft: OrderDraft, _: str) -> OrderDraft | Screen:
    """Place the order; notifications tell the rest."""
    if draft.channel not in await on_offer(session):
        return draft
    return await _place(session, replace(draft, message_id=session.message_id))


async def _place(session: Session, draft: OrderDraft) -> OrderDraft | Screen:
    new_phrase = (await suggest_phrase(session)).text if session.person.phrase is None else None
    try:
        order = await place_draft(session.desk.orders, draft, new_phrase)
    except ConfirmationOutdated:
        raise Rejection("stale.button") from None
    except MethodVanished:
        if not await session.desk.market.methods():  # an empty list says nothing about this destination
            raise ServiceDown from None
        session.notice = session.t("destination.vanished", name=format_method(draft.method))
        return without_method(draft)
    return await agreed(session, draft, order)


async def agreed(session: Session, draft: OrderDraft, order: Order) -> Screen:
    """The review once it is confirmed. Above their first invoice a person reads what the phrase on it is for."""
    async with session.desk.store.reading() as tx:
        session.person = await UserRepository(tx).get(session.person.id) or session.person
        is_first = len(await OrderRepository(tx).of_person(session.person.id, limit=2)) == 1
    phrase = session.person.phrase if is_first else None
    return confirmed(session.t, draft, order.reference, session.zone, phrase=phrase)


def _figures(t: Translator, draft: OrderDraft, worth: Estimate, zone: tzinfo) -> Html:
    in_sats = draft.amount is not None and draft.amount.currency == "SAT"
    rupiah, sats = t.rupiah(worth.idr), t.sats(worth.sats)
    return t(
        "review.figures",
        amount=t.plain("review.about", amount=rupiah) if in_sats else rupiah,
        bank=format_full_method(draft.method),
        number=group_digits(draft.number or ""),
        holder=format_holder(t, draft),
        fee=t.rupiah(worth.fee_idr),
        rate=t.rate(worth.quote.btc_idr),
        at=format_clock(t, worth.quote.fetched_at, zone),
        pay=sats if in_sats else t.plain("review.about", amount=sats),
        channel=format_channel(t, draft.channel),
    )


def _keyboard(t: Translator, draft: OrderDraft, *, other_ways: bool, explains: bool) -> Keyboard:
    def change(field: str) -> Button:
        return Button(t.plain(f"review.edit.{field}"), data=data.for_draft(draft, "edit", field))

    label = "review.confirm" if draft.channel == LIGHTNING else "review.confirm_deposit"
    ways = (change("channel"),) if other_ways or draft.channel != LIGHTNING else ()
    # The number stands there in groups; who wants to paste it elsewhere gets its digits alone.
    copy = (Button(t.plain("review.copy_number"), copy=draft.number),) if draft.number else ()
    return (
        (Button(t.plain(label), data=data.for_draft(draft, "confirm"), style="success"),),
        (change("amount"), change("method")),
        (change("number"), change("holder")),
        (*ways, *copy),
        *(((Button(t.plain("button.help_lightning"), data=LightningButton().pack()),),) if explains else ()),
        (Button(t.plain("button.cancel"), data=data.for_draft(draft, "cancel")),),
    )
