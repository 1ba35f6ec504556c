"""The conversation: the whole map on one page (drawn in `flow.mmd`).

The map is PTB's `ConversationHandler`; the memory is not. Draft and step are rows of ours, loaded for each update
before it comes here, and the handler's own state is set from them each time: a crash, a second process or a draft
changed elsewhere can't leave it behind.
"""

import warnings

from telegram import Update
from telegram.ext import (
    CallbackQueryHandler,
    CommandHandler,
    ConversationHandler,
    MessageHandler,
    filters,
)
from telegram.warnings import PTBUserWarning

from bot.checkout import one_line_handlers as lines
from bot.checkout.draft import OrderDraft
from bot.checkout.screens import limit_warning as too_many
from bot.checkout.screens import start
from bot.checkout.screens.parts import has_answers, new_row, with_way_back
from bot.checkout.steps import END, SCREENS, leave, open_draft, show_draft, stale, take, way_on
from bot.infra.i18n import Html
from bot.infra.telegram.ui import callback_data as data
from bot.infra.telegram.ui.handling import PRIVATE, Context, Handler
from bot.infra.telegram.ui.screen import Button, Screen
from bot.infra.telegram.ui.session import SESSION, Pressed, Session, Typed
from bot.orders.screens import phrases as words
from bot.support.user_chat import handlers as tickets


class DraftConversation(ConversationHandler[Context]):
    """PTB's handler as the map alone: its state is what the chat's draft says, for each update anew."""

    def check_update(self, update: object) -> object:  # type: ignore[override]
        """Load the state from the draft of this visit, then choose the handler as PTB does."""
        visit = SESSION.get(None)
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
                CallbackQueryHandler(_new, pattern=f"^{data.NEW}$"),
                CallbackQueryHandler(_over, pattern=f"^{data.OVER}$"),
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
    """A question to begin with; or all at once, in the line after the command."""
    visit = SESSION.get()
    _command, *line = (_text_of(update) or "").split(maxsplit=1)
    return await lines.begin(visit, line[0]) if line else await _begin_or_ask(visit)


async def _new(_: Update, __: Context) -> object:
    visit = SESSION.get()
    await visit.acknowledge()
    # The button also stands under news of orders, which must not be written over.
    visit.message_id = None
    return await _begin_or_ask(visit)


async def _over(_: Update, __: Context) -> object:
    visit = SESSION.get()
    await visit.acknowledge()
    return await _begin(visit)


async def _begin_or_ask(visit: Session) -> object:
    """A new draft; where one with answers is open, the question whether to go on with that."""
    if visit.draft is not None and not visit.is_replayed and has_answers(visit.draft):
        await visit.show(_unfinished(visit, visit.draft))
        return visit.draft.ask
    return await _begin(visit)


async def _begin(visit: Session) -> object:
    if not visit.is_replayed:
        visit.draft = await visit.desk.drafts.begin(visit.person.id, visit.chat_id, visit.update_id)
        visit.notice = await too_many.foretold(visit) or visit.notice
    return await show_draft(visit)


async def _typed(update: Update, _: Context) -> object:
    visit = SESSION.get()
    text = _text_of(update)
    if text is None:
        visit.notice = visit.t("talk.only_text")
        return await show_draft(visit)
    asked = await lines.at_destination(visit, text)
    return await take(visit, Typed(text)) if asked is None else asked


async def _pressed(update: Update, _: Context) -> object:
    visit = SESSION.get()
    query = update.callback_query
    press = data.read_draft_press(query.data or "") if query else None
    draft = visit.draft
    if press is None:
        return END
    if press.action == "takeup":
        return await _take_up(visit, press.draft_id)
    if draft is None or press.draft_id != draft.id:
        return await stale(visit, press.draft_id)
    if visit.is_replayed:
        return await show_draft(visit)
    if press.revision != draft.revision:
        return await _outdated(visit)
    await visit.acknowledge()
    return await take(visit, Pressed(press.action, press.argument))


async def _outdated(visit: Session) -> object:
    """A button of a question that has been answered. A second tap on the newest one needs no second question."""
    if visit.desk.prompts.is_current(visit.chat_id, visit.message_id):
        return await show_draft(visit)
    await visit.acknowledge(visit.t.plain("stale.button"))
    visit.message_id = None
    return await show_draft(visit)


async def _cancel(_: Update, __: Context) -> object:
    visit = SESSION.get()
    return await leave(visit, open_draft(visit))


async def _take_up(visit: Session, draft_id: str) -> object:
    await visit.acknowledge()
    draft = await visit.desk.drafts.get(draft_id)
    if draft is None or draft.chat_id != visit.chat_id:
        return await stale(visit, draft_id)
    taken = await visit.desk.drafts.take_up(draft, visit.update_id)
    if taken is None:
        return await stale(visit, draft_id)
    visit.draft = taken
    return await show_draft(visit)


def _unfinished(visit: Session, draft: OrderDraft) -> Screen:
    go_on = Button(visit.t.plain("draft.continue"), data=data.for_draft(draft, "show"), style="primary")
    anew = Button(visit.t.plain("draft.start_over"), data=data.OVER)
    text = visit.t("draft.unfinished", line=Html(words.draft_line(visit.t, draft)))
    return Screen(text, ((go_on,), (anew,)))


async def _nothing_to_cancel(_: Update, __: Context) -> None:
    visit = SESSION.get()
    await visit.show(Screen(visit.t("draft.nothing_to_cancel"), (new_row(visit.t),)))


async def _idle(update: Update, _: Context) -> None:
    """An order in one line; words to nobody in particular; and commands that there are none of."""
    visit = SESSION.get()
    text = _text_of(update)
    if text is not None and await _is_order(visit, update, text):
        await lines.begin(visit, text)
        return
    is_command = text is not None and text.startswith("/")
    message = update.effective_message
    if not is_command and message is not None and await tickets.offers_to_pass_on(visit, message):
        return
    if is_command:
        visit.notice = visit.t("talk.unknown_command")
    await visit.show(with_way_back(visit.t, visit.draft, await start.show(visit)))


async def _is_order(visit: Session, update: Update, text: str) -> bool:
    """What somebody else wrote, and was merely passed on, is no wish of this person's."""
    message = update.effective_message
    if visit.draft is not None or text.startswith("/") or message is None or message.forward_origin is not None:
        return False
    return await lines.is_order(visit, text)


def _text_of(update: Update) -> str | None:
    return update.effective_message.text if update.effective_message else None


async def _unknown_press(_: Update, __: Context) -> None:
    await way_on(SESSION.get(), "stale.button")
