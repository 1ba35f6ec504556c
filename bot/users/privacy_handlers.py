"""Handle `/privacy` and its buttons, also in the middle of a conversation.

Every button acts on the data of the user who presses it. The button that deletes also has the user's id and the time of
the question. If it is too old, or from before an earlier deletion, the bot asks again.
"""

from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta
from typing import Final

from bot.infra.telegram.ui.router import Menu, Routes
from bot.infra.telegram.ui.screen import Screen
from bot.users.buttons import DeletionButton, PrivacyAction, PrivacyButton
from bot.users.privacy import PrivacyService
from bot.users.provider import Provider
from bot.users.screens import privacy
from bot.users.session import Session

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
        asked_at = privacy.parse_asked_at(button.asked_at)
        if session.user.created_at > asked_at:
            await self._explain_deleted(session)
        elif session.now - asked_at > CONFIRMATION_VALID_FOR:
            await self._confirm(session)
        else:
            await self._delete(session)

    async def _show(self, session: Session) -> None:
        is_deletion_requested = session.user.deletion_requested_at is not None
        shown = privacy.show_privacy(
            session.t, self._privacy.retention_days, self._provider, is_deletion_requested=is_deletion_requested
        )
        await session.show(session.with_resume(shown))

    async def _show_data(self, session: Session) -> None:
        overview = await self._privacy.get_overview(session.user)
        await session.show(privacy.show_summary(session.t, overview, session.zone))

    async def _send_file(self, session: Session) -> None:
        content = await self._privacy.export(session.user)
        if not await session.send_file(content, FILE_NAME, session.t("users.privacy.file_caption")):
            await session.show_below(Screen(session.t("users.privacy.file_not_sent"), privacy.file_row(session.t)))

    async def _confirm(self, session: Session) -> None:
        """Ask for confirmation. The question lists what is stored now, so its button carries the time."""
        asked_at = session.now
        overview = await self._privacy.get_overview(session.user)
        blockers = await self._privacy.find_blockers(session.user.id)
        await session.show(privacy.ask_confirmation(session.t, overview, blockers, asked_at))

    async def _delete(self, session: Session) -> None:
        blockers = await self._privacy.delete(session.user)
        if blockers.is_empty:
            session.discard()
            await session.show(privacy.confirm_deleted(session.t))
        else:
            await session.show(privacy.explain_waiting(session.t, blockers, session.now))

    async def _explain_deleted(self, session: Session) -> None:
        """Answer a second tap, or one repeated after a crash, when the first has already deleted everything."""
        if await self._privacy.has_nothing(session.user.id):
            await self._delete(session)
        else:
            session.message_id = None
            await session.show(privacy.explain_deleted_before(session.t))

    async def _keep(self, session: Session) -> None:
        if session.user.deletion_requested_at is not None:
            session.user = await self._privacy.cancel_deletion(session.user)
            session.notice = session.t("users.privacy.kept")
        await self._show(session)
