"""Handle the anti-phishing phrase, what happens to the bot in chats, and `/privacy` with its buttons.

The phrase is stored with the user. Only the user sees it: here, on invoices and on receipts.

Every button of `/privacy` acts on the data of the user who presses it. The button that deletes also has the user's id
and the time of the question. If it is too old, or from before an earlier deletion, the bot asks again.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from telegram import Chat, Message, Update

from bot.core.errors import Rejection
from bot.infra.db.transaction import Transaction
from bot.infra.feature import Infra
from bot.infra.telegram.ui.routes import Menu, Routes, read_command
from bot.infra.telegram.ui.screen import Button, Screen
from bot.users import questions, screens
from bot.users.buttons import DeletionButton, PhraseAction, PhraseButton, PrivacyAction, PrivacyButton
from bot.users.model import Provider, UserEvent
from bot.users.phrase import clean_phrase, find_suggestion_text
from bot.users.privacy import PrivacyService
from bot.users.repository import UserRepository, record_user_event
from bot.users.session import Session

QUESTION: Final = "phrase"


class PhraseHandlers:
    """Show, suggest and change the phrase."""

    def routes(self) -> Routes[Session]:
        """Return the command and the buttons."""
        routes = Routes[Session]()
        routes.add_command("phrase", self.show_phrase, menu={Menu.EVERYONE: 90})
        routes.add_button(PhraseButton, self.phrase_button)
        return routes

    def answers(self) -> Mapping[str, questions.AnswerHandler]:
        """Return the handler of the typed answer to each question."""
        return {QUESTION: questions.accept_text(self.phrase_typed)}

    async def show_phrase(self, session: Session, _: str) -> None:
        """Show the user's phrase, or suggest one."""
        await session.show_below(session.with_resume(await self._screen(session)))

    async def phrase_button(self, session: Session, button: PhraseButton) -> None:
        """Do the action of a button of the phrase."""
        await session.acknowledge()
        if button.action is PhraseAction.OWN:
            await questions.ask(session, QUESTION, screens.ask_phrase(session.t))
        elif button.action is PhraseAction.USE:
            await self._use(session, find_suggestion_text(button.code))
        else:
            is_new = button.action is PhraseAction.NEW
            another = await self._offer(session, is_new=True) if is_new else await self._screen(session)
            await session.show(session.with_resume(another))

    async def phrase_typed(self, session: Session, _: str, text: str) -> None:
        """Save the typed phrase. If it can't be used, say why and ask again."""
        try:
            chosen = clean_phrase(text)
        except Rejection as rejection:
            session.notice = session.t.translate(rejection)
            await session.ask(screens.ask_phrase(session.t))
            return
        questions.mark_answered(session)
        await self._save(session, chosen)

    async def _use(self, session: Session, chosen: str | None) -> None:
        if chosen is None:
            await session.explain("users.stale.button")
        else:
            await self._save(session, chosen)

    async def _save(self, session: Session, chosen: str) -> None:
        await session.save_user(replace(session.user, phrase=chosen, suggested_phrase=None))
        await session.show(session.with_resume(screens.confirm_saved(session.t, chosen)))

    async def _screen(self, session: Session) -> Screen:
        """Return the user's phrase, or a suggestion for a user without one."""
        if session.user.phrase is None:
            return await self._offer(session)
        return screens.show_phrase(session.t, session.user.phrase)

    async def _offer(self, session: Session, *, is_new: bool = False) -> Screen:
        suggestion = await session.suggest_phrase(is_new=is_new)
        return screens.offer_suggestion(session.t, suggestion, has_one=session.user.phrase is not None)


EndSubscription = Callable[[Transaction, int, datetime], Awaitable[object]]
"""Ends what the user of an id has subscribed to."""


class ChatHandlers:
    """Save that users have blocked the bot, offer the private chat in groups, and answer `/id`.

    A user who unblocks the bot counts as back when they write again.
    """

    def __init__(self, infra: Infra, on_blocked: Sequence[EndSubscription]) -> None:
        self._database = infra.database
        self._messenger = infra.messenger
        self._on_blocked = on_blocked

    def routes(self) -> Routes[Session]:
        """Return the command that shows a user's id."""
        routes = Routes[Session]()
        routes.add_command("id", self.show_own_id, menu={})
        return routes

    async def take_group_message(self, session: Session, update: Update) -> bool:
        """Answer messages in groups that are for the bot. Return False for any other update."""
        message, command = update.message, read_command(update)
        if message is None or message.chat.type == Chat.PRIVATE:
            return False
        if command is not None and command.name == "id" and session.is_operator:
            await self._show_group_id(session, message)
        else:
            await self._offer_private_chat(session, message)
        return True

    async def take_membership(self, session: Session, update: Update) -> bool:
        """Save when the user blocked the bot, unless they have come back since. Return False for any other update."""
        change = update.my_chat_member
        if change is None:
            return False
        has_blocked = change.chat.type == Chat.PRIVATE and change.new_chat_member.status == "kicked"
        if has_blocked and not await session.is_overtaken():
            # Use Telegram's time: messages between the block and this update couldn't be sent either.
            user = replace(session.user, blocked_at=min(change.date, session.now))
            async with self._database.transaction() as tx:
                await UserRepository(tx).save(user)
                for end in self._on_blocked:
                    await end(tx, user.id, session.now)
                await record_user_event(tx, user.id, UserEvent.BLOCKED, session.now)
            session.discard()
        return True

    async def show_own_id(self, session: Session, _: str) -> None:
        """Show the user's id, for OPERATOR_IDS and SUPPORT_IDS. It is in no menu: only who sets up the bot needs it."""
        await session.show_below(session.with_resume(Screen(session.t("users.id.own", id=str(session.user.id)))))

    async def _show_group_id(self, session: Session, message: Message) -> None:
        """Show an operator the group's id, for SUPPORT_CHAT_ID. For others the command is a message like any other."""
        text = session.t("users.id.group", id=str(message.chat_id))
        await self._messenger.send_text(message.chat_id, text, (), priority="talk", reply_to=message.message_id)

    async def _offer_private_chat(self, session: Session, message: Message) -> None:
        """Offer the private chat to a user who writes to the bot in a group, because payments are private."""
        name = self._messenger.username
        if not _is_for_bot(message.text or "", name):
            return
        button = Button(session.t.plain("users.group_chat.open"), url=f"https://t.me/{name}?start=group")
        await self._messenger.send_text(
            message.chat_id,
            session.t("users.group_chat.text"),
            ((button,),),
            priority="talk",
            reply_to=message.message_id,
        )


def _is_for_bot(text: str, name: str) -> bool:
    """Return whether a message is for the bot: it has the bot's name, or a command without a name."""
    first = text.split(maxsplit=1)[0] if text.strip() else ""
    return f"@{name}".lower() in text.lower() or (first.startswith("/") and "@" not in first)


FILE_NAME: Final = "kirim-data.json"
"""The name has no user id, since files are easily forwarded."""

CONFIRMATION_VALID_FOR: Final = timedelta(minutes=15)
"""How long a confirmation is valid. Later the question could list too little."""

_Action = Callable[[Session], Awaitable[None]]


class PrivacyHandlers:
    """Show, export and delete what is stored about a user."""

    def __init__(self, *, privacy_service: PrivacyService, provider: Provider) -> None:
        self._privacy = privacy_service
        self._provider = provider

    def routes(self) -> Routes[Session]:
        """Return the command and the buttons."""
        routes = Routes[Session]()
        routes.add_command("privacy", self.show_privacy, menu={Menu.EVERYONE: 100})
        actions: Mapping[PrivacyAction, _Action] = {
            PrivacyAction.SHOW: self._show,
            PrivacyAction.SEE: self._show_data,
            PrivacyAction.FILE: self._send_file,
            PrivacyAction.DELETE: self._confirm,
            PrivacyAction.CANCEL_DELETION: self._keep,
        }
        routes.add_actions(PrivacyButton, self.privacy_button, actions)
        routes.add_button(DeletionButton, self.deletion_button, belongs_to="user")
        return routes

    async def show_privacy(self, session: Session, _: str) -> None:
        """Explain what is stored about the user, and how to see, download or delete it."""
        session.message_id = None
        await self._show(session)

    async def privacy_button(self, session: Session, _: PrivacyButton, act: _Action) -> None:
        """Do the action of a button of `/privacy`."""
        await session.acknowledge()
        await act(session)

    async def deletion_button(self, session: Session, button: DeletionButton) -> None:
        """Delete the user's data, if the confirmation is theirs and still valid."""
        if button.user_id != session.user.id:
            await session.acknowledge(session.t.plain("users.privacy.not_yours"), alert=True)
            return
        await session.acknowledge()
        asked_at = screens.parse_asked_at(button.asked_at)
        if session.user.created_at > asked_at:
            await self._explain_deleted(session)
        elif session.now - asked_at > CONFIRMATION_VALID_FOR:
            await self._confirm(session)
        else:
            await self._delete(session)

    async def _show(self, session: Session) -> None:
        is_deletion_requested = session.user.deletion_requested_at is not None
        shown = screens.show_privacy(
            session.t, self._privacy.retention_days, self._provider, is_deletion_requested=is_deletion_requested
        )
        await session.show(session.with_resume(shown))

    async def _show_data(self, session: Session) -> None:
        overview = await self._privacy.get_overview(session.user)
        await session.show(screens.show_summary(session.t, overview, session.zone))

    async def _send_file(self, session: Session) -> None:
        content = await self._privacy.export(session.user)
        if not await session.send_file(content, FILE_NAME, session.t("users.privacy.file_caption")):
            await session.show_below(Screen(session.t("users.privacy.file_not_sent"), screens.file_row(session.t)))

    async def _confirm(self, session: Session) -> None:
        """Ask for confirmation. The question lists what is stored now, so its button carries the time."""
        asked_at = session.now
        overview = await self._privacy.get_overview(session.user)
        blockers = await self._privacy.find_blockers(session.user.id)
        await session.show(screens.ask_confirmation(session.t, overview, blockers, asked_at))

    async def _delete(self, session: Session) -> None:
        blockers = await self._privacy.delete(session.user)
        if blockers.is_empty:
            session.discard()
            await session.show(screens.confirm_deleted(session.t))
        else:
            await session.show(screens.explain_waiting(session.t, blockers, session.now))

    async def _explain_deleted(self, session: Session) -> None:
        """Answer a second tap, or one repeated after a crash, when the first has already deleted everything."""
        if await self._privacy.has_nothing(session.user.id):
            await self._delete(session)
        else:
            session.message_id = None
            await session.show(screens.explain_deleted_before(session.t))

    async def _keep(self, session: Session) -> None:
        if session.user.deletion_requested_at is not None:
            session.user = await self._privacy.cancel_deletion(session.user)
            session.notice = session.t("users.privacy.kept")
        await self._show(session)
