"""Asking and being answered: a question is shown, its answer goes to the screen that asked, and the next one is shown.

What no longer fits, a button of an answered question or of an order that has been placed, explains itself and leads
back to the question that is open.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace

from bot.checkout.draft import Ask, DraftStatus, OrderDraft
from bot.checkout.flow import step_back
from bot.checkout.open_draft import DRAFT, is_replayed, open_draft
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


async def take_typed(session: Session, text: str) -> None:
    """Give what was typed to the question that is open."""
    await _take(session, QUESTIONS[open_draft(session).ask].typed, text)


async def take_button(session: Session, action: str, argument: str) -> None:
    """Do what a button of the open question says; `action` is one of its buttons or of `COMMON`."""
    draft = open_draft(session)
    common = COMMON.get(action)
    if common is not None and not is_replayed(session):
        await common(session, draft)
    else:
        await _take(session, QUESTIONS[draft.ask].buttons[action], argument)


async def _take(session: Session, answer: Answer, given: str) -> None:
    draft = open_draft(session)
    if is_replayed(session):
        await show_draft(session)
        return
    try:
        found = await answer(session, draft, given)
    except Rejection as rejection:
        await _reject(session, draft, rejection)
    except SettlementFailure:
        await _service_down(session, draft)
    else:
        if isinstance(found, Screen):
            await session.show(found)
        else:
            await _keep(session, found)


async def _keep(session: Session, draft: OrderDraft) -> None:
    session[DRAFT] = await session.desk.drafts.save(draft, session.update_id)
    if session[DRAFT] is None:
        session[DRAFT] = await session.desk.drafts.get(draft.id)
    await show_draft(session)


async def show_draft(session: Session) -> None:
    """Show the question that the draft waits for."""
    draft = open_draft(session)
    await session.acknowledge()
    if draft.status is not DraftStatus.OPEN:
        await stale(session, draft.id)
        return
    try:
        await session.show(await QUESTIONS[draft.ask].show(session, draft))
    except Rejection as rejection:
        await _reject(session, draft, rejection)
    except SettlementFailure:
        await _service_down(session, draft)


async def _reject(session: Session, draft: OrderDraft, rejection: Rejection) -> None:
    """Say why, and ask the same question again. A sum that no longer fits is asked for, whichever screen found it."""
    if too_many.is_one(rejection):
        await session.show(too_many.screen(session.t, draft, session.reason(rejection)))
        return
    session.notice = Html("\n".join(filter(None, (session.notice, session.reason(rejection)))))
    if rejection.key.startswith("amount.") and draft.ask is Ask.REVIEW:
        await _keep(session, replace(draft, ask=Ask.AMOUNT))
        return
    if draft.ask is Ask.REVIEW:
        session.message_id = None
    try:
        await session.show(await QUESTIONS[draft.ask].show(session, draft))
    except Rejection:
        await _keep(session, replace(draft, ask=Ask.DESTINATION))
    except SettlementFailure:
        await _service_down(session, draft)


async def _service_down(session: Session, draft: OrderDraft) -> None:
    again = Button(session.t.plain("button.try_again"), data=data.for_draft(draft, "show"), style="primary")
    await session.show(Screen(session.t("service.down"), ((again,), leave_row(session.t, draft))))


async def _back(session: Session, draft: OrderDraft) -> None:
    await _keep(session, step_back(draft))


async def _again(session: Session, _: OrderDraft) -> None:
    await show_draft(session)


async def leave(session: Session, draft: OrderDraft) -> None:
    """Put the draft away for good."""
    await session.desk.drafts.cancel(draft, session.update_id)
    await session.show(Screen(session.t("draft.cancelled"), (send_row(session.t),)))


COMMON: Mapping[str, Callable[[Session, OrderDraft], Awaitable[None]]] = {
    "back": _back,
    "cancel": leave,
    "show": _again,
}
"""The buttons that every question has."""


async def stale(session: Session, draft_id: str) -> None:
    """A button of a draft that isn't open any more explains itself and offers the way on."""
    draft = await session.desk.drafts.get(draft_id)
    mine = draft is not None and draft.chat_id == session.chat_id
    if draft is None or not mine:
        await explain(session, "stale.button")
    elif draft.status is DraftStatus.PLACED:
        await _placed(session, draft)
    elif draft.status is DraftStatus.LAPSED and session[DRAFT] is None:
        await session.acknowledge(session.t.plain("stale.lapsed"))
        await session.say(lapsed.screen(session.t, draft))
    else:
        await explain(session, "stale.cancelled" if draft.status is DraftStatus.CANCELLED else "stale.button")


async def explain(session: Session, key: str) -> None:
    """Answer a press of a button that no longer works, and show the question that is open, or how to begin."""
    await session.acknowledge(session.t.plain(key))
    session.message_id = None
    draft = session[DRAFT]
    if draft is not None and draft.status is DraftStatus.OPEN:
        await show_draft(session)
    else:
        await session.show(Screen(session.t(key), (send_row(session.t),)))


async def _placed(session: Session, draft: OrderDraft) -> None:
    """A second tap on Confirm changes nothing; an older button shows how the order stands."""
    await session.acknowledge(session.t.plain("stale.placed"))
    async with session.desk.store.reading() as tx:
        order = await OrderRepository(tx).of_draft(draft.id)
    if order is not None and session.message_id == draft.message_id:
        await session.update(await review.agreed(session, draft, order))
    elif order is not None:
        await session.post(session.desk.status_messages.build_screen(session, order))
