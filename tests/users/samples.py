"""Values of users and their settings, for `every_screen.py`."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import product
from typing import Final

from bot.checkout.user_data import stored_drafts
from bot.core.text import plain
from bot.core.zones import INDONESIAN
from bot.infra.telegram.ui.reader import clip
from bot.orders.order import Phase
from bot.orders.preferences import CHOOSABLE
from bot.orders.user_data import OpenOrders
from bot.rates.user_data import stored_rate_updates
from bot.recipients.user_data import stored_recipients
from bot.support.user_data import stored_tickets
from bot.users.model import UNNAMED, Provider, User
from bot.users.phrase import MAX_LENGTH, Suggestion
from bot.users.privacy import DeletionBlockers, Overview
from bot.users.screens import (
    confirm_saved,
    explain_waiting,
    offer_zones,
    show_phrase,
    show_privacy,
)
from bot.users.user_data import MAX_LISTED
from tests.orders.builders import an_open_order, orders_in_each_state, what_is_stored
from tests.recipients.builders import a_long_recipient
from tests.screens import NOW, Outside
from tests.users.builders import SUGGESTION

PHRASE: Final = "\U00020000" * 30 + " & kopi'"
"""As long as one may be, in Telegram's units: letters that count twice."""
ZONES: Final = ("", "Asia/Jakarta", "Asia/Makassar", "America/Argentina/Buenos_Aires", "Etc/GMT-2", "Asia/Kathmandu")


def some_users(_: Outside) -> Iterable[User]:
    """Yield users of several zones, with usual and own settings."""
    everything = {topic.name: str(topic.modes[-1]) for topic in CHOOSABLE}
    for zone, notices in product(ZONES, (None, {"sent": "silent"}, everything)):
        yield User(id=2**52, created_at=NOW, time_zone=zone, notification_preferences=notices)


def some_phrases(outside: Outside) -> tuple[str, ...]:
    """Return phrases that a user can have."""
    return PHRASE, SUGGESTION.text, clip(plain(outside.typed), MAX_LENGTH) or "ab & <c>"


def some_overviews(outside: Outside) -> Iterator[Overview]:
    """Yield what is stored about users: nothing, some, much, and orders whose payout failed."""
    method, typed = outside.method, outside.typed
    recipient = a_long_recipient(method, label=typed, holder=typed)
    order = an_open_order(method, holder=typed, refusal=typed * 10)
    failed = replace(order, state="FAILED", phase=Phase.DONE, paid_at=NOW)
    for orders, times in (((), 0), ((order,), 1), ((order,) * 500, 500), ((failed,) * 20, 3)):
        stored = (
            stored_recipients((recipient,) * min(times, MAX_LISTED), times),
            what_is_stored(orders),
            stored_drafts(1),
            stored_rate_updates(None, 0),
            stored_tickets((), 0),
        )
        yield Overview(User(id=2**52, created_at=NOW, username="emma_w"), stored)


def some_blockers(outside: Outside) -> Iterator[DeletionBlockers]:
    """Yield what a deletion waits for: nothing, notifications, and orders in every state."""
    yield DeletionBlockers()
    yield DeletionBlockers(notifications=True)
    orders = tuple(order for _, order in orders_in_each_state(outside.method)) * 5
    yield DeletionBlockers((OpenOrders(orders),))


SAMPLES: Final[dict[object, Callable[[Outside], Iterable[object]]]] = {
    User: some_users,
    Suggestion: lambda _: (SUGGESTION,),
    (str, "phrase"): some_phrases,
    (str | None, "phrase"): lambda outside: (None, *some_phrases(outside)),
    Provider: lambda outside: (
        UNNAMED,
        Provider(name=plain(outside.typed)[:100], terms_url="https://kirim.example/terms?a=1&b"),
    ),
    (offer_zones, "keys"): lambda _: (
        INDONESIAN,
        ("Asia/Tokyo",),
        ("America/Argentina/Buenos_Aires", "Etc/GMT+3", "Asia/Kathmandu"),
    ),
    (show_privacy, "retention_days"): lambda _: (0, 1, 365),
    Overview: some_overviews,
    DeletionBlockers: some_blockers,
}

MUST_SAY: Final[dict[object, Callable[..., tuple[str, ...]]]] = {
    Suggestion: lambda suggestion, _: (suggestion.text,),
    (show_privacy, "retention_days"): lambda days, _: (str(days),) if days else (),
    (explain_waiting, "blockers"): lambda waits, _: ("ABC2345", "…") if waits.blockers else (),
    (show_phrase, "phrase"): lambda text, _: (text,),
    (confirm_saved, "phrase"): lambda text, _: (text,),
}
