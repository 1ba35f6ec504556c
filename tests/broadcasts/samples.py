"""Values of broadcasts, for `every_screen.py`."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from itertools import product
from typing import Any, Final

from bot.broadcasts.model import (
    CHART,
    PERIODS,
    WIDEST_QUOTE,
    Audience,
    Broadcast,
    BroadcastPage,
    BroadcastStatus,
    BroadcastWarning,
    DeliveryStatus,
    Preview,
    Progress,
)
from bot.broadcasts.screens import compose, confirmed
from bot.settlement.model import Quote
from tests.screens import NOW, Outside

QUOTE: Final = Quote(Decimal("1700123456.5"), NOW, Decimal("16234.5"), "an <exchange>")
READERS: Final = {"en": 12, "id": 10**6}


def a_draft(**changes: Any) -> Broadcast:
    """Return a draft about the rate."""
    known: dict[str, Any] = {"id": "0123456789", "operator_id": 2001, "created_at": NOW, "revision": 999_999_999}
    return Broadcast(**{**known, **changes})


def in_each_status() -> Iterator[Broadcast]:
    """Yield a broadcast in each status."""
    draft = a_draft(quote=QUOTE)
    yield draft
    yield replace(draft, texts={"en": "Hello", "id": "Halo"}, is_rate=False, quote=None)
    yield replace(draft, starts_at=NOW + timedelta(days=2))
    yield replace(draft, daily_minute=1439)
    yield replace(draft, status=BroadcastStatus.DISCARDED)
    confirmed = replace(draft, confirmed_at=NOW, confirmed_by=2**52, chat_id=2**52, starts_at=NOW)
    yield replace(confirmed, status=BroadcastStatus.SCHEDULED)
    yield replace(confirmed, status=BroadcastStatus.SCHEDULED, daily_minute=420, quote=None)
    yield replace(confirmed, status=BroadcastStatus.PAUSED, quote=None)
    yield replace(confirmed, status=BroadcastStatus.STOPPED, ended_at=NOW, report={})
    begun = replace(confirmed, started_at=NOW, series="9876543210")
    yield replace(begun, status=BroadcastStatus.RUNNING)
    yield replace(begun, status=BroadcastStatus.PAUSED)
    report = {str(status): 10**6 for status in DeliveryStatus}
    yield replace(begun, status=BroadcastStatus.DONE, ended_at=NOW, report=report)


def some_broadcasts(outside: Outside) -> Iterator[Broadcast]:
    """Yield broadcasts in each status, with each kind of picture and of readers."""
    yield from in_each_status()
    audiences = (Audience(), Audience(locale="id"), Audience(locale="en", active_days=1))
    for picture, audience in product((None, "photo", *(CHART + period for period in PERIODS)), audiences):
        yield a_draft(picture=picture, audience=audience, texts={"en": outside.html})


def some_previews(_: Outside) -> Iterator[Preview]:
    """Yield previews of each broadcast, of short and long ones."""
    lengths = (timedelta(0), timedelta(seconds=61), timedelta(hours=30))
    for broadcast, length in product(in_each_status(), lengths):
        yield Preview(broadcast, READERS, length, (BroadcastWarning.STALE, BroadcastWarning.JUMPED), WIDEST_QUOTE)


def some_progress(_: Outside) -> Iterator[Progress]:
    """Yield how far the started broadcasts are."""
    results: tuple[Mapping[DeliveryStatus, int], ...] = ({}, dict.fromkeys(DeliveryStatus, 10**6))
    for broadcast, counts in product(in_each_status(), results):
        if broadcast.started_at is not None:
            yield Progress(broadcast, counts, 30.0, is_resting=True)


def some_pages(_: Outside) -> Iterator[BroadcastPage]:
    """Yield an empty and a full page of the list."""
    every = tuple(in_each_status())
    yield BroadcastPage((), {}, 0, 0)
    yield BroadcastPage(
        every[-5:], dict.fromkeys((each.id for each in every), dict.fromkeys(DeliveryStatus, 10**6)), 5, 10**6
    )


SAMPLES: Final[dict[object, Callable[[Outside], Iterable[object]]]] = {
    Broadcast: some_broadcasts,
    Preview: some_previews,
    Progress: some_progress,
    BroadcastPage: some_pages,
    # A broadcast waits only if there is a reason.
    (compose.show_waiting, "warnings"): lambda _: (tuple(BroadcastWarning), tuple(BroadcastWarning)[:1]),
    (compose.ask_audience, "readers"): lambda _: ({}, {"en": 1}, {"en": 10**7, "id": 10**7}),
    (confirmed.show_broadcast, "counts"): lambda _: ({}, {"waiting": 3}, dict.fromkeys(DeliveryStatus, 10**6)),
}

MUST_SAY: Final[dict[object, Callable[..., tuple[str, ...]]]] = {
    (compose.ask_text, "broadcast"): lambda *_: ("{sats_100k}", "{time}"),
    (compose.ask_to_confirm, "preview"): lambda preview, t: (t.number(sum(preview.readers.values())),),
}
