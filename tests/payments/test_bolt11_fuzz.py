"""For any text, the reader returns an invoice or raises an InvoiceError, and nothing else."""

import contextlib
import json
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from bot.payments import bech32, bolt11
from tests.examples import examples
from tests.payments import bolt11_write

_VECTORS = json.loads((Path(__file__).parent / "data" / "bolt11-vectors.json").read_text("utf-8"))["vectors"]
_INVOICES = [vector["invoice"] for vector in _VECTORS]
_VALID = [vector["invoice"] for vector in _VECTORS if vector["valid"]]
_KEY = b"\x05" * 32

_groups = st.lists(st.integers(0, 31), max_size=400)
_fronts = st.from_regex(r"ln(bc|tb|tbs|bcrt|x)[0-9]{0,30}[munpx]?", fullmatch=True) | st.text(
    "lnbct019munp", min_size=1
)
_fields = st.lists(
    st.builds(bolt11_write.field, st.sampled_from(bech32.CHARSET), st.lists(st.integers(0, 31), max_size=120)),
    max_size=6,
).map(lambda fields: [group for field in fields for group in field])
_necessary = [
    *bolt11_write.field("s", bech32.bytes_to_groups(b"\x11" * 32)),
    *bolt11_write.field("p", bech32.bytes_to_groups(b"\x22" * 32)),
]


def _read(text: str) -> bolt11.Invoice | None:
    with contextlib.suppress(bolt11.InvoiceError):
        invoice = bolt11.decode(text)
        # An accepted invoice must be usable as well.
        assert invoice.expires_at >= invoice.timestamp
        assert repr(invoice)
        return invoice
    return None


@given(st.text() | st.text(bech32.CHARSET + "1:LNBC"))
def test_any_text_at_all(text: str) -> None:
    _read(text)
    _read("lightning:lnbc1" + text)


@settings(max_examples=examples(100))
@given(st.sampled_from(_INVOICES), st.integers(0, 800), st.integers(0, 3), st.text(max_size=3))
def test_an_invoice_with_something_cut_out_or_put_in(text: str, at: int, cut: int, put: str) -> None:
    changed = text[:at] + put + text[at + cut :]
    invoice = _read(changed)
    if len(put) == cut and at + cut <= len(text) and changed.lower() != text.lower():
        # The checksum detects up to three changed characters in a thousand.
        assert invoice is None


@settings(max_examples=examples(100))
@given(_fronts, st.booleans(), _fields, _groups)
def test_any_fields_under_a_signature_that_holds(front: str, whole: bool, fields: list[int], rest: list[int]) -> None:  # noqa: FBT001  drawn by hypothesis
    groups = [*bech32.int_to_groups(1_700_000_000, 7), *(_necessary if whole else rest), *fields]
    _read(bolt11_write.sign(front, groups, _KEY))


@given(st.sampled_from(_VALID), st.data())
def test_a_changed_group_under_a_mended_checksum_never_keeps_the_payee(text: str, data: st.DataObject) -> None:
    front, groups = bech32.decode(text)
    place = data.draw(st.integers(0, len(groups) - 105))
    groups[place] ^= data.draw(st.integers(1, 31))
    changed = _read(bech32.encode(front, groups))
    assert changed is None or changed.payee != bolt11.decode(text).payee
