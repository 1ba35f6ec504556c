"""The metrics of payment requests."""

from typing import Final

from bot.infra.metrics import counter

CREATED: Final = counter("kirim_payment_requests_created", "Payment requests that users made.")
REPORTED: Final = counter("kirim_payment_requests_reported", "Reports of payers about payment requests.")
