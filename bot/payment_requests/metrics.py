"""The metrics of payment requests."""

from typing import Final

from bot.infra.metrics import counter

CREATED: Final = counter("kirim_payment_requests_created", "Payment requests that users made.")
PAYMENTS: Final = counter(
    "kirim_payment_requests_payments",
    "Payments of links, by what their askers were notified of.",
    result=("paid", "sent", "failed"),
)
REPORTED: Final = counter("kirim_payment_requests_reported", "Reports of payers about payment requests.")
