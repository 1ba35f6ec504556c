"""What askers write is text, in their own words: no links, no direction marks, and no name that belongs to others."""

import pytest

from bot.core.errors import Rejection
from bot.payment_requests.model import MAX_NOTE_LENGTH
from bot.payment_requests.wording import check_name, read_note
from bot.settlement.model import PayoutMethod
from tests.settlement.builders import BCA, OVO

METHODS = (
    BCA,
    OVO,
    PayoutMethod("426", "BANK MEGA", "bank"),
    PayoutMethod("013", "BANK PERMATA", "bank"),
    PayoutMethod("x", "DANA", "ewallet"),
)


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
        ("", "empty"),
        ("\u200b", "empty"),
        ("x" * (MAX_NOTE_LENGTH + 1), "too_long"),
        ("a" + "\u0301" * 9, "symbols"),
    ],
)
def test_a_note_with_a_link_or_that_hides_something_is_refused(typed: str, why: str) -> None:
    with pytest.raises(Rejection, match=f"payment_requests.note.{why}"):
        read_note(typed)
