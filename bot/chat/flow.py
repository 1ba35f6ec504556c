"""The conversation: the whole map on one page (drawn in `flow.mmd`).

The map is PTB's `ConversationHandler`; the memory is not. Draft and step are rows of ours, loaded for each update
before it comes here, and the handler's own state is set from them each time: a crash, a second process or a draft
changed elsewhere can't leave it behind.
"""

import warnings
from collections.abc import Awaitable, Callable
from dataclasses import replace
from types import ModuleType

from telegram import Update
from telegram.ext import (
    BaseHandler,
    CallbackQueryHandler,
    CommandHandler,
    ContextTypes,
    ConversationHandler,
    MessageHandler,
    filters,
)
from telegram.warnings import PTBUserWarning

from bot.actions.ports import SettlementFailure
from bot.chat import data
from bot.chat.desk import VISIT, Pressed, Said, Typed, Visit
from bot.chat.screen import Button, Screen
from bot.chat.screens import amount, channel, destination, holder, number, review, start
from bot.chat.screens.parts import leave_row, new_row
from bot.domain.draft import Ask, DraftStatus, OrderDraft, step_back
from bot.domain.errors import Rejection

SCREENS: dict[Ask, ModuleType] = {
    Ask.DESTINATION: destination,
    Ask.NUMBER: number,
    Ask.HOLDER: holder,
    Ask.AMOUNT: amount,
    Ask.CHANNEL: channel,
    Ask.REVIEW: review,
}
END = ConversationHandler.END
Context = ContextTypes.DEFAULT_TYPE
Handler = BaseHandler[Update, Context, object]
PRIVATE = filters.ChatType.PRIVATE & filters.UpdateType.MESSAGE


class DraftConversation(ConversationHandler[Context]):
    """PTB's handler as the map alone: its state is what the chat's draft says, for each update anew."""

    def check_update(self, update: object) -> object:  # type: ignore[override]
        """Load the state from the draft of this visit, then choose the handler as PTB does."""
        visit = VISIT.get(None)
        if visit is not None and isinstance(update, Update) and update.effective_user and update.effective_chat:
            key = self._get_key(update)
            if visit.draft is None:
                self._conversations.pop(key, None)
            else:
                self._conversations[key] = visit.draft.ask
        return super().check_update(update)


def conversation() -> DraftConversation:
    """The map: from `/send` through the questions to the review; confirming or leaving ends it."""
    typed = MessageHandler(PRIVATE & ~filters.COMMAND, _typed)
    pressed = CallbackQueryHandler(_pressed, pattern=data.DRAFT_PATTERN)
    with warnings.catch_warnings():
        # PTB wonders about presses on older messages; ours carry the draft's revision, and are checked.
        warnings.filterwarnings("ignore", category=PTBUserWarning)
        return DraftConversation(
            entry_points=[
                CommandHandler("send", _send, filters=PRIVATE),
                CallbackQueryHandler(_begin, pattern=f"^{data.NEW}$"),
                pressed,
            ],
            states={ask: [typed, pressed] for ask in SCREENS},
            fallbacks=[CommandHandler("cancel", _cancel, filters=PRIVATE)],
            allow_reentry=True,
        )


def around_the_conversation() -> list[Handler]:
    """What is said while no draft is open."""
    return [
        CommandHandler("cancel", _nothing_to_cancel, filters=PRIVATE),
        MessageHandler(PRIVATE, _idle),
        CallbackQueryHandler(_unknown_press),
    ]


async def _send(update: Update, _: Context) -> object:
    visit = VISIT.get()
    if visit.draft is not None and not visit.is_replayed and visit.draft.method is not None:
        await visit.show(_unfinished(visit, visit.draft))
        return visit.draft.ask
    return await _begin(update, _)


async def _begin(_: Update, __: Context) -> object:
    visit = VISIT.get()
    await visit.acknowledge()
    if not visit.is_replayed:
        visit.draft = await visit.desk.drafts.begin(visit.person.id, visit.chat_id, visit.update_id)
    return await show_draft(visit)


async def _typed(update: Update, _: Context) -> object:
    visit = VISIT.get()
    text = update.effective_message.text if update.effective_message else None
    if text is None:
        visit.notice = visit.t("talk.only_text")
        return await show_draft(visit)
    return await _take(visit, Typed(text))


async def _pressed(update: Update, _: Context) -> object:
    visit = VISIT.get()
    query = update.callback_query
    press = data.read_draft_press(query.data or "") if query else None
    draft = visit.draft
    if press is None:
        return END
    if press.action == "takeup":
        return await _take_up(visit, press.draft_id)
    if draft is None or press.draft_id != draft.id:
        return await _stale(visit, press.draft_id)
    if visit.is_replayed:
        return await show_draft(visit)
    if press.revision != draft.revision:
        await visit.acknowledge(visit.t.plain("stale.button"))
        visit.message_id = None
        return await show_draft(visit)
    await visit.acknowledge()
    return await _take(visit, Pressed(press.action, press.argument))


async def _take(visit: Visit, said: Said) -> object:
    """Give the answer to the screen that asked, keep what it makes of the draft, and show what comes next."""
    draft = _open(visit)
    if visit.is_replayed:
        return await show_draft(visit)
    if isinstance(said, Pressed) and said.action in COMMON:
        return await COMMON[said.action](visit, draft)
    try:
        outcome = await SCREENS[draft.ask].answer(visit, draft, said)
    except Rejection as rejection:
        return await _reject(visit, draft, rejection)
    except SettlementFailure:
        return await _service_down(visit, draft)
    if isinstance(outcome, Screen):
        await visit.show(outcome)
        return draft.ask if await _still_open(visit, draft) else END
    return await _keep(visit, outcome)


async def _keep(visit: Visit, draft: OrderDraft) -> object:
    visit.draft = await visit.desk.drafts.save(draft, visit.update_id)
    if visit.draft is None:
        visit.draft = await visit.desk.drafts.get(draft.id)
    return await show_draft(visit)


async def show_draft(visit: Visit) -> object:
    """Show the question that the draft waits for; the state it is in."""
    draft = _open(visit)
    await visit.acknowledge()
    if draft.status is not DraftStatus.OPEN:
        return await _stale(visit, draft.id)
    try:
        await visit.show(await SCREENS[draft.ask].show(visit, draft))
    except Rejection as rejection:
        return await _reject(visit, draft, rejection)
    except SettlementFailure:
        return await _service_down(visit, draft)
    return draft.ask


async def _reject(visit: Visit, draft: OrderDraft, rejection: Rejection) -> object:
    """Say why, and ask the same question again. A sum that no longer fits is asked for, whichever screen found it."""
    visit.notice = visit.t.tell(rejection)
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


async def _service_down(visit: Visit, draft: OrderDraft) -> object:
    again = Button(visit.t.plain("button.try_again"), data=data.for_draft(draft, "show"), style="primary")
    await visit.show(Screen(visit.t("service.down"), ((again,), leave_row(visit.t, draft))))
    return draft.ask


async def _back(visit: Visit, draft: OrderDraft) -> object:
    return await _keep(visit, step_back(draft))


async def _again(visit: Visit, _: OrderDraft) -> object:
    return await show_draft(visit)


async def _leave(visit: Visit, draft: OrderDraft) -> object:
    await visit.desk.drafts.cancel(draft, visit.update_id)
    await visit.show(Screen(visit.t("draft.cancelled"), (new_row(visit.t),)))
    return END


COMMON: dict[str, Callable[[Visit, OrderDraft], Awaitable[object]]] = {
    "back": _back,
    "cancel": _leave,
    "show": _again,
}


async def _cancel(_: Update, __: Context) -> object:
    visit = VISIT.get()
    return await _leave(visit, _open(visit))


async def _take_up(visit: Visit, draft_id: str) -> object:
    await visit.acknowledge()
    draft = await visit.desk.drafts.get(draft_id)
    if draft is None or draft.chat_id != visit.chat_id:
        return await _stale(visit, draft_id)
    taken = await visit.desk.drafts.take_up(draft, visit.update_id)
    if taken is None:
        return await _stale(visit, draft_id)
    visit.draft = taken
    return await show_draft(visit)


async def _stale(visit: Visit, draft_id: str) -> object:
    """A button of a draft that isn't open any more explains itself and offers the way on."""
    draft = await visit.desk.drafts.get(draft_id)
    mine = draft is not None and draft.chat_id == visit.chat_id
    status = draft.status if draft is not None and mine else None
    key = {DraftStatus.PLACED: "stale.placed", DraftStatus.CANCELLED: "stale.cancelled"}.get(
        status or DraftStatus.OPEN, "stale.button"
    )
    await visit.acknowledge(visit.t.plain(key))
    if visit.draft is not None and visit.draft.status is DraftStatus.OPEN:
        return visit.draft.ask
    if status is not DraftStatus.PLACED:
        visit.message_id = None
        await visit.show(Screen(visit.t(key), (new_row(visit.t),)))
    return END


async def _still_open(visit: Visit, draft: OrderDraft) -> bool:
    current = await visit.desk.drafts.get(draft.id)
    return current is not None and current.status is DraftStatus.OPEN


def _unfinished(visit: Visit, draft: OrderDraft) -> Screen:
    go_on = Button(visit.t.plain("draft.continue"), data=data.for_draft(draft, "show"), style="primary")
    anew = Button(visit.t.plain("draft.start_over"), data=data.NEW)
    return Screen(visit.t("draft.unfinished"), ((go_on,), (anew,)))


def _open(visit: Visit) -> OrderDraft:
    if visit.draft is None:
        raise RuntimeError("the conversation was entered without a draft")
    return visit.draft


async def _nothing_to_cancel(_: Update, __: Context) -> None:
    visit = VISIT.get()
    await visit.show(Screen(visit.t("draft.nothing_to_cancel"), (new_row(visit.t),)))


async def _idle(_: Update, __: Context) -> None:
    visit = VISIT.get()
    await visit.show(await start.show(visit))


async def _unknown_press(_: Update, __: Context) -> None:
    visit = VISIT.get()
    await visit.acknowledge(visit.t.plain("stale.button"))
