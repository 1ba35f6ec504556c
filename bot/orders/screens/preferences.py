"""The notification preferences: one line for each topic, and a section of the settings."""

from typing import Final

from bot.infra.i18n import Html, Translator
from bot.infra.telegram.ui.screen import Button, Screen
from bot.orders.buttons import PreferenceButton, PreferencesAction, PreferencesButton
from bot.orders.preferences import CHOOSABLE, DeliveryMode, Topic, chosen_mode, next_mode
from bot.users.model import User
from bot.users.screens import back_row

SIGNS: Final = {DeliveryMode.SOUND: "🔔", DeliveryMode.SILENT: "🔕", DeliveryMode.STATUS_ONLY: "📄"}


def screen(t: Translator, user: User) -> Screen:
    """Return the preferences. A tap on a topic chooses its next mode."""
    rows = tuple((_topic_button(t, topic, chosen_mode(topic, user.notification_preferences)),) for topic in CHOOSABLE)
    reset = Button(t.plain("orders.preferences.usual"), data=PreferencesButton(PreferencesAction.RESET).pack())
    signs = {f"{mode}_sign": sign for mode, sign in SIGNS.items()}
    always = ", ".join(f"“{_name(t, topic)}”" for topic in CHOOSABLE if not topic.may_be_status_only)
    text = t("orders.preferences.text", **signs, always=always)
    return Screen(text, (*rows, *(((reset,),) if user.notification_preferences else ()), back_row(t)))


def summarize(t: Translator, user: User) -> Html:
    """Return how many preferences the user has changed, for the settings."""
    changed = sum(chosen_mode(topic, user.notification_preferences) is not topic.default for topic in CHOOSABLE)
    return t.plural("orders.settings.notices_changed", changed) if changed else t("orders.settings.notices_usual")


def _topic_button(t: Translator, topic: Topic, mode: DeliveryMode) -> Button:
    # The button contains the new mode, not "next", so that a double tap changes it only once.
    changed = PreferenceButton(topic.name, next_mode(topic, mode))
    return Button(f"{SIGNS[mode]} {_name(t, topic)}", data=changed.pack())


def _name(t: Translator, topic: Topic) -> str:
    return t.plain(f"orders.preferences.{topic.name}")
