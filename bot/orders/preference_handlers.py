"""Handle the buttons of the notification preferences, which are a section of the settings."""

from dataclasses import replace

from bot.infra.telegram.ui.router import Routes
from bot.orders.buttons import PreferenceButton, PreferencesAction, PreferencesButton
from bot.orders.preferences import find_topic_by_name, set_mode
from bot.orders.screens import preferences
from bot.users.session import Session


class PreferenceHandlers:
    """Let users choose how notifications reach them."""

    def routes(self) -> Routes[Session]:
        """Return the buttons."""
        routes = Routes[Session]()
        routes.add_button(PreferencesButton, self.preferences_button)
        routes.add_button(PreferenceButton, self.preference_button)
        return routes

    async def preferences_button(self, session: Session, button: PreferencesButton) -> None:
        """Show the preferences. Reset them first if the button says so."""
        if button.action is PreferencesAction.RESET:
            await session.save_user(replace(session.user, notification_preferences=None))
        await self._show(session)

    async def preference_button(self, session: Session, button: PreferenceButton) -> None:
        """Save how notifications of a topic arrive, if the topic allows that mode."""
        topic = find_topic_by_name(button.topic)
        if topic is None or button.mode not in topic.modes:
            await session.explain("users.stale.button")
            return
        await session.acknowledge(session.t.plain(f"orders.preferences.way.{button.mode}"))
        chosen = set_mode(session.user.notification_preferences, topic, button.mode)
        await session.save_user(replace(session.user, notification_preferences=chosen))
        await self._show(session)

    async def _show(self, session: Session) -> None:
        await session.acknowledge()
        await session.show(session.with_resume(preferences.screen(session.t, session.user)))
