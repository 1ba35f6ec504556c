"""The phrase of the user: suggested, typed, shown to its owner in the private chat, and changed."""

from bot.infra.i18n import Translator
from bot.infra.telegram.ui.screen import Button, Keyboard, Screen
from bot.users.buttons import PhraseAction, PhraseButton, SettingsAction, SettingsButton
from bot.users.model import User
from bot.users.phrase import MAX_LENGTH, MIN_LENGTH, Suggestion
from bot.users.screens.buttons import send_row

SHOW, NEW, OWN = (PhraseButton(action).pack() for action in (PhraseAction.SHOW, PhraseAction.NEW, PhraseAction.OWN))
SETTINGS = SettingsButton(SettingsAction.SHOW).pack()


def choice_rows(t: Translator, suggestion: Suggestion) -> Keyboard:
    """Return the buttons to use the suggestion, to see another, or to type a phrase."""
    use = Button(t.plain("phrase.use"), data=PhraseButton(PhraseAction.USE, suggestion.code).pack())
    another = Button(t.plain("phrase.another"), data=NEW)
    return ((use,), (another, Button(t.plain("phrase.own"), data=OWN)))


def offer_suggestion(t: Translator, suggestion: Suggestion, *, has_one: bool) -> Screen:
    """Return a suggestion and what it is for. Users don't have to choose now: there is a way on."""
    text = t("phrase.offer", phrase=suggestion.text)
    way_on = (Button(t.plain("button.back"), data=SHOW),) if has_one else send_row(t)
    return Screen(text, (*choice_rows(t, suggestion), way_on))


def show_phrase(t: Translator, phrase: str) -> Screen:
    """Return the user's phrase, and the ways to change it."""
    return Screen(
        t("phrase.mine", phrase=phrase),
        (
            (Button(t.plain("phrase.suggest"), data=NEW), Button(t.plain("phrase.own"), data=OWN)),
            (Button(t.plain("button.settings"), data=SETTINGS),),
        ),
    )


def ask_phrase(t: Translator) -> Screen:
    """Return the question for a phrase of the user's own."""
    text = t("phrase.ask", shortest=MIN_LENGTH, longest=MAX_LENGTH)
    return Screen(text, ((Button(t.plain("button.back"), data=SHOW),),))


def confirm_saved(t: Translator, phrase: str) -> Screen:
    """Return that the phrase is saved."""
    return Screen(t("phrase.kept", phrase=phrase), (send_row(t), (Button(t.plain("button.settings"), data=SETTINGS),)))


def format_phrase_line(t: Translator, user: User | None) -> str:
    """Return the text with the user's phrase, which only the genuine bot can add; empty for a user without one."""
    return f"\n\n{t('pay.phrase', phrase=user.phrase)}" if user is not None and user.phrase else ""
