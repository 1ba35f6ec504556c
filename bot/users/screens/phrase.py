"""The screens of the anti-phishing phrase."""

from bot.infra.i18n import Translator
from bot.infra.telegram.ui.screen import Button, Keyboard, Screen
from bot.users.buttons import PhraseAction, PhraseButton, SettingsAction, SettingsButton, send_row
from bot.users.phrase import MAX_LENGTH, MIN_LENGTH, Suggestion

SHOW, NEW, OWN = (PhraseButton(action).pack() for action in (PhraseAction.SHOW, PhraseAction.NEW, PhraseAction.OWN))
SETTINGS = SettingsButton(SettingsAction.SHOW).pack()


def choice_rows(t: Translator, suggestion: Suggestion) -> Keyboard:
    """Return the buttons to use the suggestion, see another, or type a phrase."""
    use = Button(t.plain("users.phrase.use"), data=PhraseButton(PhraseAction.USE, suggestion.code).pack())
    another = Button(t.plain("users.phrase.another"), data=NEW)
    return ((use,), (another, Button(t.plain("users.phrase.own"), data=OWN)))


def offer_suggestion(t: Translator, suggestion: Suggestion, *, has_one: bool) -> Screen:
    """Return a suggestion and what it is for. Another button lets users continue without choosing."""
    text = t("users.phrase.offer", phrase=suggestion.text)
    way_on = (Button(t.plain("users.button.back"), data=SHOW),) if has_one else send_row(t)
    return Screen(text, (*choice_rows(t, suggestion), way_on))


def show_phrase(t: Translator, phrase: str) -> Screen:
    """Return the user's phrase, with buttons to change it."""
    return Screen(
        t("users.phrase.mine", phrase=phrase),
        (
            (Button(t.plain("users.phrase.suggest"), data=NEW), Button(t.plain("users.phrase.own"), data=OWN)),
            (Button(t.plain("users.button.settings"), data=SETTINGS),),
        ),
    )


def ask_phrase(t: Translator) -> Screen:
    """Return the question for the user's own phrase."""
    text = t("users.phrase.ask", shortest=MIN_LENGTH, longest=MAX_LENGTH)
    return Screen(text, ((Button(t.plain("users.button.back"), data=SHOW),),))


def confirm_saved(t: Translator, phrase: str) -> Screen:
    """Return the confirmation that the phrase is saved."""
    return Screen(
        t("users.phrase.kept", phrase=phrase), (send_row(t), (Button(t.plain("users.button.settings"), data=SETTINGS),))
    )
