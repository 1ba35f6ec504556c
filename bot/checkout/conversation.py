"""The conversation as PTB's `ConversationHandler`: entry points, a state for each question, and fallbacks.

The row of the chat's draft is its memory. The state is the draft's step, which is read for each update. An answer is
saved together with the next step, before the next question is asked. So a crash, a second process or a change elsewhere
can't leave the state behind. `flow.STEPS` has the steps, and is drawn in `flow.mmd`.
"""

from collections.abc import Callable, Coroutine
from typing import Any, Final

from telegram import Update
from telegram.ext import BaseHandler, CallbackContext, CommandHandler, ConversationHandler, MessageHandler, filters

from bot.checkout import screens
from bot.checkout.answers import SharedContact, read_contact, take_contact, wait_for_ewallet
from bot.checkout.buttons import DraftAction, DraftButton, LightningButton, StartOverButton
from bot.checkout.draft import DraftStatus, OrderDraft, Step
from bot.checkout.handlers import COMMON, DraftHandlers
from bot.checkout.one_line import ASKS
from bot.checkout.one_line_handlers import OneLineHandlers
from bot.checkout.open_draft import DRAFT, draft_of, get_recipients, is_late, is_replayed, open_draft
from bot.checkout.screens import explain_lightning
from bot.checkout.service import DraftService
from bot.core.errors import Rejection
from bot.infra.i18n import Html, Translator
from bot.infra.telegram.ui.callbacks import Callback
from bot.infra.telegram.ui.routes import PRIVATE, Audience, Route, read_press
from bot.infra.telegram.ui.screen import Screen
from bot.orders.status_handlers import StatusAnswers, find_invoice
from bot.users.buttons import NewOrderButton, send_row
from bot.users.questions import TYPED
from bot.users.session import Session

END: Final = ConversationHandler.END
State = Step | int | None
"""The step in which a callback leaves the draft, `END` if no draft is open, or None if the update isn't for it."""

NO_APPLICATION: Final[Any] = None
"""`bot/updates.py` passes updates on, so PTB's `Application` isn't needed."""


class Context(CallbackContext[Any, Any, Any, Any]):
    """What PTB passes to a callback besides the update: the session, and the pressed button."""

    def __init__(self, session: Session) -> None:
        super().__init__(application=NO_APPLICATION)
        self.session = session
        self.button: Any = None

    @property
    def state(self) -> Step | int:
        """The state that the chat's draft has now."""
        draft = self.session[DRAFT]
        return draft.step if draft is not None and draft.status is DraftStatus.OPEN else END


class ButtonHandler(BaseHandler[Update, Context, object]):
    """PTB's handler of one kind of button. Callbacks find it in `context.button`."""

    def __init__(self, kind: type[Callback], callback: Callable[[Update, Context], Coroutine[Any, Any, State]]) -> None:
        super().__init__(callback)
        self.kind = kind

    def check_update(self, update: object) -> Callback | None:
        """Return the pressed button if it is of this kind."""
        button = read_press(update) if isinstance(update, Update) else None
        return button if isinstance(button, self.kind) else None

    def collect_additional_context(self, context: Context, _: Update, __: object, check_result: object) -> None:
        """Pass the button to the callback."""
        context.button = check_result


class DraftConversation(ConversationHandler[Context]):
    """PTB's handler with the draft's row as its memory."""

    async def take(self, session: Session, update: Update) -> bool:
        """Let a handler of the draft's state take the update, or an entry point, or a fallback. Return if one has."""
        context, draft = Context(session), session[DRAFT]
        of_state = () if draft is None else self.states[draft.step]
        for handler in (*of_state, *self.entry_points, *self.fallbacks):
            check = handler.check_update(update)
            if check is None or check is False:
                continue
            if await handler.handle_update(update, NO_APPLICATION, check, context) is not None:
                return True
        return False

    def list_routes(self) -> list[Route]:
        """Return the commands and buttons."""
        handlers = {*self.entry_points, *self.fallbacks, *(each for state in self.states.values() for each in state)}
        asked: set[type[Callback] | str] = {each.kind for each in handlers if isinstance(each, ButtonHandler)}
        asked |= {name for each in handlers if isinstance(each, CommandHandler) for name in each.commands}
        routes = (Route(asked=each, act=self.take, audience=Audience.EVERYONE) for each in asked)
        return sorted(routes, key=lambda route: route.name)


class Conversation:
    """Begin, continue and cancel orders that are put together."""

    def __init__(
        self,
        *,
        drafts: DraftService,
        draft_handlers: DraftHandlers,
        one_line: OneLineHandlers,
        status_answers: StatusAnswers,
    ) -> None:
        self._drafts = drafts
        self._draft_handlers = draft_handlers
        self._one_line = one_line
        self._status_answers = status_answers

    def build(self) -> DraftConversation:
        """Return PTB's handler: from `/send` through the questions to the review. Confirming or leaving ends it."""
        question: list[BaseHandler[Update, Context, object]] = [
            MessageHandler(TYPED, self._take_typed),
            ButtonHandler(DraftButton, self._take_button),
        ]
        return DraftConversation(
            entry_points=[
                CommandHandler("send", self._send, filters=PRIVATE),
                ButtonHandler(NewOrderButton, self._begin_order),
                ButtonHandler(StartOverButton, self._start_over),
                MessageHandler(PRIVATE & filters.CONTACT, self._begin_with_contact),
                MessageHandler(TYPED & filters.TEXT & ~filters.FORWARDED, self._begin_with_line),
            ],
            # All states have the same handlers. They pass the answer on to the file of the question, in `steps`.
            states=dict.fromkeys(Step, question),
            fallbacks=[
                CommandHandler("cancel", self._cancel, filters=PRIVATE),
                ButtonHandler(DraftButton, self._take_other_button),
                ButtonHandler(LightningButton, self._explain_lightning),
            ],
        )

    async def _send(self, _: Update, context: Context) -> State:
        """Begin with a question, or with the line after the command."""
        text = context.session.typed.text or "" if context.session.typed else ""
        _command, *line = text.split(maxsplit=1)
        if line:
            await self._one_line.begin(context.session, line[0])
        else:
            await self._begin_or_ask(context.session)
        return context.state

    async def _begin_order(self, _: Update, context: Context) -> State:
        """Begin a draft in a new message. The button is also under notifications, which have to stay."""
        await context.session.acknowledge()
        context.session.message_id = None
        await self._begin_or_ask(context.session)
        return context.state

    async def _start_over(self, _: Update, context: Context) -> State:
        """Begin a draft in place of the open one, unless the user has continued that one since."""
        session = context.session
        if is_late(session) and not is_replayed(session):
            await self._show_open_question(session, is_old=True)
        else:
            await session.acknowledge()
            if not is_replayed(session):
                session[DRAFT] = None  # the user has decided, and needs no notice
            await self._begin(session)
        return context.state

    async def _begin_with_contact(self, update: Update, context: Context) -> State:
        """Begin a draft with a shared contact. It asks for the e-wallet."""
        session, contact = context.session, _shared_contact(update)
        if contact is None:
            return None
        if not is_replayed(session):
            try:
                draft = wait_for_ewallet(draft_of(session), contact)
            except Rejection as rejection:
                await session.show(Screen(session.format_rejection(rejection), (send_row(session.t),)))
                return context.state
            await self._draft_handlers.begin(session, draft)
            session.add_notice(_describe(session.t, contact))
        await self._draft_handlers.show(session)
        return context.state

    async def _begin_with_line(self, update: Update, context: Context) -> State:
        """Begin a draft with a message that is an order in one line. A forwarded message never is."""
        text = update.message.text or "" if update.message else ""
        if find_invoice(text) is not None or text.startswith("/") or ASKS.match(text):
            return None
        if not await self._one_line.is_order(context.session, text):
            return None
        await self._one_line.begin(context.session, text)
        return context.state

    async def _take_typed(self, update: Update, context: Context) -> State:
        """Take an answer to the draft's question, or a whole line in place of a destination."""
        session, message, asked = context.session, update.message, self._draft_handlers
        if is_replayed(session):  # an earlier attempt has saved the answer
            await asked.show(session)
        elif is_late(session):
            await asked.show_late(session)
        elif (contact := _shared_contact(update)) is not None:
            await asked.take_answer(session, self._take_contact(session, contact))
        elif message is None or (text := message.text) is None:
            await asked.record_refusal(session, Rejection("users.chat.only_text"))
            session.notice = session.t("users.chat.only_text")
            await asked.show(session)
        elif not await self._one_line.take_line(session, text):
            await asked.take_typed(session, text)
        return context.state

    async def _take_contact(self, session: Session, contact: SharedContact) -> OrderDraft:
        """Return the draft with a shared contact. Raises `Rejection` as `take_contact` does."""
        draft = take_contact(open_draft(session), contact, await get_recipients(session))
        session.add_notice(_describe(session.t, contact))
        return draft

    async def _take_button(self, _: Update, context: Context) -> State:
        """Take a button of the open question, as long as the draft is as it was when the button was shown."""
        session, button, draft = context.session, context.button, open_draft(context.session)
        if (button.draft_id, button.revision) != (draft.id, draft.revision) or is_replayed(session):
            return None
        if button.action not in self._draft_handlers.actions_of(draft):
            return None
        await session.acknowledge()
        await self._draft_handlers.take_button(session, button)
        return context.state

    async def _take_other_button(self, _: Update, context: Context) -> State:
        """Take a button that the open question doesn't have: resume a draft, or explain an old button."""
        session, button, draft = context.session, context.button, context.session[DRAFT]
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
            is_own = button.action in self._draft_handlers.actions_of(draft) - COMMON
            await self._show_open_question(session, is_old=is_late(session) or is_own)
        return context.state

    async def _explain_lightning(self, _: Update, context: Context) -> State:
        """Explain Lightning in a new message. The review stays as it is, with its buttons."""
        await context.session.acknowledge()
        await context.session.send_message(Screen(explain_lightning(context.session.t)))
        return context.state

    async def _cancel(self, _: Update, context: Context) -> State:
        """Cancel the draft. Without one, say that an order can't be cancelled, or that there is nothing to cancel."""
        session = context.session
        if session[DRAFT] is None:
            if not await self._status_answers.answer_cancel(session):
                await session.show(screens.nothing_to_cancel(session.t))
        elif is_late(session) and not is_replayed(session):
            await self._draft_handlers.show_late(session)
        else:
            await self._draft_handlers.leave(session, open_draft(session))
        return context.state

    async def _begin_or_ask(self, session: Session) -> None:
        """Begin a draft. If one with answers is open, ask whether to continue it."""
        draft = session[DRAFT]
        if draft is not None and not is_replayed(session) and draft.has_answers:
            await session.ask(screens.unfinished(session.t, draft))
        else:
            await self._begin(session)

    async def _begin(self, session: Session) -> None:
        if not is_replayed(session):
            await self._draft_handlers.begin(session, draft_of(session))
        await self._draft_handlers.show(session)

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


def _shared_contact(update: Update) -> SharedContact | None:
    contact = update.message.contact if update.message is not None else None
    if contact is None:
        return None
    return SharedContact(contact.phone_number or "", " ".join(filter(None, (contact.first_name, contact.last_name))))


def _describe(t: Translator, contact: SharedContact) -> Html:
    """Return what was taken of a contact."""
    cleaned, name = read_contact(contact)
    return t("checkout.contact.taken", parts=" · ".join(filter(None, (cleaned.number, name))))
