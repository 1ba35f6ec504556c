"""Asking and being answered: a question is shown, its answer goes to the screen that asked, and the next one is shown.

What no longer fits, a button of an answered question or of an order that has been placed, explains itself and leads
back to the question that is open.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace

from bot.checkout.draft import Ask, DraftStatus, OrderDraft
from bot.checkout.flow import step_back
from bot.checkout.screens import amount, channel, destination, holder, number, review
from bot.checkout.screens import draft_expired as lapsed
from bot.checkout.screens import limit_warning as too_many
from bot.checkout.screens.parts import leave_row
from bot.core.errors import Rejection
from bot.infra.i18n import Html
from bot.infra.telegram.ui import callback_data as data
from bot.infra.telegram.ui.screen import Button, Screen
from bot.infra.telegram.ui.session import Session
from bot.orders.repository import OrderRepository
from bot.orders.screens import outcome
from bot.settlement.model import SettlementFailure
from bot.users.screens.buttons import send_row

Answer = Callable[[Session, OrderDraft, str], Awaitable[OrderDraft | Screen]]
"""Takes what was typed, or a button's argument; returns the draft that it makes, or what has to be asked first.

Raises `Rejection` where it can't be taken; the question is shown again with the reason.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """How a step is asked, and what takes its answers: what is typed, and each button by its action."""

    show: Callable[[Session, OrderDraft], Awaitable[Screen]]
    typed: Answer
    buttons: Mapping[str, Answer] = field(default_factory=dict)


QUESTIONS: Mapping[Ask, Question] = {
    Ask.DESTINATION: Question(
        show=destination.show,
        typed=destination.search_typed,
        buttons={"page": destination.turn_page, "again": destination.take_saved, "pick": destination.pick},
    ),
    Ask.NUMBER: Question(show=number.show, typed=number.take_typed, buttons={"use": number.use_anyway}),
    Ask.HOLDER: Question(show=holder.show, typed=holder.take_typed, buttons={"skip": holder.skip}),
    Ask.AMOUNT: Question(show=amount.show, typed=amount.take_typed, buttons={"sum": amount.choose}),
    Ask.CHANNEL: Question(show=channel.show, typed=channel.refuse_typed, buttons={"pay": channel.choose}),
    Ask.REVIEW: Question(
        show=review.show, typed=review.refuse_typed, buttons={"edit": review.edit, "confirm": review.confirm}
    ),
}
"""Each step of `flow.STEPS` with its screen."""


async def take_typed(visit: Session, text: str) -> None:
    """Give what was typed to the question that is open."""
    await _take(visit, QUESTIONS[open_draft(visit).ask].typed, text)


async def take_button(visit: Session, action: str, argument: str) -> None:
    """Do what a button of the open question says; `action` is one of its buttons or of `COMMON`."""
    draft = open_draft(visit)
    common = COMMON.get(action)
    if common is not None and not visit.is_replayed:
        await common(visit, draft)
    else:
        await _take(visit, QUESTIONS[draft.ask].buttons[action], argument)


async def _take(visit: Session, answer: Answer, given: str) -> None:
    draft = open_draft(visit)
    if visit.is_replayed:
        await show_draft(visit)
        return
    try:
        found = await answer(visit, draft, given)
    except Rejection as rejection:
        await _reject(visit, draft, rejection)
    except SettlementFailure:
        await _service_down(visit, draft)
    else:
        if isinstance(found, Screen):
            await visit.show(found)
        else:
            await _keep(visit, found)


async def _keep(visit: Session, draft: OrderDraft) -> None:
    visit.draft = await visit.desk.drafts.save(draft, visit.update_id)
    if visit.draft is None:
        visit.draft = await visit.desk.drafts.get(draft.id)
    await show_draft(visit)


async def show_draft(visit: Session) -> None:
    """Show the question that the draft waits for."""
    draft = open_draft(visit)
    await visit.acknowledge()
    if draft.status is not DraftStatus.OPEN:
        await stale(visit, draft.id)
        return
    try:
        await visit.show(await QUESTIONS[draft.ask].show(visit, draft))
    except Rejection as rejection:
        await _reject(visit, draft, rejection)
    except SettlementFailure:
        await _service_down(visit, draft)


async def _reject(visit: Session, draft: OrderDraft, rejection: Rejection) -> None:
    """Say why, and ask the same question again. A sum that no longer fits is asked for, whichever screen found it."""
    if too_many.is_one(rejection):
        await visit.show(too_many.screen(visit.t, draft, visit.reason(rejection)))
        return
    visit.notice = Html("\n".join(filter(None, (visit.notice, visit.reason(rejection)))))
    if rejection.key.startswith("amount.") and draft.ask is Ask.REVIEW:
        await _keep(visit, replace(draft, ask=Ask.AMOUNT))
        return
    if draft.ask is Ask.REVIEW:
        visit.message_id = None
    try:
        await visit.show(await QUESTIONS[draft.ask].show(visit, draft))
    except Rejection:
        await _keep(visit, replace(draft, ask=Ask.DESTINATION))
    except SettlementFailure:
        await _service_down(visit, draft)


async def _service_down(visit: Session, draft: OrderDraft) -> None:
    again = Button(visit.t.plain("button.try_again"), data=data.for_draft(draft, "show"), style="primary")
    await visit.show(Screen(visit.t("service.down"), ((again,), leave_row(visit.t, draft))))


async def _back(visit: Session, draft: OrderDraft) -> None:
    await _keep(visit, step_back(draft))


async def _again(visit: Session, _: OrderDraft) -> None:
    await show_draft(visit)


async def leave(visit: Session, draft: OrderDraft) -> None:
    """Put the draft away for good."""
    await visit.desk.drafts.cancel(draft, visit.update_id)
    await visit.show(Screen(visit.t("draft.cancelled"), (send_row(visit.t),)))


COMMON: Mapping[str, Callable[[Session, OrderDraft], Awaitable[None]]] = {
    "back": _back,
    "cancel": leave,
    "show": _again,
}
"""The buttons that every question has."""


async def stale(visit: Session, draft_id: str) -> None:
    """A button of a draft that isn't open any more explains itself and offers the way on."""
    draft = await visit.desk.drafts.get(draft_id)
    mine = draft is not None and draft.chat_id == visit.chat_id
    if draft is None or not mine:
        await explain(visit, "stale.button")
    elif draft.status is DraftStatus.PLACED:
        await _placed(visit, draft)
    elif draft.status is DraftStatus.LAPSED and visit.draft is None:
        await visit.acknowledge(visit.t.plain("stale.lapsed"))
        await visit.say(lapsed.screen(visit.t, draft))
    else:
        await explain(visit, "stale.cancelled" if draft.status is DraftStatus.CANCELLED else "stale.button")


async def explain(visit: Session, key: str) -> None:
    """Answer a press of a button that no longer works, and show the question that is open, or how to begin."""
    await visit.acknowledge(visit.t.plain(key))
    visit.message_id = None
    if visit.draft is not None and visit.draft.status is DraftStatus.OPEN:
        await show_draft(visit)
    else:
        await visit.show(Screen(visit.t(key), (send_row(visit.t),)))


async def _placed(visit: Session, draft: OrderDraft) -> None:
    """A second tap on Confirm changes nothing; an older button shows how the order stands."""
    await visit.acknowledge(visit.t.plain("stale.placed"))
    async with visit.desk.store.reading() as tx:
        order = await OrderRepository(tx).of_draft(draft.id)
    if order is not None and visit.message_id == draft.message_id:
        await visit.update(await review.agreed(visit, draft, order))
    elif order is not None:
        now, help_offered = visit.desk.clock.now(), visit.desk.help.is_offered
        await visit.post(outcome.state(visit.t, order, now, visit.zone, help_offered=help_offered))


def open_draft(visit: Session) -> OrderDraft:
    """The draft of this visit, where the map says that there is one."""
    if visit.draft is None:
        raise RuntimeError("the conversation was entered without a draft")
    return visit.draft
