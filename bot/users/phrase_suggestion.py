"""Suggest a phrase to a user, and keep it for them."""

from dataclasses import replace

from bot.users.phrase import Suggestion, suggest, suggested
from bot.users.session import Session


async def suggest_phrase(session: Session, *, is_new: bool = False) -> Suggestion:
    """Return the phrase that is suggested to the user, the same one until they ask for another with `is_new`.

    It is saved, because a user who chooses no phrase finds it on their first invoice.
    """
    user = session.user
    text = None if is_new else suggested(user.suggested_phrase or "")
    if text is not None and user.suggested_phrase is not None:
        return Suggestion(user.suggested_phrase, text)
    suggestion = suggest(session.t.locale)
    await session.save_user(replace(user, suggested_phrase=suggestion.code))
    return suggestion
