"""A user's data as a file that other programs can read: JSON, in words that explain themselves.

Money is whole units of the currency named beside it, rates are decimal text, times are UTC in ISO 8601.
"""

import json
from collections.abc import Mapping
from datetime import datetime

from bot.users.model import Person
from bot.users.user_data import Json
from bot.users.user_data import time_text as _time


def as_file(person: Person, sections: Mapping[str, object], made_at: datetime) -> bytes:
    """Return the profile and the features' sections, as UTF-8."""
    content = {
        "about": "What Kirim keeps of you",
        "made_at": _time(made_at),
        "profile": _profile(person),
        **sections,
    }
    # Half a surrogate pair has no UTF-8; written out like this it is JSON's own spelling of it.
    return json.dumps(content, ensure_ascii=False, indent=2).encode(errors="backslashreplace")


def _profile(person: Person) -> Json:
    return {
        "telegram_id": person.id,
        "username": person.username,
        "known_since": _time(person.created_at),
        "last_seen_at": _time(person.seen_at),
        "language_of_app": person.language_code,
        "language_chosen": person.locale,
        "time_zone": person.time_zone or None,
        "phrase": person.phrase,
        "notices": dict(person.notices) if person.notices else None,
        "blocked_the_bot_at": _time(person.blocked_at),
        "asked_to_be_deleted_at": _time(person.delete_asked_at),
    }
