"""Asking and being answered: a question is shown, its answer goes to the screen that asked, and the next one is shown.

What no longer fits, a button of an answered question or of an order that has been placed, explains itself and leads
back to the question that is open.
"""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from types import ModuleType

from telegram.ext import ConversationHandler

from bot.checkout.draft import Ask, DraftStatus, OrderDraft, step_back
from bot.checkout.screens import amount, channel, destination, holder, number, review
from bot.checkout.screens import draft_expired as lapsed
from bot.checkout.screens import limit_warning as too_many
from bot.checkout.screens.parts import leave_row, new_row
from bot.core.errors import Rejection
from bot.infra.i18n import Html
from bot.infra.telegram.ui import callback_data as data
from bot.infra.telegram.ui.screen import Button, Screen
from bot.infra.telegram.ui.session import Pressed, Said, Session
from bot.orders.repository import OrderRepository
from bot.orders.screens import outcome
from bot.settlement.model import SettlementFailure

END = ConversationHandler.END
SCREENS: dict[Ask, ModuleType] = {
    Ask.DESTINATION: destination,
    Ask.NUMBER: number,
    Ask.HOLDER: holder,
    Ask.AMOUNT: amount,
    Ask.CHANNEL: channel,
    Ask.REVIEW: review,
}


async def take(visit: Session, said: Said) -> object:
    """Give the answer to the screen that asked, keep what it makes of the draft, and show what comes next."""
    draft = open_draft(visit)
    if visit.is_replayed:
        return await show_draft(visit)
    if isinstance(said, Pressed) and said.action in COMMON:
        return await COMMON[said.action](visit, draft)
    try:
        found = await SCREENS[draft.ask].answer(visit, draft, said)
    except Rejection as rejection:
        return await _reject(visit, draft, rejection)
    except SettlementFailure:
        return await _service_down(visit, draft)
    if isinstance(found, Screen):
        await visit.show(found)
        return draft.ask if await _still_open(visit, draft) else END
    return await _keep(visit, found)


async def _keep(visit: Session, draft: OrderDraft) -> object:
    visit.draft = await visit.desk.drafts.save(draft, visit.update_id)
    if visit.draft is None:
        visit.draft = await visit.desk.drafts.get(draft.id)
    return await show_draft(visit)


async def show_draft(visit: Session) -> object:
    """Show the question that the draft waits for; the state it is in."""
    draft = open_draft(visit)
    await visit.acknowledge()
    if draft.status is not DraftStatus.OPEN:
        return await stale(visit, draft.id)
    try:
        await visit.show(await SCREENS[draft.ask].show(visit, draft))
    except Rejection as rejection:
        return await _reject(visit, draft, rejection)
    except SettlementFailure:
        return await _service_down(visit, draft)
    return draft.ask


async def _reject(visit: Session, draft: OrderDraft, rejection: Rejection) -> object:
    """Say why, and ask the same question again. A sum that no longer fits is asked for, whichever screen found it."""
    if too_many.is_one(rejection):
        await visit.show(too_many.screen(visit.t, draft, visit.reason(rejection)))
        return draft.ask
    visit.notice = Html("\n".join(filter(None, (visit.notice, visit.reason(rejection)))))
    if rejection.key.startswith("amount.") and draft.ask is Ask.REVIEW:
        return await _keep(visit, replace(draft, ask=Ask.AMOUNT))
    if draft.ask is Ask.REVIEW:
        visit.message_id = None
    try:
        await visit.show(await SCREENS[draft.ask].show(visit, draft))
    except Rejection:
        return await _keep(visit, replace(draft, ask=Ask.DESTINATION))
    except SettlementFailure:
        return await _service_down(visit, draft)
    return draft.ask


async def _service_down(visit: Session, draft: OrderDraft) -> object:
    again = Button(visit.t.plain("button.try_again"), data=data.for_draft(draft, "show"), style="primary")
    await visit.show(Screen(visit.t("service.down"), ((again,), leave_row(visit.t, draft))))
    return draft.ask


async def _back(visit: Session, draft: OrderDraft) -> object:
    return await _keep(visit, step_back(draft))


async def _again(visit: Session, _: OrderDraft) -> object:
    return await show_draft(visit)


async def leave(visit: Session, draft: OrderDraft) -> object:
    """Put the draft away for good."""
    await visit.desk.drafts.cancel(draft, visit.update_id)
    await visit.show(Screen(visit.t("draft.cancelled"), (new_row(visit.t),)))
    return END


COMMON: dict[str, Callable[[Session, OrderDraft], Awaitable[object]]] = {
    "back": _back,
    "cancel": leave,
    "show": _again,
}


async def stale(visit: Session, draft_id: str) -> object:
    """A button of a draft that isn't open any more explains itself and offers the way on."""
    draft = await visit.desk.drafts.get(draft_id)
    mine = draft is not None and draft.chat_id == visit.chat_id
    if draft is None or not mine:
        return await way_on(visit, "stale.button")
    if draft.status is DraftStatus.PLACED:
        return await _placed(visit, draft)
    if draft.status is DraftStatus.LAPSED and visit.draft is None:
        await visit.acknowledge(visit.t.plain("stale.lapsed"))
        await visit.say(lapsed.screen(visit.t, draft))
        return END
    return await way_on(visit, "stale.cancelled" if draft.status is DraftStatus.CANCELLED else "stale.button")


async def way_on(visit: Session, key: str) -> object:
    """Say what became of the button, and show the question that is open, or how to begin."""
    await visit.acknowledge(visit.t.plain(key))
    visit.message_id = None
    if visit.draft is not None and visit.draft.status is DraftStatus.OPEN:
        return await show_draft(visit)
    await visit.show(Screen(visit.t(key), (new_row(visit.t),)))
    return END


async def _placed(visit: Session, draft: OrderDraft) -> object:
    """A second tap on Confirm changes nothing; an older button shows how the order stands."""
    await visit.acknowledge(visit.t.plain("stale.placed"))
    async with visit.desk.store.reading() as tx:
        order = await OrderRepository(tx).of_draft(draft.id)
    if order is not None and visit.message_id == draft.message_id:
        await visit.update(await review.agreed(visit, draft, order))
    elif order is not None:
        now, help_offered = visit.desk.clock.now(), visit.desk.help.is_offered
        await visit.post(outcome.state(visit.t, order, now, visit.zone, help_offered=help_offered))
    return END if visit.draft is None else visit.draft.ask


async def _still_open(visit: Session, draft: OrderDraft) -> bool:
    current = await visit.desk.drafts.get(draft.id)
    return current is not None and current.status is DraftStatus.OPEN


def open_draft(visit: Session) -> OrderDraft:
    """The draft of this visit, where the map says that there is one."""
    if visit.draft is None:
        raise RuntimeError("the conversation was entered without a draft")
    return visit.draft
