"""The start and the help of support agents, and the language of their group."""

from telegram.ext import filters

from bot.infra.feature import Infra
from bot.infra.telegram.ui.router import Audience, Menu, Routes
from bot.infra.telegram.ui.screen import Screen
from bot.staff.staff_chat import StaffChat
from bot.support.buttons import GroupLanguageButton
from bot.support.model import TicketFilter
from bot.support.staff.screens import guide as screens
from bot.support.staff.session import NEW_MESSAGES, StaffSession, StaffSessions
from bot.support.tickets.repository import TicketRepository
from bot.users.group_repository import GroupRepository
from bot.users.session import Session


class AgentGuide:
    """Tell support agents what they can do, and let them choose the language of their group."""

    def __init__(self, infra: Infra, *, sessions: StaffSessions, staff_chat: StaffChat) -> None:
        self._database = infra.database
        self._translations = infra.translations
        self._sessions = sessions
        self._staff_chat = staff_chat

    def routes(self) -> Routes[StaffSession]:
        """Return the commands in the group, and their button. In private, `/help` and `/language` are everyone's."""
        routes = Routes[StaffSession](
            Audience.SUPPORT,
            open_session=self._sessions.open,
            refuse=self._sessions.refuse,
            only=NEW_MESSAGES & filters.ChatType.GROUPS,
        )
        routes.add_command("help", self.show_help, menu={Menu.GROUP: 20})
        routes.add_command("language", self.ask_language, menu={Menu.GROUP: 30})
        routes.add_button(GroupLanguageButton, self.language_button)
        return routes

    async def read_start(self, session: Session) -> Screen | None:
        """Return what an agent sees first: the number of tickets, and where they arrive. None for other users."""
        if not self._sessions.is_agent(session.user.id):
            return None
        async with self._database.reading() as tx:
            counts = {which: await TicketRepository(tx).count(which, session.user.id) for which in TicketFilter}
            group = await self._staff_chat.group(tx)
        return screens.show_start(session.t, counts, has_group=group is not None)

    async def read_help(self, session: Session) -> Screen | None:
        """Return what an agent can do. None for other users."""
        return screens.show_help(session.t) if self._sessions.is_agent(session.user.id) else None

    async def show_help(self, staff: StaffSession, _: str) -> None:
        """Show in the group what agents can do."""
        await staff.say(screens.show_help(staff.t))

    async def ask_language(self, staff: StaffSession, _: str) -> None:
        """Ask for the language of the group."""
        await staff.say(screens.ask_language(staff.t))

    async def language_button(self, staff: StaffSession, button: GroupLanguageButton) -> None:
        """Save the language of the group, and confirm it in that language."""
        if staff.is_private:
            await staff.toast("support.staff.gone", alert=True)
            return
        async with self._database.transaction() as tx:
            await GroupRepository(tx).save_locale(staff.chat_id, button.locale)
        await staff.session.acknowledge()
        await staff.edit_message(screens.confirm_language(self._translations.get(button.locale)))
