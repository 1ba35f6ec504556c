"""The conversation as PTB runs it: each step is a state with its own handlers (`flow.STEPS` is drawn in `flow.mmd`).

PTB's `ConversationHandler` picks the handler, but keeps no state. Draft and step are rows that are loaded for each
update, so a crash, a second process or a change elsewhere can't leave the state behind.
"""

from typing import Any

from telegram import Message, Update
from telegram.ext import (
    Application,
    ApplicationHandlerStop,
    BaseHandler,
    CommandHandler,
    ConversationHandler,
    MessageHandler,
)

from bot.checkout.buttons import DraftAction, DraftButton, LightningButton, StartOverButton
from bot.checkout.contact_handlers import ContactHandlers
from bot.checkout.draft import OrderDraft, Step
from bot.checkout.handlers import DraftHandlers
from bot.checkout.one_line import ASKS
from bot.checkout.one_line_handlers import OneLineHandlers
from bot.checkout.open_draft import DRAFT, is_late, is_replayed, open_draft
from bot.checkout.screens import draft as screens
from bot.checkout.screens.lightning import explain_lightning
from bot.checkout.service import DraftService
from bot.core.errors import Rejection
from bot.infra.telegram.ui.router import PRIVATE, Context, Handler, Routes
from bot.infra.telegram.ui.screen import Screen
from bot.orders.status_questions.handlers import StatusQuestionHandlers, find_invoice
from bot.users.buttons import NewOrderButton
from bot.users.questions import TYPED
from bot.users.session import SESSION, Session, as_handler, current_session
from bot.users.welcome import make_welcome


class DraftConversation(ConversationHandler[Context]):
    """PTB's handler without its memory: the state is the step of the chat's draft, read for each update."""

    def check_update(self, update: object) -> Any:  # noqa: ANN401  PTB hands it to `handle_update`
        """Return the first handler that takes the update: of the draft's step, of the beginnings, of the fallbacks."""
        session = SESSION.get(None)
        if session is None or not isinstance(update, Update):
            return None
        handlers, draft = list(self.entry_points), session[DRAFT]
        if draft is not None:
            handlers = [*self.states[draft.step], *handlers, *self.fallbacks]
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
        """Pass the update to the handler. The draft that it saves decides the state of the next update."""
        handler, check = check_result
        await handler.handle_update(update, application, check, context)


class QuestionButtons(BaseHandler[Update, Context, object]):
    """Takes the buttons of one question, as long as the draft is as it was when they were shown."""

    def __init__(self, step: Step, draft_handlers: DraftHandlers) -> None:
        super().__init__(self._press)
        self._step = step
        self._draft_handlers = draft_handlers

    def check_update(self, update: object) -> DraftButton | None:
        """Return the pressed button if it is one of these."""
        session = SESSION.get(None)
        button = _button_in(update) if isinstance(update, Update) else None
        draft = None if session is None else session[DRAFT]
        if button is None or session is None or draft is None or draft.step is not self._step:
            return None
        if button.action not in self.actions_of(draft):
            return None
        is_current = (button.draft_id, button.revision) == (draft.id, draft.revision)
        return button if is_current and not is_replayed(session) else None

    def actions_of(self, draft: OrderDraft) -> frozenset[DraftAction]:
        """Return what the buttons of the draft's question can do."""
        return self._draft_handlers.actions_of(draft)

    async def _press(self, update: Update, _: Context) -> None:
        session, button = current_session(), _button_in(update)
        await session.acknowledge()
        if button is not None:
            await self._draft_handlers.take_button(session, button)
        raise ApplicationHandlerStop


class Conversation:
    """Begin, continue and cancel orders that are put together."""

    def __init__(
        self,
        *,
        drafts: DraftService,
        draft_handlers: DraftHandlers,
        one_line: OneLineHandlers,
        contacts: ContactHandlers,
        status_questions: StatusQuestionHandlers,
    ) -> None:
        self._drafts = drafts
        self._draft_handlers = draft_handlers
        self._one_line = one_line
        self._contacts = contacts
        self._status_questions = status_questions

    def routes(self) -> Routes[Session]:
        """Return the buttons that work at any point."""
        routes = Routes[Session]()
        routes.add_button(NewOrderButton, self.new_order_button)
        routes.add_button(StartOverButton, self.start_over_button)
        routes.add_button(LightningButton, self.lightning_button)
        return routes

    def fallback_routes(self) -> Routes[Session]:
        """Return the buttons of drafts that the open question has not taken."""
        routes = Routes[Session](is_fallback=True)
        routes.add_button(DraftButton, self.other_draft_button)
        return routes

    def handlers(self) -> tuple[Handler, ...]:
        """Return the conversation, and what takes messages outside of it."""
        return (
            self.build(),
            CommandHandler("cancel", as_handler(self._nothing_to_cancel), filters=PRIVATE),
            MessageHandler(PRIVATE, as_handler(self._take_idle_message)),
        )

    def build(self) -> DraftConversation:
        """Return PTB's handler: from `/send` through the questions to the review; confirming or leaving ends it."""
        return DraftConversation(
            entry_points=[CommandHandler("send", as_handler(self._send), filters=PRIVATE)],
            states={step: self._state(step) for step in Step},
            fallbacks=[CommandHandler("cancel", as_handler(self._cancel), filters=PRIVATE)],
        )

    async def new_order_button(self, session: Session, _: NewOrderButton) -> None:
        """Begin a draft in a new message. The button is also under notifications, which have to stay."""
        await session.acknowledge()
        session.message_id = None
        await self._begin_or_ask(session)

    async def start_over_button(self, session: Session, _: StartOverButton) -> None:
        """Begin a draft in place of the open one, unless the user has continued that one since."""
        if is_late(session) and not is_replayed(session):
            await self._show_open_question(session, is_old=True)
            return
        await session.acknowledge()
        await self._begin(session)

    async def lightning_button(self, session: Session, _: LightningButton) -> None:
        """Explain Lightning in a new message. The review stays as it is, with its buttons."""
        await session.acknowledge()
        await session.send_message(Screen(explain_lightning(session.t)))

    async def other_draft_button(self, session: Session, button: DraftButton) -> None:
        """Take a button that the open question doesn't have: resume a draft, or explain an old button."""
        draft = session[DRAFT]
        if button.action is DraftAction.RESUME:
            await self._resume(session, button.draft_id)
        elif draft is None or button.draft_id != draft.id:
            await self._draft_handlers.explain_old_button(session, button.draft_id)
        elif is_replayed(session):
            await self._draft_handlers.show(session)
        else:
            # A second tap on an answer finds the next question in the same message, and needs no words. But who pressed
            # Confirm just as the review was shown again, with another rate, has to know that it did nothing. So does
            # whoever pressed a button before a later answer that arrived first: the answer stays.
            is_old = is_late(session) or self._draft_handlers.has_button(session, button.action)
            await self._show_open_question(session, is_old=is_old)

    def _state(self, step: Step) -> list[Handler]:
        return [
            MessageHandler(TYPED, as_handler(self._take_typed)),
            QuestionButtons(step, self._draft_handlers),
        ]

    async def _send(self, session: Session, update: Update) -> None:
        """Begin with a question, or with the line after the command."""
        _command, *line = (_text_of(update) or "").split(maxsplit=1)
        if line:
            await self._one_line.begin(session, line[0])
        else:
            await self._begin_or_ask(session)

    async def _begin_or_ask(self, session: Session) -> None:
        """Begin a draft. If one with answers is open, ask whether to continue it."""
        draft = session[DRAFT]
        if draft is not None and not is_replayed(session) and draft.has_answers:
            await session.show(screens.unfinished(session.t, draft))
        else:
            await self._begin(session)

    async def _begin(self, session: Session) -> None:
        if not is_replayed(session):
            session[DRAFT] = await self._drafts.begin(session.user.id, session.chat_id, session.update_id)
            session.notice = await self._draft_handlers.warn_of_limit(session) or session.notice
        await self._draft_handlers.show(session)

    async def _take_typed(self, session: Session, update: Update) -> None:
        """Take an answer to the draft's question, or a whole line in place of a destination."""
        message = update.effective_message
        if is_replayed(session):  # an earlier attempt has saved the answer
            await self._draft_handlers.show(session, in_question=True)
        elif is_late(session):
            await self._draft_handlers.show_late(session)
        elif message is not None:
            await self._answer(session, message)

    async def _answer(self, session: Session, message: Message) -> None:
        if message.contact is not None:
            await self._contacts.take(session, message.contact)
        elif (text := message.text) is None:
            await self._draft_handlers.record_refusal(session, Rejection("users.chat.only_text"))
            session.notice = session.t("users.chat.only_text")
            await self._draft_handlers.show(session)
        elif open_draft(session).terms or ASKS.match(text) or not await self._one_line.take_line(session, text):
            await self._draft_handlers.take_typed(session, text)

    async def _show_open_question(self, session: Session, *, is_old: bool = False) -> None:
        """Show the open question, in the pressed message if that is the newest one.

        A button of an older message is explained, and so is an old button of the newest message.
        """
        if is_old or not session.is_newest_question:
            await session.acknowledge(session.t.plain("users.stale.button"))
        if not session.is_newest_question:
            session.message_id = None
        await self._draft_handlers.show(session)

    async def _resume(self, session: Session, draft_id: str) -> None:
        await session.acknowledge()
        draft = await self._drafts.get(draft_id)
        own = draft if draft is not None and draft.chat_id == session.chat_id else None
        resumed = await self._drafts.resume(own, session.update_id) if own is not None else None
        if resumed is None:
            await self._draft_handlers.explain_old_button(session, draft_id)
            return
        session[DRAFT] = resumed
        await self._draft_handlers.show(session)

    async def _cancel(self, session: Session, _: Update) -> None:
        if is_late(session) and not is_replayed(session):
            await self._draft_handlers.show_late(session)
        else:
            await self._draft_handlers.leave(session, open_draft(session))

    async def _nothing_to_cancel(self, session: Session, _: Update) -> None:
        if not await self._status_questions.answer_cancel(session):
            await session.show(screens.nothing_to_cancel(session.t))

    async def _take_idle_message(self, session: Session, update: Update) -> None:
        """Take an order in one line, a question about an order, any other message, or an unknown command."""
        text, message = _text_of(update), update.effective_message
        if text is not None and await self._is_order(session, update, text):
            await self._one_line.begin(session, text)
            return
        if message is not None and message.contact is not None:
            await self._contacts.begin(session, message.contact)
            return
        is_command = text is not None and text.startswith("/")
        if not is_command and message is not None:
            is_idle = session[DRAFT] is None
            # The order first, and below it whether the message is for support.
            is_answered = is_idle and await self._status_questions.answer_question(session, message)
            for feature in session.infra.features:
                for take in feature.on_idle_message:
                    is_answered = await take(session, message) or is_answered
            if is_answered or (is_idle and await self._status_questions.answer(session, message)):
                return
        if is_command:
            session.notice = session.t("checkout.chat.unknown_command")
        elif await session.is_overtaken():
            session.notice = session.t("users.chat.late")
        await session.show(session.with_resume(await make_welcome(session)))

    async def _is_order(self, session: Session, update: Update, text: str) -> bool:
        """Return whether the message asks for an order. A forwarded message never does."""
        message = update.effective_message
        if session[DRAFT] is not None or text.startswith("/") or message is None or message.forward_origin is not None:
            return False
        if find_invoice(text) is not None or ASKS.match(text):
            return False
        return await self._one_line.is_order(session, text)


def _button_in(update: Update) -> DraftButton | None:
    query = update.callback_query
    return DraftButton.read(query.data or "") if query else None


def _text_of(update: Update) -> str | None:
    return update.effective_message.text if update.effective_message else None
