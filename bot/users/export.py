"""A user's data as a file that other programs can read: JSON, in words that explain themselves.

Money is whole units of the currency named beside it, rates are decimal text, times are UTC in ISO 8601.
"""

import json
from collections.abc import Mapping
from datetime import datetime

from bot.users.model import User
from bot.users.user_data import Json
from bot.users.user_data import time_text as _time


def as_file(user: User, sections: Mapping[str, object], made_at: datetime) -> bytes:
    """Return the profile and the features' sections, as UTF-8."""
    content = {
        "about": "What Kirim keeps of you",
        "made_at": _time(made_at),
        "profile": _profile(user),
        **sections,
    }
    # Half a surrogate pair has no UTF-8; written out like this it is JSON's own spelling of it.
    return json.dumps(content, ensure_ascii=False, indent=2).encode(errors="backslashreplace")


def _profile(user: User) -> Json:
    return {
        "telegram_id": user.id,
        "username": user.username,
        "known_since": _time(user.created_at),
        "last_seen_at": _time(user.last_seen_at),
        "language_of_app": user.language_code,
        "language_chosen": user.locale,
        "time_zone": user.time_zone or None,
        "phrase": user.phrase,
        "notices": dict(user.notification_preferences) if user.notification_preferences else None,
        "blocked_the_bot_at": _time(user.blocked_at),
        "asked_to_be_deleted_at": _time(user.deletion_requested_at),
    }
