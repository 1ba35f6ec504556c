"""Handle `/recipients` and the buttons of saved recipients, also in the middle of a conversation.

A button carries the recipient's id, which can't be guessed. It works only for the recipient's user. An open draft
stays open.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from bot.core.errors import Rejection
from bot.infra.i18n import Html, Translator
from bot.infra.telegram.ui.routes import Menu, Routes
from bot.infra.telegram.ui.screen import Screen
from bot.recipients import screens as recipients
from bot.recipients.buttons import RecipientAction, RecipientButton, RecipientsButton
from bot.recipients.holders import read_holder
from bot.recipients.model import SavedRecipient
from bot.recipients.service import MAX_NAMED, RecipientService, TooManyNamed
from bot.users import questions
from bot.users.session import Session

NAME: Final = "recipient_name"
HOLDER: Final = "recipient_holder"

ActOnRecipient = Callable[[Session, SavedRecipient], Awaitable[object]]
"""Does what a button of a saved recipient says."""


class RecipientHandlers:
    """Show saved recipients, and let users name, correct and delete theirs."""

    def __init__(self, *, service: RecipientService, can_ask: bool) -> None:
        self._service = service
        self._can_ask = can_ask
        self.actions: Mapping[RecipientAction, ActOnRecipient] = {
            RecipientAction.PAGE: self._show,
            RecipientAction.SAVE: self._save,
            RecipientAction.EDIT_NAME: self._ask_name,
            RecipientAction.REMOVE_NAME: self._remove_name,
            RecipientAction.EDIT_HOLDER: self._ask_holder,
            RecipientAction.REMOVE_HOLDER: self._remove_holder,
            RecipientAction.DELETE: self._confirm_deletion,
            RecipientAction.CONFIRM_DELETION: self._delete,
        }
        """The actions that this package does. Packages above do the others (`home/handlers.py`)."""

    def routes(self) -> Routes[Session]:
        """Return the command and the buttons of the list."""
        routes = Routes[Session]()
        routes.add_command("recipients", self.show_recipients, menu={Menu.EVERYONE: 20})
        routes.add_button(RecipientsButton, self.recipients_button)
        return routes

    def answers(self) -> Mapping[str, questions.AnswerHandler]:
        """Return the handler of the typed answer to each question."""
        return {NAME: questions.accept_text(self.name_typed), HOLDER: questions.accept_text(self.holder_typed)}

    async def show_recipients(self, session: Session, _: str) -> None:
        """Show the first page of the list."""
        session.message_id = None
        await self._list(session)

    async def recipients_button(self, session: Session, button: RecipientsButton) -> None:
        """Show a page of the list."""
        await session.acknowledge()
        await self._list(session, button.page)

    async def recipient_button(self, session: Session, button: RecipientButton, act: ActOnRecipient | None) -> None:
        """Do the action of a recipient's button, if the recipient is this user's. A missing one is switched off."""
        recipient = await self._service.get(session.user.id, button.recipient_id)
        if recipient is None:
            await self._explain_gone(session)
            return
        if act is None:
            await session.explain("users.stale.button")
            return
        await session.acknowledge()
        await act(session, recipient)

    async def name_typed(self, session: Session, recipient_id: str, text: str) -> None:
        """Save the typed name of a recipient. If it can't be used, say why and ask again."""
        try:
            label = recipients.clean_label(text)
            changed = await self._service.rename(questions.mark_answered(session), recipient_id, label)
        except Rejection as rejection:
            await self._ask_again(session, recipient_id, rejection, recipients.ask_name)
        except TooManyNamed:
            too_many = Rejection("recipients.too_many", most=MAX_NAMED)
            await self._ask_again(session, recipient_id, too_many, recipients.ask_name)
        else:
            said = session.t("recipients.unnamed") if label is None else session.t("recipients.named", label=label)
            await self._show_changed(session, changed, said)

    async def holder_typed(self, session: Session, recipient_id: str, text: str) -> None:
        """Save the typed name of the holder. If it can't be used, say why and ask again."""
        try:
            holder = read_holder(text)
        except Rejection as rejection:
            await self._ask_again(session, recipient_id, rejection, recipients.ask_holder)
        else:
            changed = await self._service.set_holder(questions.mark_answered(session), recipient_id, holder)
            await self._show_changed(session, changed, session.t("recipients.held"))

    async def _list(self, session: Session, page: int = 0) -> None:
        known = await self._service.list_all(session.user.id)
        await session.show(session.with_resume(recipients.show_list(session.t, known, page)))

    async def _show(self, session: Session, recipient: SavedRecipient) -> None:
        screen = recipients.show_recipient(session.t, recipient, session.now, can_ask=self._can_ask)
        await session.show(session.with_resume(screen))

    async def _explain_gone(self, session: Session) -> None:
        """Say that a recipient doesn't exist. Another user's recipient gets the same answer, so it stays secret."""
        await session.acknowledge(session.t.plain("recipients.gone"))
        session.notice = session.t("recipients.gone")
        await self._list(session)

    async def _save(self, session: Session, recipient: SavedRecipient) -> None:
        """Ask for a name in a new message, since the button is under an order's message."""
        session.message_id = None
        await self._ask_name(session, recipient)

    async def _ask_name(self, session: Session, recipient: SavedRecipient) -> None:
        await questions.ask(session, NAME, recipients.ask_name(session.t, recipient), recipient.id)

    async def _ask_holder(self, session: Session, recipient: SavedRecipient) -> None:
        await questions.ask(session, HOLDER, recipients.ask_holder(session.t, recipient), recipient.id)

    async def _confirm_deletion(self, session: Session, recipient: SavedRecipient) -> None:
        await session.show(recipients.ask_deletion(session.t, recipient))

    async def _remove_name(self, session: Session, recipient: SavedRecipient) -> None:
        changed = await self._service.rename(session.user, recipient.id, None)
        await self._show_changed(session, changed, session.t("recipients.unnamed"))

    async def _remove_holder(self, session: Session, recipient: SavedRecipient) -> None:
        changed = await self._service.set_holder(session.user, recipient.id, None)
        await self._show_changed(session, changed, session.t("recipients.held"))

    async def _delete(self, session: Session, recipient: SavedRecipient) -> None:
        await self._service.delete(session.user.id, recipient.id)
        session.notice = session.t("recipients.deleted")
        await self._list(session)

    async def _ask_again(
        self,
        session: Session,
        recipient_id: str,
        rejection: Rejection,
        screen: Callable[[Translator, SavedRecipient], Screen],
    ) -> None:
        """Show the reason, and ask again. The question is still open, so nothing is saved."""
        recipient = await self._service.get(session.user.id, recipient_id)
        if recipient is None:
            await session.save_user(questions.mark_answered(session))
            await self._explain_gone(session)
            return
        session.notice = session.t.translate(rejection)
        await session.show(screen(session.t, recipient))

    async def _show_changed(self, session: Session, recipient: SavedRecipient | None, said: Html) -> None:
        if recipient is None:
            await self._explain_gone(session)
            return
        session.notice = said
        await self._show(session, recipient)
