"""A phrase is easy to read and hard to guess. Text that can't be on an invoice is rejected with the reason."""

import pytest

from bot.core.errors import Rejection
from bot.core.locales import LOCALES
from bot.users import phrase
from bot.users.phrase import EXAMPLE, clean_phrase


def refusal(text: str) -> str:
    with pytest.raises(Rejection) as caught:
        clean_phrase(text)
    return caught.value.key


@pytest.mark.parametrize("language", LOCALES)
def test_an_impostor_would_have_to_guess_among_millions(language: str) -> None:
    words = phrase._vocabularies()[language]
    things, kinds = words.things, words.kinds
    assert len(set(things)) == len(things)
    assert not set(things) & set(kinds)
    assert len(things) * (len(things) - 1) * len(set(kinds)) > 7_600_000


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ("  Nasi goreng   jam 7 ", "Nasi goreng jam 7"),
        ("Don't panic!", "Don't panic!"),
        ("Tiga kucing & 2 anjing", "Tiga kucing & 2 anjing"),
        ("дядя ваня пьёт чай", "дядя ваня пьёт чай"),
        ("青い山と海", "青い山と海"),
        ("สวัสดีเพื่อน", "สวัสดีเพื่อน"),
        ("kopi\u200b pahit\u202e", "kopi pahit"),
        ("\uff2bopi\u3000sore", "Kopi sore"),
        ("kopi tubruk ungu tua", "kopi tubruk ungu tua"),
        ("legal winner thank year wave", "legal winner thank year wave"),
        ("legal winner kopi thank year wave yellow", "legal winner kopi thank year wave yellow"),
    ],
)
def test_words_of_ones_own_are_kept_as_they_read(typed: str, kept: str) -> None:
    assert clean_phrase(typed) == kept


@pytest.mark.parametrize(
    ("typed", "why"),
    [
        ("", "users.phrase.too_short"),
        (" \u200b ", "users.phrase.too_short"),
        ("ya", "users.phrase.too_short"),
        ("x" * 41, "users.phrase.too_long"),
        ("🙈" * 4096, "users.phrase.too_long"),
        ("kopi\nsusu manis", "users.phrase.one_line"),
        ("kopi\u2028susu manis", "users.phrase.one_line"),
        ("tanya @kirim_help", "users.phrase.link"),
        ("see kirim.example", "users.phrase.link"),
        ("https://x", "users.phrase.link"),
        ("WWW kirim", "users.phrase.link"),
        ("kopi <b>ungu</b>", "users.phrase.symbols"),
        ("kopi 🙈 ungu", "users.phrase.symbols"),
        ("/start lagi ya", "users.phrase.symbols"),
        ("#kopi sore ini", "users.phrase.symbols"),
        ("kopi _ungu_", "users.phrase.symbols"),
        ("123456", "users.phrase.letters"),
        ("12 ab 34", "users.phrase.letters"),
        ("aaaaaaa", "users.phrase.obvious"),
        ("Kirim Rupiah!", "users.phrase.obvious"),
        ("frasa saya", "users.phrase.obvious"),
        ("abandon ability able about above absent", "users.phrase.seed_words"),
        ("my six: Zebra, zero zone zoo actor act!", "users.phrase.seed_words"),
        ("aban abil able abou abov abse", "users.phrase.seed_words"),
        ("1. legal 2. winner 3. thank 4. year 5. wave 6. sausage 7. worth", "users.phrase.seed_words"),
        ("legal\nwinner\nthank\nyear\nwave\nsausage", "users.phrase.seed_words"),
        (EXAMPLE, "users.phrase.obvious"),
        ("Kopi, tubruk UNGU", "users.phrase.obvious"),
    ],
)
def test_what_cant_stand_on_an_invoice_is_refused_with_the_reason(typed: str, why: str) -> None:
    assert refusal(typed) == why


def test_a_refusal_never_quotes_what_was_typed() -> None:
    with pytest.raises(Rejection) as caught:
        clean_phrase("my secret @name")
    assert "secret" not in str(caught.value)
    assert not caught.value.arguments
