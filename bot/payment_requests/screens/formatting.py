"""The parts of a payment request as screens show them. What askers wrote is shown as text, between quotation marks."""

from bot.infra.i18n import Html, Translator
from bot.payment_requests.model import PaymentRequest, RequestState
from bot.recipients.formatting import format_destination


def format_sum(t: Translator, idr: int | None) -> str:
    """Return the sum, or that the payer decides."""
    return t.plain("payment_requests.sum.open") if idr is None else t.rupiah(idr)


def format_line(t: Translator, request: PaymentRequest) -> Html:
    """Return a request as a line, with a masked number: "Rp150,000 → BCA ••••7890"."""
    return t(
        "payment_requests.line",
        sum=format_sum(t, request.idr),
        destination=format_destination(request.method, request.number),
    )


def format_note(t: Translator, note: str | None) -> Html:
    """Return the note as a line of its own, between quotation marks, or nothing."""
    return Html(f"\n{t('payment_requests.note.quoted', note=note)}") if note else Html("")


def format_uses(t: Translator, *, is_reusable: bool) -> str:
    """Return how often a request can be paid."""
    return t.plain("payment_requests.uses.many" if is_reusable else "payment_requests.uses.once")


def format_state(t: Translator, state: RequestState) -> str:
    """Return the state of a request with its sign."""
    return t.plain(f"payment_requests.state.{state}")
