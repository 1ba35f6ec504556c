"""Values of payment requests, for `every_screen.py`."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any, Final

from bot.checkout.draft import OrderDraft, RequestTerms, Step
from bot.core.money import Amount
from bot.orders.repository import LinkTally
from bot.payment_requests import screens
from bot.payment_requests.model import (
    MAX_NOTE_LENGTH,
    ClosedBy,
    PaymentRequest,
    ReceivedPayment,
    ReportedRequest,
    RequestStatus,
)
from bot.payment_requests.paying import screens as paying
from bot.payment_requests.paying.notifications import LinkNotification
from bot.rates.model import estimate
from bot.recipients.formatting import format_method
from bot.recipients.holders import MAX_HOLDER_LENGTH
from bot.recipients.numbers import mask_number
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
    yield replace(request, status=RequestStatus.PAUSED, ends_at=NOW - timedelta(days=1), in_browsers=True)
    for by in ClosedBy:
        yield replace(request, status=RequestStatus.CLOSED, closed_by=by)
    yield replace(request, status=RequestStatus.PAUSED)


def some_payments() -> list[ReceivedPayment]:
    """Return payments in each state, of several days, and one of a request that can't be read."""
    return [
        ReceivedPayment(request=request, idr=10**12, paid_at=NOW - timedelta(days=days), state=state)
        for days, (state, request) in enumerate(
            (("sent", a_request()), ("in_progress", a_request(note=None)), ("failed", a_request()), ("sent", None))
        )
    ]


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
    (screens.show_list, "tallies"): lambda _: ({a_request().id: LinkTally(sent=1, sent_idr=10**12)},),
    (screens.show_list, "payments"): lambda _: ((), some_payments()),
    (screens.show_summary, "payments"): lambda _: (some_payments(),),
    (screens.show_shared, "bot"): lambda _: ("kirim_bot",),
    (screens.show_inline_request, "bot"): lambda _: ("kirim_bot",),
    (screens.show_missed, "tallies"): lambda _: ({a_request().id: LinkTally(2, 10**12, in_progress=1, failed=2)},),
    PaymentRequest: some_requests,
    ReportedRequest: some_reported,
    (screens.show_reported, "reports"): lambda _: ({"other": 12}, {"paid_scam": 1, "not_for_me": 2, "scam": 100}),
    (screens.ask_close_reported, "request_id"): lambda _: ("0123456789abcdef",),
    (screens.ask_close_all, "request_id"): lambda _: ("0123456789abcdef",),
    (screens.show_review, "draft"): some_asking,
    # Nothing is lost of a draft without answers, so nobody is asked.
    (screens.ask_to_replace, "draft"): some_asking,
    (screens.ask_note, "draft"): some_asking,
    (screens.ask_uses, "draft"): some_asking,
    (screens.ask_end, "draft"): some_asking,
    (screens.show_card, "bot"): lambda _: ("kirim_bot",),
    (screens.show_request, "bot"): lambda _: ("kirim_bot",),
    (screens.show_request, "public_url"): lambda _: ("", "https://pay.example"),
    (paying.show_rejection, "why"): lambda outside: (
        outside.t("orders.limits.links"),
        outside.t("payment_requests.pay.no_price"),
        outside.t("payment_requests.pay.vanished", name=format_method(outside.method)),
    ),
    (paying.ask_amount, "choices"): lambda _: ({}, PRICES),
    (paying.show_reported, "said"): lambda outside: tuple(
        outside.t(f"payment_requests.{key}", most=5) for key in ("pay.reported", "report.own", "report.too_many")
    ),
    (paying.show_review, "review"): lambda _: ("0123456789ab",),
    (paying.show_review, "estimated"): lambda _: PRICES.values(),
    (paying.show_payment, "kind"): lambda _: LinkNotification,
}

MUST_SAY: Final[dict[object, Callable[..., tuple[str, ...]]]] = {
    (screens.show_review, "draft"): lambda draft, _: (mask_number(draft.number),),
}
