"""The last look before the service is asked: who, where, how much, the fee, the rate, about how many sats."""

from dataclasses import replace
from datetime import tzinfo

from bot.actions.orders import MethodVanished
from bot.chat import data, words
from bot.chat.desk import Pressed, Said, Visit
from bot.chat.screen import Button, Keyboard, Screen
from bot.domain.draft import Ask, OrderDraft, without_method
from bot.domain.errors import Rejection
from bot.domain.payout import display_name
from bot.domain.quote import Estimate
from bot.i18n import Html, Translator

EDITS = {
    "method": Ask.DESTINATION,
    "number": Ask.NUMBER,
    "holder": Ask.HOLDER,
    "amount": Ask.AMOUNT,
    "channel": Ask.CHANNEL,
}


def screen(t: Translator, draft: OrderDraft, worth: Estimate, zone: tzinfo, *, other_ways: bool) -> Screen:
    """Every line that the order will have; each can be changed."""
    text = t(
        "review.text",
        amount=t.rupiah(worth.idr),
        bank=draft.method.name if draft.method else "",
        name=display_name(draft.method) if draft.method else "",
        number=draft.number or "",
        holder=words.holder(t, draft),
        fee=t.rupiah(worth.fee_idr),
        rate=t.rate(worth.quote.btc_idr),
        at=words.moment(t, worth.quote.fetched_at, zone),
        pay=_about(t, draft, worth),
        channel=words.channel(t, draft.channel),
    )
    return Screen(text, _keyboard(t, draft, other_ways=other_ways))


async def show(visit: Visit, draft: OrderDraft) -> Screen:
    """The review at today's quote; the quote it shows is kept with the draft, for the comparison when placing."""
    quoted, worth = await visit.desk.orders.review(draft)
    if quoted.quote != draft.quote:
        saved = await visit.desk.drafts.save(quoted, visit.update_id)
        if saved is None:
            raise Rejection("stale.button")
        draft = saved
    channels = await visit.desk.market.channels()
    return screen(visit.t, draft, worth, visit.zone, other_ways=len(channels) > 1)


async def answer(visit: Visit, draft: OrderDraft, said: Said) -> OrderDraft | Screen:
    """Change a line, or confirm: the order is placed and the rest comes as news of it."""
    if not isinstance(said, Pressed):
        raise Rejection("review.press")
    if said.action == "edit" and said.argument in EDITS:
        return replace(draft, ask=EDITS[said.argument])
    if said.action != "confirm":
        raise Rejection("stale.button")
    try:
        order = await visit.desk.orders.place(draft)
    except MethodVanished:
        visit.notice = visit.t("destination.vanished", name=display_name(draft.method) if draft.method else "")
        return without_method(draft)
    return placing(visit.t, words.order_line(visit.t, order))


def placing(t: Translator, line: Html) -> Screen:
    """What stands in the review's place once it is confirmed."""
    return Screen(t("review.placing", line=line))


def _about(t: Translator, draft: OrderDraft, worth: Estimate) -> str:
    exact = draft.amount is not None and draft.amount.currency == "SAT"
    return t.sats(worth.sats) if exact else t.plain("review.about", sats=t.sats(worth.sats))


def _keyboard(t: Translator, draft: OrderDraft, *, other_ways: bool) -> Keyboard:
    def edit(field: str) -> Button:
        return Button(t.plain(f"review.edit.{field}"), data=data.for_draft(draft, "edit", field))

    ways = ((edit("channel"),),) if other_ways or draft.channel != "lightning" else ()
    return (
        (Button(t.plain("review.confirm"), data=data.for_draft(draft, "confirm"), style="success"),),
        (edit("amount"), edit("method")),
        (edit("number"), edit("holder")),
        *ways,
        (Button(t.plain("button.cancel"), data=data.for_draft(draft, "cancel"), style="danger"),),
    )
