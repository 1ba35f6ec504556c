"""Suggest an anti-phishing phrase to a user."""

from dataclasses import replace

from bot.users.phrase import Suggestion, draw_suggestion, find_suggestion_text
from bot.users.session import Session


async def suggest_phrase(session: Session, *, is_new: bool = False) -> Suggestion:
    """Return the phrase that is suggested to the user, in the language in which it was drawn first.

    It stays the same until they ask for another (`is_new`) or choose another language. It is saved, because it is on
    the first invoice of a user who chooses no phrase.
    """
    user = session.user
    text = None if is_new else find_suggestion_text(user.suggested_phrase or "")
    if text is not None and user.suggested_phrase is not None:
        return Suggestion(user.suggested_phrase, text)
    suggestion = draw_suggestion(session.t.locale)
    await session.save_user(replace(user, suggested_phrase=suggestion.code))
    return suggestion
