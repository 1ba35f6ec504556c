"""What askers write is text, in their own words: no links, no direction marks, and no name that belongs to others."""

import pytest

from bot.checkout.draft import RequestTerms
from bot.core.errors import Rejection
from bot.payment_requests.model import MAX_NOTE_LENGTH
from bot.payment_requests.service import _request_of
from bot.payment_requests.wording import check_name, read_note
from bot.settlement.model import PayoutMethod
from tests.checkout.builders import a_draft_at_review
from tests.payment_requests.ordinary_names import NAMES
from tests.settlement.builders import BCA, OVO
from tests.times import NOW

METHODS = (
    BCA,
    OVO,
    PayoutMethod("426", "BANK MEGA", "bank"),
    PayoutMethod("110", "BANK JABAR BANTEN (BJB)", "bank"),
    PayoutMethod("013", "BANK PERMATA", "bank"),
    PayoutMethod("x", "DANA", "ewallet"),
)


@pytest.mark.parametrize("name", NAMES)
def test_200_names_as_people_and_shops_have_them_are_taken(name: str) -> None:
    check_name(name, METHODS, "PT Contoh Jaya")


@pytest.mark.parametrize("name", ["Mega", "Mega Wati", "Permata", "Permata Sari", "Dana Kusuma", "Sari BCA", "Kirimia"])
def test_people_have_names_that_banks_have_too(name: str) -> None:
    check_name(name, METHODS, "PT Contoh Jaya")


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("Kirim", "ours"),
        ("KIRIM Support", "ours"),
        ("Kírim", "ours"),
        ("Contoh Jaya", "ours"),
        ("PT. Contoh Jaya", "ours"),
        ("BCA", "bank"),
        ("bank mega", "bank"),
        ("Bank Permata", "bank"),
        ("DANA", "bank"),
        ("OVO", "bank"),
        ("K.I.R.I.M", "ours"),
        ("K I R I M Support", "ours"),
        ("Ki-rim", "ours"),
        ("KIR1M", "ours"),
        ("Klrlm", "ours"),
        ("Kirirn 24", "ours"),
        ("Kirim24", "ours"),
        ("KirimSupport", "ours"),
        ("P.T. Contoh-Jaya", "ours"),
        ("B.C.A.", "bank"),
        ("B C A", "bank"),
        ("0V0", "bank"),
        ("PT BCA Tbk", "bank"),
        ("PT Bank Central Asia Tbk", "bank"),
        ("P.T. Bank Central Asia (Persero)", "bank"),
        ("BANK CENTRAL ASIA Layanan Nasabah", "bank"),
        ("B.A.N.K Central Asia", "bank"),
        ("Bank Centra1 Asia", "bank"),
        ("Bank Mega Support", "bank"),
        ("Bank Jabar Banten Tbk", "bank"),
        ("\u041a\u0438\u0440\u0438\u043c", "scripts"),
        ("\u0412\u0421\u0410", "scripts"),
        ("\u1d0b\u026a\u0280\u026a\u1d0d", "scripts"),
        ("\u041a\u0131rim", "scripts"),
        ("Kir\u0456m", "scripts"),
    ],
)
def test_a_name_of_ours_or_of_a_whole_bank_is_refused(name: str, why: str) -> None:
    with pytest.raises(Rejection, match=f"payment_requests.name.{why}"):
        check_name(name, METHODS, "PT Contoh Jaya")


@pytest.mark.parametrize(
    ("typed", "note"),
    [
        ("Makan siang", "Makan siang"),
        ("  Iuran\nRT 05 ", "Iuran RT 05"),
        ("Rp150.000 untuk 3 orang", "Rp150.000 untuk 3 orang"),
        ("\u202eabc\u202c", "abc"),
        ("a.n. Budi", "a. n. Budi"),
        ("lunas.terima kasih", "lunas. terima kasih"),
        ("see evil.zip", "see evil. zip"),
        ("<b>bold</b>", "<b>bold</b>"),
        ("x" * MAX_NOTE_LENGTH, "x" * MAX_NOTE_LENGTH),
        ("INV 2026112801", "INV 2026112801"),
        ("VA 8808081234567890", "VA 8808081234567890"),
        ("INV/20261128/MPL/1234567890", "INV/20261128/MPL/1234567890"),
        ("05-12-2026 Rp1.500.000", "05-12-2026 Rp1.500.000"),
        ("Ongkos kirim: 20rb", "Ongkos kirim: 20rb"),
        ("Biaya kirim dari Kirimia", "Biaya kirim dari Kirimia"),
        ("Titipan dari Sari, kirim besok", "Titipan dari Sari, kirim besok"),
    ],
)
def test_a_note_is_one_line_of_text(typed: str, note: str) -> None:
    assert read_note(typed) == note


@pytest.mark.parametrize(
    ("typed", "why"),
    [
        ("https://x.y", "link"),
        ("pay at evil.com now", "link"),
        ("EVIL.COM", "link"),
        ("t.me/evil", "link"),
        ("ask @durov", "link"),
        ("mail a@b.c", "link"),
        ("/start me", "link"),
        ("www.x", "link"),
        ("ev\u200bil.com", "link"),
        ("wa 0812 3456 7890", "link"),
        ("hub. +62 812-3456-7890", "link"),
        ("6281234567890", "link"),
        ("telp (021) 555 1234", "link"),
        ("+1 650 253 0000", "link"),
        ("\u0660\u0668\u0661\u0662\u0663\u0664\u0665\u0666\u0667\u0668\u0669", "link"),
        ("bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq", "link"),
        ("ke 1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa", "link"),
        ("0x52908400098527886E0F7030069857D2E4169EE7", "link"),
        ("LNBC1500N1PVJLUEZ", "link"),
        ("lnurl1dp68gurn8ghj7", "link"),
        ("Pesan dari Kirim: kirim ulang ke BCA 1234567890", "ours"),
        ("KIRIM: pembayaran gagal", "ours"),
        ("[K.I.R.I.M] refund", "ours"),
        ("Message from the Kirim team", "ours"),
        ("Pesan resmi dari tim Kirim", "ours"),
        ("Tim Kirim menunggu", "ours"),
        ("\u26a0\ufe0f \u041a\u0438\u0440\u0438\u043c: kirim ulang", "ours"),
        ("", "empty"),
        ("\u200b", "empty"),
        ("x" * (MAX_NOTE_LENGTH + 1), "too_long"),
        ("a" + "\u0301" * 9, "symbols"),
    ],
)
def test_a_note_with_a_link_or_that_hides_something_is_refused(typed: str, why: str) -> None:
    with pytest.raises(Rejection, match=f"payment_requests.note.{why}"):
        read_note(typed)


def test_a_name_with_a_dot_becomes_no_link_for_payers() -> None:
    names = {"evil.com": "evil. com", "t.me/evil": "t. me/evil", "PT.Maju": "PT. Maju", "Budi S. Kom": "Budi S. Kom"}
    for typed, shown in names.items():
        draft = a_draft_at_review(holder=typed, terms=RequestTerms(note_asked=True, is_reusable=True))
        request = _request_of(draft, NOW)
        assert request is not None
        assert request.holder == shown
