"""The reader's own decisions: what it tolerates, what it rejects, and what it never logs."""

from datetime import UTC, datetime, timedelta

import pytest

from bot.payments import bech32, bolt11
from tests.payments import bolt11_write
from tests.payments.payee_keys import public_key

_KEY = bytes(range(1, 33))
_PAYEE = public_key(_KEY).hex()
_ORDER = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141
_TIME = bech32.int_to_groups(1_700_000_000, 7)
_SECRET = bolt11_write.field("s", bech32.bytes_to_groups(b"\x11" * 32))
_HASH = bolt11_write.field("p", bech32.bytes_to_groups(b"\x22" * 32))
_TEXT = bolt11_write.field("d", bech32.bytes_to_groups(b"rent"))
_TEXT_HASH = bolt11_write.field("h", bech32.bytes_to_groups(b"\x33" * 32))
_NODE = bolt11_write.field("n", bech32.bytes_to_groups(bytes.fromhex(_PAYEE)))


def _signed(*fields: list[int], front: str = "lnbc10u") -> str:
    return bolt11_write.sign(front, [*_TIME, *(group for field in fields for group in field)], _KEY)


def _with(*fields: list[int]) -> bolt11.Invoice:
    return bolt11.decode(_signed(_SECRET, _HASH, _TEXT, *fields))


def _number(tag: str, value: int) -> list[int]:
    return bolt11_write.field(tag, bech32.int_to_groups(value))


def _high_s(text: str) -> str:
    """Replace a signature's S with its complement, which is possible without the key. Adapt the recovery id."""
    front, groups = bech32.decode(text)
    signature = bech32.groups_to_bytes(groups[-104:])
    flipped = (_ORDER - int.from_bytes(signature[32:64], "big")).to_bytes(32, "big")
    turned = signature[:32] + flipped + bytes([signature[64] ^ 1])
    return bech32.encode(front, [*groups[:-104], *bech32.bytes_to_groups(turned)])


@pytest.mark.parametrize("dress", ["{}", "lightning:{}", "LIGHTNING:{}", "Lightning:{}", "  {}\r\n", "\tlightning:{} "])
@pytest.mark.parametrize("case", [str.lower, str.upper])
def test_either_case_a_scheme_and_spaces_around_are_fine(dress: str, case: type[str]) -> None:
    text = _signed(_SECRET, _HASH, _TEXT)
    invoice = bolt11.decode(dress.format(case(text)))
    assert (invoice.text, invoice.amount_msat, invoice.payee) == (text, 1_000_000, _PAYEE)


def test_what_the_invoice_leaves_out_is_as_the_document_assumes() -> None:
    invoice = _with()
    assert (invoice.expiry, invoice.min_final_cltv) == (timedelta(hours=1), 18)
    assert invoice.expires_at == datetime.fromtimestamp(1_700_003_600, tz=UTC)
    assert (invoice.features, invoice.route_hints, invoice.fallbacks) == (frozenset(), (), ())


def test_a_stated_payee_who_did_not_sign_is_refused() -> None:
    other = public_key(b"\x09" * 32)
    with pytest.raises(bolt11.MalformedInvoice, match="payee"):
        _with(bolt11_write.field("n", bech32.bytes_to_groups(other)))


def test_a_stated_payee_that_is_no_key_is_refused() -> None:
    with pytest.raises(bolt11.MalformedInvoice, match="no key"):
        _with(bolt11_write.field("n", bech32.bytes_to_groups(b"\x05" * 33)))


def test_a_high_s_signature_recovers_the_payee_but_fails_a_stated_one() -> None:
    assert bolt11.decode(_high_s(_signed(_SECRET, _HASH, _TEXT))).payee == _PAYEE
    with pytest.raises(bolt11.MalformedInvoice, match="payee"):
        bolt11.decode(_high_s(_signed(_SECRET, _HASH, _TEXT, _NODE)))


@pytest.mark.parametrize("amount", ["1p", "0u", "010u", "21000001", "9" * 21, "999999999999999999999999m"])
def test_an_amount_that_cannot_be_is_refused(amount: str) -> None:
    with pytest.raises(bolt11.MalformedInvoice):
        bolt11.decode(_signed(_SECRET, _HASH, _TEXT, front=f"lnbc{amount}"))


@pytest.mark.parametrize(
    ("amount", "msat"), [("", None), ("1", 10**11), ("10n", 1_000), ("10p", 1), ("25u", 2_500_000)]
)
def test_an_amount_is_exact_in_millisatoshi(amount: str, msat: int | None) -> None:
    invoice = bolt11.decode(_signed(_SECRET, _HASH, _TEXT, front=f"lnbc{amount}"))
    assert invoice.amount_msat == msat


@pytest.mark.parametrize("front", ["lnltc10u", "lnbcx", "lnxyz"])
def test_an_invoice_in_another_currency_is_unsupported(front: str) -> None:
    with pytest.raises(bolt11.UnsupportedInvoice):
        bolt11.decode(_signed(_SECRET, _HASH, _TEXT, front=front))


@pytest.mark.parametrize("front", ["bc10u", "ln", "lnbc-1u", "lnbc1.5u", "lnbc10uu"])
def test_a_front_that_is_no_lightning_prefix_is_refused(front: str) -> None:
    with pytest.raises(bolt11.MalformedInvoice):
        bolt11.decode(_signed(_SECRET, _HASH, _TEXT, front=front))


@pytest.mark.parametrize("field", [_SECRET, _HASH, _TEXT, _TEXT_HASH, _number("x", 60), _number("c", 9)])
def test_what_wallets_could_read_in_two_ways_is_refused(field: list[int]) -> None:
    with pytest.raises(bolt11.MalformedInvoice):
        _with(field, field)


@pytest.mark.parametrize("fields", [(_SECRET, _HASH), (_HASH, _TEXT), (_SECRET, _TEXT), ()])
def test_a_missing_necessary_field_is_refused(fields: tuple[list[int], ...]) -> None:
    with pytest.raises(bolt11.MalformedInvoice):
        bolt11.decode(_signed(*fields))


@pytest.mark.parametrize("bit", [0, 2, 10, 98, 5_000])
def test_an_unknown_required_feature_is_unsupported(bit: int) -> None:
    with pytest.raises(bolt11.UnsupportedInvoice, match=str(bit)):
        _with(_number("9", 1 << bit))


def test_an_expiry_beyond_all_dates_is_unsupported() -> None:
    assert _with(_number("x", 0)).expiry == timedelta(0)
    for seconds in (3_155_760_001, 1 << 5_000):
        with pytest.raises(bolt11.UnsupportedInvoice, match="century"):
            _with(_number("x", seconds))


def test_secret_description_and_text_stay_out_of_repr_and_errors() -> None:
    invoice = _with()
    shown = repr(invoice)
    assert "rent" not in shown
    assert invoice.payment_secret not in shown
    assert invoice.text not in shown
    with pytest.raises(bolt11.MalformedInvoice) as caught:
        bolt11.decode(invoice.text[:-1] + ("q" if invoice.text[-1] != "q" else "p"))
    assert invoice.text[10:30] not in str(caught.value)
