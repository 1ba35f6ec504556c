"""An invoice is only shown if it is exactly the order's."""

from datetime import UTC, datetime, timedelta

import pytest

from bot.payments import bolt11
from tests.payments import bolt11_write

_MADE = datetime(2026, 3, 1, 12, tzinfo=UTC)
_SOON = _MADE + timedelta(minutes=1)


def _invoice(amount_msat: int | None = 29_412_000, currency: str = "bc", expiry_s: int = 600) -> bolt11.Invoice:
    text = bolt11_write.encode(
        private_key=b"\x07" * 32,
        amount_msat=amount_msat,
        currency=currency,
        timestamp=_MADE,
        description="for Sari",
        payment_hash=b"\x01" * 32,
        payment_secret=b"\x02" * 32,
        expiry=timedelta(seconds=expiry_s),
    )
    return bolt11.decode(text)


def test_the_right_invoice_passes() -> None:
    bolt11.check(_invoice(), sats=29_412, network="bc", now=_SOON)


@pytest.mark.parametrize("msat", [29_411_999, 29_412_001, 29_413_000, 29_412, 294_120_000, None])
def test_any_other_amount_is_refused(msat: int | None) -> None:
    with pytest.raises(bolt11.WrongAmount) as caught:
        bolt11.check(_invoice(msat), sats=29_412, network="bc", now=_SOON)
    assert caught.value.fields == {"expected_msat": 29_412_000, "actual_msat": msat}


@pytest.mark.parametrize(("currency", "network"), [("tb", "bc"), ("bcrt", "bc"), ("bc", "bcrt"), ("tbs", "tb")])
def test_another_network_is_refused(currency: str, network: str) -> None:
    with pytest.raises(bolt11.WrongNetwork) as caught:
        bolt11.check(_invoice(currency=currency), sats=29_412, network=network, now=_SOON)
    assert caught.value.fields == {"expected_network": network, "actual_network": currency}


def test_it_expires_at_the_second_it_says_and_not_before() -> None:
    end = _MADE + timedelta(seconds=600)
    bolt11.check(_invoice(), sats=29_412, network="bc", now=end - timedelta(microseconds=1))
    with pytest.raises(bolt11.AlreadyExpired) as caught:
        bolt11.check(_invoice(), sats=29_412, network="bc", now=end)
    assert caught.value.fields == {"expired_at": end.isoformat(), "now": end.isoformat()}
