"""Values of payment requests, for `every_screen.py`."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any, Final

from bot.checkout.draft import OrderDraft, RequestTerms, Step
from bot.core.money import Amount
from bot.orders.repository import LinkTally
from bot.payment_requests.model import MAX_NOTE_LENGTH, ClosedBy, PaymentRequest, ReportedRequest, RequestStatus
from bot.payment_requests.paying import screens as paying
from bot.payment_requests.paying.notifications import LinkNotification
from bot.payment_requests.screens import ask, card, reports, requests
from bot.rates.model import estimate
from bot.recipients.holders import MAX_HOLDER_LENGTH
from bot.recipients.matching import mask_number
from bot.settlement.model import Quote
from tests.checkout.builders import a_draft_at_review
from tests.payment_requests.builders import a_request
from tests.screens import NOW, Outside

QUOTE: Final = Quote(Decimal(1_700_000_000), NOW)
PRICES: Final = {amount: estimate(amount, QUOTE) for amount in (Amount("IDR", 150_000), Amount("IDR", 99_999_999))}
"""Sums with their prices."""


def some_requests(outside: Outside) -> Iterator[PaymentRequest]:
    """Yield requests in each state, with short and long words of the asker."""
    long: dict[str, Any] = {"holder": outside.typed[:MAX_HOLDER_LENGTH] or "Sari"}
    long["note"] = outside.typed[:MAX_NOTE_LENGTH] or None
    request = a_request(method=outside.method, number="12345678901234567890", created_at=NOW, used_at=NOW)
    yield request
    yield replace(request, **long)
    yield replace(request, idr=None, note=None, is_reusable=True, ends_at=NOW + timedelta(days=30))
    yield replace(request, status=RequestStatus.PAUSED, ends_at=NOW - timedelta(days=1))
    for by in ClosedBy:
        yield replace(request, status=RequestStatus.CLOSED, closed_by=by)
    yield replace(request, status=RequestStatus.PAUSED)


def some_reported(outside: Outside) -> Iterator[ReportedRequest]:
    """Yield reported requests."""
    for request in some_requests(outside):
        yield ReportedRequest(request=request, reports=12, last_at=NOW)


def some_asking(outside: Outside) -> Iterator[OrderDraft]:
    """Yield drafts of payment requests at their review."""
    terms = RequestTerms(note=outside.typed[:MAX_NOTE_LENGTH] or None, note_asked=True, is_reusable=True)
    draft = a_draft_at_review(outside.method, step=Step.REVIEW, terms=terms)
    yield draft
    yield replace(draft, amount=None, terms=replace(terms, payer_decides=True, note=None, ends_at=NOW))
    yield replace(draft, amount=Amount("IDR", 10**12), holder=outside.typed[:MAX_HOLDER_LENGTH] or "Sari")


SAMPLES: Final[dict[object, Callable[[Outside], Iterable[object]]]] = {
    LinkTally: lambda _: (LinkTally(), LinkTally(sent=3, sent_idr=450_000, in_progress=1, failed=2)),
    (requests.show_list, "tallies"): lambda _: ({a_request().id: LinkTally(sent=1, sent_idr=10**12)},),
    (requests.show_missed, "tallies"): lambda _: ({a_request().id: LinkTally(2, 10**12, in_progress=1, failed=2)},),
    PaymentRequest: some_requests,
    ReportedRequest: some_reported,
    (reports.show_reported, "reports"): lambda _: ({"other": 12}, {"paid_scam": 1, "not_for_me": 2, "scam": 100}),
    (reports.ask_close, "request_id"): lambda _: ("0123456789abcdef",),
    (reports.ask_close_all, "request_id"): lambda _: ("0123456789abcdef",),
    (ask.show_review, "draft"): some_asking,
    (ask.show_changes, "draft"): some_asking,
    # Nothing is lost of a draft without answers, so nobody is asked.
    (ask.ask_to_replace, "draft"): some_asking,
    (ask.ask_note, "draft"): some_asking,
    (ask.ask_uses, "draft"): some_asking,
    (ask.ask_end, "draft"): some_asking,
    (card.show_card, "bot"): lambda _: ("kirim_bot",),
    (requests.show_request, "bot"): lambda _: ("kirim_bot",),
    (paying.show_rejection, "why"): lambda outside: (outside.t("orders.limits.links"),),
    (paying.ask_amount, "prices"): lambda _: ({}, PRICES),
    (paying.show_reported, "said"): lambda outside: tuple(
        outside.t(f"payment_requests.{key}", most=5) for key in ("pay.reported", "report.own", "report.too_many")
    ),
    (paying.show_review, "review"): lambda _: ("0123456789ab",),
    (paying.show_review, "worth"): lambda _: PRICES.values(),
    (paying.show_payment, "kind"): lambda _: LinkNotification,
}

MUST_SAY: Final[dict[object, Callable[..., tuple[str, ...]]]] = {
    (ask.show_review, "draft"): lambda draft, _: (mask_number(draft.number),),
}
