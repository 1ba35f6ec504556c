"""The conversation as PTB runs it: each step of `flow.STEPS` is a state with its own handlers (drawn in `flow.mmd`).

PTB's `ConversationHandler` is the map; the memory is not. Draft and step are rows of ours, loaded for each update
before it comes here, and the state is read from them each time: a crash, a second process or a draft that was changed
elsewhere can't leave it behind.
"""

from collections.abc import Collection
from typing import Any

from telegram import Update
from telegram.ext import (
    Application,
    BaseHandler,
    CallbackQueryHandler,
    CommandHandler,
    ConversationHandler,
    MessageHandler,
    filters,
)

from bot.checkout import one_line_handlers as lines
from bot.checkout.draft import Ask, OrderDraft
from bot.checkout.flow import STEPS
from bot.checkout.open_draft import DRAFT, is_replayed, open_draft
from bot.checkout.screens import limit_warning as too_many
from bot.checkout.screens.formatting import format_draft_line
from bot.checkout.screens.parts import has_answers
from bot.checkout.steps import COMMON, QUESTIONS, leave, show_draft, stale, take_button, take_typed
from bot.infra.i18n import Html
from bot.infra.telegram.ui import callback_data as data
from bot.infra.telegram.ui.handling import PRIVATE, Context, Handler
from bot.infra.telegram.ui.screen import Button, Screen
from bot.infra.telegram.ui.session import SESSION, Session
from bot.users.screens import start
from bot.users.screens.buttons import send_row

TYPED = PRIVATE & ~filters.COMMAND


class DraftConversation(ConversationHandler[Context]):
    """PTB's handler without its memory: the state is the step of the chat's draft, read for each update."""

    def check_update(self, update: object) -> Any:  # noqa: ANN401  PTB hands it to `handle_update`
        """Return the first handler that takes the update: of the draft's step, of the beginnings, of the fallbacks."""
        session = SESSION.get(None)
        if session is None or not isinstance(update, Update):
            return None
        handlers, draft = list(self.entry_points), session[DRAFT]
        if draft is not None:
            handlers = [*self.states[draft.ask], *handlers, *self.fallbacks]
        for handler in handlers:
            check = handler.check_update(update)
            if check is not None and check is not False:
                return handler, check
        return None

    async def handle_update(
        self,
        update: Update,
        application: Application[Any, Context, Any, Any, Any, Any],
        check_result: Any,  # noqa: ANN401  what `check_update` returned
        context: Context,
    ) -> None:
        """Let the handler take the update. What it does to the draft is the next update's state."""
        handler, check = check_result
        await handler.handle_update(update, application, check, context)


class QuestionButtons(BaseHandler[Update, Context, object]):
    """Takes the buttons of one question, as long as the draft is as it was when they were shown."""

    def __init__(self, actions: Collection[str]) -> None:
        super().__init__(_answer_pressed)
        self.actions = frozenset(actions)

    def check_update(self, update: object) -> data.DraftPress | None:
        """Return the press, where it is one of these."""
        session = SESSION.get(None)
        press = press_in(update) if isinstance(update, Update) else None
        draft = None if session is None else session[DRAFT]
        if press is None or session is None or draft is None or press.action not in self.actions:
            return None
        is_current = (press.draft_id, press.revision) == (draft.id, draft.revision)
        return press if is_current and not is_replayed(session) else None


def conversation() -> DraftConversation:
    """Build the conversation: from `/send` through the questions to the review; confirming or leaving ends it."""
    return DraftConversation(
        entry_points=[CommandHandler("send", _send, filters=PRIVATE)],
        states={ask: _handlers(ask) for ask in STEPS},
        fallbacks=[CommandHandler("cancel", _cancel, filters=PRIVATE)],
    )


def _handlers(ask: Ask) -> list[Handler]:
    return [MessageHandler(TYPED, _answer_typed), QuestionButtons({*QUESTIONS[ask].buttons, *COMMON})]


def around_the_conversation() -> list[Handler]:
    """Return what begins or continues a draft by a button, and what is said while no draft is open."""
    return [
        CallbackQueryHandler(_new, pattern=f"^{data.NEW}$"),
        CallbackQueryHandler(_over, pattern=f"^{data.OVER}$"),
        CallbackQueryHandler(_other_press, pattern=data.DRAFT_PATTERN),
        CommandHandler("cancel", _nothing_to_cancel, filters=PRIVATE),
        MessageHandler(PRIVATE, _idle),
        CallbackQueryHandler(_unknown_press),
    ]


async def _send(update: Update, _: Context) -> None:
    """A question to begin with; or all at once, in the line after the command."""
    session = SESSION.get()
    _command, *line = (_text_of(update) or "").split(maxsplit=1)
    if line:
        await lines.begin(session, line[0])
    else:
        await _begin_or_ask(session)


async def _new(_: Update, __: Context) -> None:
    session = SESSION.get()
    await session.acknowledge()
    # The button also stands under notifications of orders, which must not be written over.
    session.message_id = None
    await _begin_or_ask(session)


async def _over(_: Update, __: Context) -> None:
    session = SESSION.get()
    await session.acknowledge()
    await _begin(session)


async def _begin_or_ask(session: Session) -> None:
    """A new draft; where one with answers is open, the question whether to go on with that."""
    draft = session[DRAFT]
    if draft is not None and not is_replayed(session) and has_answers(draft):
        await session.show(_unfinished(session, draft))
    else:
        await _begin(session)


async def _begin(session: Session) -> None:
    if not is_replayed(session):
        session[DRAFT] = await session.desk.drafts.begin(session.person.id, session.chat_id, session.update_id)
        session.notice = await too_many.foretold(session) or session.notice
    await show_draft(session)


async def _answer_typed(update: Update, _: Context) -> None:
    session = SESSION.get()
    text = _text_of(update)
    if text is None:
        session.notice = session.t("talk.only_text")
        await show_draft(session)
    elif open_draft(session).ask is not Ask.DESTINATION or not await lines.take_line(session, text):
        await take_typed(session, text)


async def _answer_pressed(update: Update, _: Context) -> None:
    session, press = SESSION.get(), press_in(update)
    await session.acknowledge()
    if press is not None:
        await take_button(session, press.action, press.argument)


async def _other_press(update: Update, _: Context) -> None:
    """A button that no open question has: it continues a draft, was pressed twice, or explains itself."""
    session, press = SESSION.get(), press_in(update)
    draft = session[DRAFT]
    if press is None:
        return
    if press.action == "takeup":
        await _take_up(session, press.draft_id)
    elif draft is None or press.draft_id != draft.id:
        await stale(session, press.draft_id)
    elif is_replayed(session):
        await show_draft(session)
    else:
        await _outdated(session)


async def _outdated(session: Session) -> None:
    """A button of a question that has been answered. A second tap on the newest one needs no second question."""
    if not session.is_newest_question:
        await session.acknowledge(session.t.plain("stale.button"))
        session.message_id = None
    await show_draft(session)


async def _cancel(_: Update, __: Context) -> None:
    session = SESSION.get()
    await leave(session, open_draft(session))


async def _take_up(session: Session, draft_id: str) -> None:
    await session.acknowledge()
    draft = await session.desk.drafts.get(draft_id)
    mine = draft if draft is not None and draft.chat_id == session.chat_id else None
    taken = await session.desk.drafts.take_up(mine, session.update_id) if mine is not None else None
    if taken is None:
        await stale(session, draft_id)
        return
    session[DRAFT] = taken
    await show_draft(session)


def _unfinished(session: Session, draft: OrderDraft) -> Screen:
    go_on = Button(session.t.plain("draft.continue"), data=data.for_draft(draft, "show"), style="primary")
    anew = Button(session.t.plain("draft.start_over"), data=data.OVER)
    text = session.t("draft.unfinished", line=Html(format_draft_line(session.t, draft)))
    return Screen(text, ((go_on,), (anew,)))


async def _nothing_to_cancel(_: Update, __: Context) -> None:
    session = SESSION.get()
    await session.show(Screen(session.t("draft.nothing_to_cancel"), (send_row(session.t),)))


async def _idle(update: Update, _: Context) -> None:
    """An order in one line; words to nobody in particular; and commands that there are none of."""
    session = SESSION.get()
    text = _text_of(update)
    if text is not None and await _is_order(session, update, text):
        await lines.begin(session, text)
        return
    is_command = text is not None and text.startswith("/")
    message = update.effective_message
    if not is_command and message is not None and await session.desk.offer_to_forward(session, message):
        return
    if is_command:
        session.notice = session.t("talk.unknown_command")
    await session.show(session.with_resume(await start.show(session)))


async def _is_order(session: Session, update: Update, text: str) -> bool:
    """What somebody else wrote, and was merely passed on, is no wish of this person's."""
    message = update.effective_message
    if session[DRAFT] is not None or text.startswith("/") or message is None or message.forward_origin is not None:
        return False
    return await lines.is_order(session, text)


def press_in(update: Update) -> data.DraftPress | None:
    """Return the button of a draft that an update is a press of, or None."""
    query = update.callback_query
    return data.read_draft_press(query.data or "") if query else None


def _text_of(update: Update) -> str | None:
    return update.effective_message.text if update.effective_message else None


async def _unknown_press(_: Update, __: Context) -> None:
    await SESSION.get().explain("stale.button")
